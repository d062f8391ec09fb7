package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A cc is the running process of validation/bench/c; the head of serve.c says what it
// understands. Its numbers are F.
type cc[F num.Float] struct {
	*peer[F]
	variants         []ccVariant
	peaks            []string
	blas             string   // the configuration of OpenBLAS, "" for none
	lacks            []string // lines about what is left out
	series, matrices int      // how many have been sent
	chunks           int
}

// A ccVariant is one way to write one pass in C.
type ccVariant struct {
	number   int
	pass     string
	multiple int // of which the width must be a multiple
	name     string
}

// String is the variant in tables.
func (v ccVariant) String() string { return "C " + v.name }

// startCC compiles validation/bench/c under the project's root into dir and starts it.
func startCC[F num.Float](root, dir string) (*cc[F], error) {
	exe, err := buildCC(root, dir, binary.Size(F(0)) == 8)
	if err != nil {
		return nil, err
	}
	p, err := startPeer[F]("validation/bench/c", exec.Command(exe))
	if err != nil {
		return nil, err
	}
	c := &cc[F]{peer: p}
	if err := c.have(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// have queries what there is.
func (c *cc[F]) have() error {
	if _, err := fmt.Fprintln(c.in, "have"); err != nil {
		return fmt.Errorf("validation/bench/c: %w", err)
	}
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("validation/bench/c: %w", err)
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case ".":
			return nil
		case "variant":
			v := ccVariant{number: len(c.variants)}
			if _, err := fmt.Sscanf(rest, "%s %d", &v.pass, &v.multiple); err != nil {
				return fmt.Errorf("validation/bench/c answers %q: %w", line, err)
			}
			v.name = strings.SplitN(rest, " ", 3)[2]
			c.variants = append(c.variants, v)
		case "peak":
			c.peaks = append(c.peaks, rest)
		case "blas":
			c.blas = rest
		case "lacks":
			c.lacks = append(c.lacks, rest)
		default:
			return fmt.Errorf("validation/bench/c answers %q", line)
		}
	}
}

// fit are the variants of a pass for a width.
func (c *cc[F]) fit(pass string, d int) (out []ccVariant) {
	for _, v := range c.variants {
		if v.pass == pass && d%v.multiple == 0 {
			out = append(out, v)
		}
	}
	return out
}

// load sends a series of the delta rule and returns its number.
func (c *cc[F]) load(s *series[F]) (int, error) {
	var data [][]F
	for _, name := range []string{"k", "q", "v", "rho", "theta", "M", "y.bar", "M.bar"} {
		data = append(data, s.of[name])
	}
	c.series++
	return c.series - 1, c.send(fmt.Sprintf("series %d %d", s.T, s.D), data...)
}

// loadMatrices sends the matrices of a projection and returns their number.
func (c *cc[F]) loadMatrices(T, d int, x, w, dy []F) (int, error) {
	c.matrices++
	return c.matrices - 1, c.send(fmt.Sprintf("matrices %d %d", T, d), x, w, dy)
}

// A spent is how long something took in C, in nanoseconds.
type spent struct{ cpu, wall int64 }

// run runs one slice on the given number of threads, and warm times before it is measured.
func (c *cc[F]) run(series int, v ccVariant, start, tokens, threads, warm int) (t spent, err error) {
	err = c.ask([]any{&t.cpu, &t.wall}, "run %d %d %d %d %d %d", series, v.number, start, tokens, threads, warm)
	return t, err
}

// peak runs n rounds of a loop at the core's peak.
func (c *cc[F]) peak(which, n int) (flop float64, t spent, err error) {
	err = c.ask([]any{&flop, &t.cpu, &t.wall}, "peak %d %d", which, n)
	return flop, t, err
}

// product multiplies matrices with OpenBLAS, warm times before it is measured.
func (c *cc[F]) product(matrices, form, warm int) (t spent, err error) {
	err = c.ask([]any{&t.cpu, &t.wall}, "product %d %d %d", matrices, form, warm)
	return t, err
}

// loadChunks sends the inputs of n chunks and returns their number.
func (c *cc[F]) loadChunks(n, C, d int, data [][]F) (int, error) {
	c.chunks++
	return c.chunks - 1, c.send(fmt.Sprintf("chunks %d %d %d", n, C, d), data...)
}

// chunk runs a pass over chunks, 0 the forward and 1 the backward, warm times
// before it is measured.
func (c *cc[F]) chunk(chunks, pass, warm int) (t spent, err error) {
	err = c.ask([]any{&t.cpu, &t.wall}, "chunk %d %d %d", chunks, pass, warm)
	return t, err
}

// all runs every slice of a series once, in the order of the pass.
func (c *cc[F]) all(series int, v ccVariant, T, tokens, threads int) error {
	for i := range (T + tokens - 1) / tokens {
		start := i * tokens
		if v.pass == backward {
			start = (T-1)/tokens*tokens - start
		}
		if _, err := c.run(series, v, start, min(tokens, T-start), threads, 0); err != nil {
			return err
		}
	}
	return nil
}

// errNoCC says that there is no C compiler, so that there is nothing to compare
// with.
var errNoCC = errors.New("gcc is not in PATH: the C of validation/bench/c cannot be compiled, so nothing is compared with it")

// A ccObject is a file of validation/bench/c with its own flags. Flags that are not passed
// on at the link stay with the object: -ffast-math there would flush denormal
// numbers in the whole process.
type ccObject struct {
	table, file string // of variants; "" for none
	flags       []string
	single      bool // float32 only, and only on amd64
}

const (
	plainFlags  = "-O2"
	nativeFlags = "-O3 -march=native"
	fastFlags   = nativeFlags + " -ffast-math"
)

var ccObjects = []ccObject{
	{table: "o2", file: "build.c", flags: append(strings.Fields(plainFlags), "-DFOUR_SUMS", spelled(plainFlags))},
	{table: "o3", file: "build.c", flags: append(strings.Fields(nativeFlags), spelled(nativeFlags))},
	{table: "fast", file: "build.c", flags: append(strings.Fields(fastFlags), spelled(fastFlags))},
	{table: "wide", file: "wide.c", flags: []string{"-O3", "-march=native", "-mavx512f"}, single: true},
	{table: "narrow", file: "narrow.c", flags: []string{"-O3", "-mavx2", "-mfma"}, single: true},
	{file: "serve.c", flags: []string{"-O2"}},
	{file: "work.c", flags: []string{"-O2"}},
	{file: "product.c", flags: []string{"-O2"}},
	{file: "peak.c", flags: []string{"-O2"}},
	{file: "blas.c", flags: []string{"-O2"}},
	{file: "pair.c", flags: []string{"-O2"}},
	{file: "chunk.c", flags: strings.Fields(fastFlags)},
	{file: "chunks.c", flags: []string{"-O2"}},
	{file: "rules.c", flags: []string{"-O2"}},
	{file: "matrices.c", flags: strings.Fields(fastFlags)},
	{file: "layers.c", flags: strings.Fields(fastFlags)},
	{file: "slots.c", flags: strings.Fields(fastFlags)},
	{file: "omega.c", flags: strings.Fields(fastFlags)},
}

// spelled puts the flags into the names of the variants.
func spelled(flags string) string { return fmt.Sprintf("-DFLAGS=%q", flags) }

// buildCC compiles validation/bench/c under the project's root into dir and returns the
// program. double makes its numbers float64.
func buildCC(root, dir string, double bool) (string, error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return "", errNoCC
	}
	var objects []ccObject
	var tables strings.Builder
	for _, o := range ccObjects {
		if o.single && (double || runtime.GOARCH != "amd64") {
			continue
		}
		if o.table != "" {
			fmt.Fprintf(&tables, "X(%s) ", o.table)
		}
		objects = append(objects, o)
	}
	command := func(args ...string) error {
		if text, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("compile validation/bench/c: gcc %s: %w\n%s", strings.Join(args, " "), err, text)
		}
		return nil
	}
	link := []string{"-o", filepath.Join(dir, "serve")}
	fails := make([]error, len(objects))
	var wait sync.WaitGroup
	for i, o := range objects {
		out := filepath.Join(dir, o.table+strings.TrimSuffix(o.file, ".c")+".o")
		args := append([]string{"-DBUILDS=" + tables.String(), "-c", "-o", out}, o.flags...)
		if o.table != "" {
			args = append(args, "-DTABLE="+o.table)
		}
		if double {
			args = append(args, "-DREAL=double")
		}
		link = append(link, out)
		wait.Go(func() { fails[i] = command(append(args, filepath.Join(root, "validation", "bench", "c", o.file))...) })
	}
	wait.Wait()
	if err := errors.Join(fails...); err != nil {
		return "", err
	}
	if err := command(append(link, "-ldl", "-lpthread", "-lm")...); err != nil {
		return "", err
	}
	return link[1], nil
}
