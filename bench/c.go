package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// errNoCC says that there is no C compiler, so that there is nothing to compare
// with.
var errNoCC = errors.New("gcc is not in PATH: the C of bench/c cannot be compiled, so nothing is compared with it")

// ccVariants are the variants of bench/c.
var ccVariants = []string{"textbook", "dot4"}

// A cc is the running process of bench/c/serve.c; the head of that file says
// what it understands. Its numbers are F.
type cc[F num.Float] struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	loaded int
}

// startCC compiles bench/c under the project's root into dir and starts it.
func startCC[F num.Float](root, dir string) (*cc[F], error) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return nil, errNoCC
	}
	exe := filepath.Join(dir, "serve")
	args := []string{"-O2", "-o", exe, filepath.Join(root, "bench", "c", "serve.c"), "-lm"}
	if binary.Size(F(0)) == 8 {
		args = append([]string{"-DREAL=double"}, args...)
	}
	if text, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile bench/c: %w\n%s", err, text)
	}
	c := &cc[F]{cmd: exec.Command(exe)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start bench/c: %w", err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start bench/c: %w", err)
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start bench/c: %w", err)
	}
	return c, nil
}

// close ends the process.
func (c *cc[F]) close() error {
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("bench/c: %w", err)
	}
	return nil
}

// load sends a series and returns its number.
func (c *cc[F]) load(s *series[F]) (int, error) {
	w := bufio.NewWriter(c.in)
	fmt.Fprintf(w, "series %d %d\n", s.T, s.D)
	for _, x := range [][]F{s.K, s.Q, s.V, s.Rho, s.Theta, s.M0, s.DY, s.DM} {
		if err := binary.Write(w, binary.NativeEndian, x); err != nil {
			return 0, fmt.Errorf("bench/c: %w", err)
		}
	}
	if err := w.Flush(); err != nil {
		return 0, fmt.Errorf("bench/c: %w", err)
	}
	c.loaded++
	return c.loaded - 1, nil
}

// run runs one slice and returns the nanoseconds that it took there.
func (c *cc[F]) run(series int, variant, pass string, start, tokens int) (ns int64, err error) {
	if _, err := fmt.Fprintf(c.in, "run %d %s %s %d %d\n", series, variant, pass, start, tokens); err != nil {
		return 0, fmt.Errorf("bench/c: %w", err)
	}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("bench/c: %w", err)
	}
	if _, err := fmt.Sscan(line, &ns); err != nil {
		return 0, fmt.Errorf("bench/c answers %q: %w", strings.TrimSpace(line), err)
	}
	return ns, nil
}

// get fetches a result of n numbers.
func (c *cc[F]) get(series int, variant, name string, n int) ([]F, error) {
	if _, err := fmt.Fprintf(c.in, "get %d %s %s\n", series, variant, name); err != nil {
		return nil, fmt.Errorf("bench/c: %w", err)
	}
	x := make([]F, n)
	if err := binary.Read(c.out, binary.NativeEndian, x); err != nil {
		return nil, fmt.Errorf("bench/c: %w", err)
	}
	return x, nil
}

// all runs every slice of a series once, in order.
func (c *cc[F]) all(series int, variant string, T, tokens int) error {
	for start := 0; start < T; start += tokens {
		if _, err := c.run(series, variant, "forward", start, min(tokens, T-start)); err != nil {
			return err
		}
	}
	for start := (T - 1) / tokens * tokens; start >= 0; start -= tokens {
		if _, err := c.run(series, variant, "backward", start, min(tokens, T-start)); err != nil {
			return err
		}
	}
	return nil
}

// A difference is how far a result of Go is from one of C.
type difference struct {
	variant, name string
	relative      float64
}

// differences compares all results of Go with those of every variant of C. Both
// must have run in order.
func differences[F num.Float](p *passes[F], c *cc[F], series int) ([]difference, error) {
	var out []difference
	for _, v := range ccVariants {
		for _, name := range results {
			want, err := c.get(series, v, name, len(p.out[name]))
			if err != nil {
				return nil, err
			}
			out = append(out, difference{v, name, distance(p.out[name], want)})
		}
	}
	return out, nil
}
