package gokernel_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A harness is a program that holds emitted kernels and answers requests to
// run them, so that all kernels are compiled once.
type harness struct {
	kernels map[string]*plan.Kernel
	enc     *gob.Encoder
	dec     *gob.Decoder
}

// A request runs a kernel, by its type's name. Params holds the values of read
// buffers, Lens the lengths of those to be made; what is in neither is nil.
type request struct {
	Kernel string
	Single bool // float32
	Sizes  map[string]int
	Params map[string][]float64
	Lens   map[string]int
}

type response struct {
	Results map[string][]float64
}

const driverHead = `package main

import (
	"encoding/gob"
	"math"
	"os"

	"github.com/nl-hecate/hecate/runtime/num"
)

type request struct {
	Kernel string
	Single bool
	Sizes  map[string]int
	Params map[string][]float64
	Lens   map[string]int
}

type response struct {
	Results map[string][]float64
}

func main() {
	dec, enc := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	for {
		var r request
		if dec.Decode(&r) != nil {
			return
		}
		f := double[r.Kernel]
		if r.Single {
			f = single[r.Kernel]
		}
		enc.Encode(f(&r))
	}
}

func reals[F num.Float](r *request, name string) []F {
	if x, ok := r.Params[name]; ok {
		out := make([]F, len(x))
		for i, v := range x {
			out[i] = F(v)
		}
		return out
	}
	return stale[F](r.Lens[name])
}

// stale memory: whoever forgets to write it is found out.
func stale[F num.Float](n int) []F {
	out := make([]F, n)
	for i := range out {
		out[i] = F(math.NaN())
	}
	return out
}

func makeSlice[E any](x *[]E, n int) { *x = make([]E, n) }

func ints(r *request, name string) []int32 {
	out := make([]int32, len(r.Params[name]))
	for i, v := range r.Params[name] {
		out[i] = int32(v)
	}
	return out
}

func back[F num.Float](x []F) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

`

// newHarness emits and compiles kernels. The names are those of their types.
func newHarness(t testing.TB, kernels map[string]*plan.Kernel) *harness {
	t.Helper()
	files := map[string][]byte{}
	var driver strings.Builder
	driver.WriteString(driverHead)
	var table [2]strings.Builder
	for name, k := range kernels {
		f := jen.NewFile("main")
		names := gokernel.Print(f, k, name)
		var b bytes.Buffer
		if err := f.Render(&b); err != nil {
			t.Fatalf("render %s: %v", name, err)
		}
		files[strings.ToLower(name)+".go"] = b.Bytes()
		runner(&driver, k, names)
		fmt.Fprintf(&table[0], "%q: run%s[float64],\n", name, name)
		fmt.Fprintf(&table[1], "%q: run%s[float32],\n", name, name)
	}
	fmt.Fprintf(&driver, "var double = map[string]func(*request) response{\n%s}\n", table[0].String())
	fmt.Fprintf(&driver, "var single = map[string]func(*request) response{\n%s}\n", table[1].String())
	files["driver.go"] = []byte(driver.String())
	return start(t, kernels, files)
}

// runner prints the function that runs one kernel.
func runner(b *strings.Builder, k *plan.Kernel, names *gokernel.Names) {
	fmt.Fprintf(b, "func run%[1]s[F num.Float](r *request) response {\n\tc := &%[1]s[F]{}\n", names.Type)
	for _, s := range k.Sizes {
		fmt.Fprintf(b, "\tc.%s = r.Sizes[%q]\n", names.Sizes[s], s)
	}
	for _, p := range k.Params {
		read := "reals[F]"
		if p.Elem == ir.Int {
			read = "ints"
		}
		fmt.Fprintf(b, "\tc.%s = %s(r, %q)\n", names.Buffers[p], read, p.Name)
	}
	b.WriteString("\tc.Work = stale[F](c.WorkLen())\n")
	for _, w := range names.Work[1:] {
		fmt.Fprintf(b, "\tmakeSlice(&c.%[1]s, c.%[1]sLen())\n", w)
	}
	b.WriteString("\tc.Run()\n\tout := map[string][]float64{}\n")
	for _, p := range k.Params {
		if p.Role == plan.Write || p.Role == plan.Checkpoint && p.Optional {
			fmt.Fprintf(b, "\tout[%q] = back(c.%s)\n", p.Name, names.Buffers[p])
		}
	}
	b.WriteString("\treturn response{Results: out}\n}\n\n")
}

// start compiles the files as a module that shares a workspace with this one,
// and starts it.
func start(t testing.TB, kernels map[string]*plan.Kernel, files map[string][]byte) *harness {
	t.Helper()
	dir := t.TempDir()
	if keep := os.Getenv("KEEP_KERNELS"); keep != "" {
		dir = keep
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = []byte("module kernels\n\ngo 1.26.0\n")
	files["go.work"] = fmt.Appendf(nil, "go 1.26.0\n\nuse .\n\nuse %s\n", root)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("gofmt", "-w", filepath.Join(dir, "driver.go")).CombinedOutput(); err != nil {
		t.Fatalf("gofmt: %v %s", err, out)
	}
	for _, args := range [][]string{{"vet", "."}, {"build", "-o", "kernels", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	if out, err := exec.Command("gofmt", "-l", dir).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gofmt -l: %v %s", err, out)
	}
	return launch(t, kernels, filepath.Join(dir, "kernels"))
}

func launch(t testing.TB, kernels map[string]*plan.Kernel, path string) *harness {
	t.Helper()
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	})
	return &harness{kernels, gob.NewEncoder(in), gob.NewDecoder(out)}
}

// run sends a request and returns the answer.
func (h *harness) run(t testing.TB, r *request) response {
	t.Helper()
	if err := h.enc.Encode(r); err != nil {
		t.Fatalf("run %s: %v", r.Kernel, err)
	}
	var out response
	if err := h.dec.Decode(&out); err != nil {
		t.Fatalf("run %s: %v", r.Kernel, err)
	}
	return out
}

// length is the number of entries of a buffer.
func length(t testing.TB, k *plan.Kernel, b *plan.Buffer, sizes map[string]int) int {
	t.Helper()
	all := map[string]int{}
	for n, v := range sizes {
		all[n] = v
	}
	for _, q := range k.Ceils {
		num, err1 := q.Num.Eval(sizes)
		den, err2 := q.Den.Eval(sizes)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all[q.Name] = (num + den - 1) / den
	}
	n, err := b.Len().Eval(all)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
