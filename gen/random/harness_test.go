package random_test

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A harness is a program that holds the emitted kernels of pages and answers
// requests to run them.
type harness struct {
	names  map[*plan.Kernel]*gokernel.Names
	levels []string // of the fused arithmetic, that this machine has
	enc    *gob.Encoder
	dec    *gob.Decoder
	close  func()
}

// A request runs a kernel: sizes, what it reads and the lengths of what it
// writes by the names of fields. Fields that are in none are nil.
type request struct {
	Kernel string
	Single bool // float32
	Level  string
	Cores  int
	Sizes  map[string]int
	Reals  map[string][]float64
	Ints   map[string][]int32
	Bools  map[string][]bool
	Made   map[string]int
	Work   []string
}

type response struct {
	Reals map[string][]float64
	Bools map[string][]bool
	Err   string
}

//go:embed driver.go.txt
var driver []byte

// perPackage is how many pages share a package: a compiler takes its time to
// begin.
const perPackage = 16

// newHarness prints, compiles and starts the kernels of pages. Pages of which
// something does not compile are broken, and left out.
func newHarness(t testing.TB, all []*subject) *harness {
	t.Helper()
	h := &harness{names: map[*plan.Kernel]*gokernel.Names{}}
	dir := t.TempDir()
	if keep := os.Getenv("KEEP_KERNELS"); keep != "" {
		dir = keep
	}
	for {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		t0 := time.Now()
		write(t, dir, h.print(all))
		t1 := time.Now()
		says := build(t, dir)
		t.Logf("print %v, build %v", t1.Sub(t0), time.Since(t1))
		if says == "" {
			break
		}
		left := attribute(all, says)
		if len(left) == len(all) {
			t.Fatalf("go build: %s", says)
		}
		all = left
	}
	h.start(t, filepath.Join(dir, "kernels"))
	return h
}

func write(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// attribute finds the pages that a compiler's text is about; it returns the others.
func attribute(all []*subject, says string) (left []*subject) {
	for _, s := range all {
		var mine []string
		for l := range strings.Lines(says) {
			_, file, _ := strings.Cut(l, "/")
			if rest, ok := strings.CutPrefix(file, strings.ToLower(s.unit)); ok && rest != "" && (rest[0] < '0' || rest[0] > '9') {
				mine = append(mine, l)
			}
		}
		if len(mine) == 0 {
			left = append(left, s)
			continue
		}
		s.broken = "what is emitted does not compile:\n" + strings.Join(mine, "")
	}
	return left
}

// print makes the files of a module.
func (h *harness) print(all []*subject) map[string][]byte {
	files := map[string][]byte{"main.go": driver}
	h.names = map[*plan.Kernel]*gokernel.Names{}
	var imports, parts strings.Builder
	pkg := 0
	for part := range slices.Chunk(all, perPackage) {
		pkg++
		name := fmt.Sprintf("part%d", pkg)
		if h.printPart(files, name, part) {
			fmt.Fprintf(&imports, "\t%q\n", "pages/"+name)
			fmt.Fprintf(&parts, "\t%s.Kernels,\n", name)
		}
	}
	files["table/table.go"] = fmt.Appendf(nil, "package table\n\nimport (\n%s)\n\n// Parts make a call of each kernel, in float64 and in float32.\nvar Parts = []map[string]func() [2]any{\n%s}\n", imports.String(), parts.String())
	return files
}

// printPart prints the kernels of some pages into one package: portable, fused,
// assembly, and a table of them, which instantiates the generic code, so that packages
// are compiled side by side.
func (h *harness) printPart(files map[string][]byte, pkg string, part []*subject) (some bool) {
	var rows strings.Builder
	if !guarded(func() { h.assemble(files, pkg, part) }) {
		for _, s := range part { // one of them fails
			s.guard(func() { h.assemble(files, pkg, []*subject{s}) })
		}
	}
	for _, s := range part {
		if s.broken != "" {
			continue
		}
		own := map[string][]byte{}
		s.guard(func() {
			for _, p := range s.programs {
				h.printProgram(own, pkg+"/"+strings.ToLower(p.name), pkg, p)
			}
		})
		if s.broken != "" {
			for _, p := range s.programs {
				maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, pkg+"/"+strings.ToLower(p.name)) })
			}
			continue
		}
		maps.Copy(files, own)
		for _, p := range s.programs {
			for _, k := range p.kernels() {
				fmt.Fprintf(&rows, "\t%[1]q: func() [2]any { return [2]any{&%[1]s[float64]{}, &%[1]s[float32]{}} },\n", k.Name)
			}
		}
	}
	files[pkg+"/table.go"] = fmt.Appendf(nil, "package %s\n\nvar Kernels = map[string]func() [2]any{\n%s}\n", pkg, rows.String())
	return rows.Len() > 0
}

// assemble derives the fused arithmetic of kernels and prints its assembly.
func (h *harness) assemble(files map[string][]byte, pkg string, part []*subject) {
	var list []plan.KernelFile
	for _, s := range part {
		for _, p := range s.programs {
			for _, k := range p.kernels() {
				k.Fused = fuse.Kernel(k)
			}
			list = append(list, plan.KernelFile{Path: pkg + "/" + strings.ToLower(p.name), Kernels: p.kernels()})
		}
	}
	for name, text := range emitasm.Files(list, emitasm.Package{Folder: pkg, Name: pkg}) {
		if !strings.HasPrefix(name, "generated/") {
			files[name] = text
		}
	}
}

// guard notes a panic as the page's.
func (s *subject) guard(f func()) {
	defer func() {
		if r := recover(); r != nil {
			s.broken = fmt.Sprintf("%v\n%s", r, stack())
		}
	}()
	f()
}

func guarded(f func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	f()
	return
}

// printProgram prints the Go of a forward and a backward.
func (h *harness) printProgram(files map[string][]byte, at, pkg string, p *program) {
	plain, fused := jen.NewFile(pkg), jen.NewFile(pkg)
	for _, k := range p.kernels() {
		h.names[k] = gokernel.Print(plain, k, k.Name)
		gokernel.PrintFused(fused, k, h.names[k])
	}
	files[at+".go"], files[at+"_fused.go"] = render(plain), render(fused)
}

func render(f *jen.File) []byte {
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// build compiles a module in a folder, beside this one in a workspace; it returns
// what the compiler says is wrong.
func build(t testing.TB, dir string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module pages\n\ngo 1.26.0\n", "go.work": fmt.Sprintf("go 1.26.0\n\nuse .\n\nuse %s\n", root)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-trimpath", "-o", "kernels", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	if *arm64 {
		cmd.Env = append(cmd.Env, "GOOS=linux", "GOARCH=arm64")
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// start runs the program and reads which instruction sets it has.
func (h *harness) start(t testing.TB, path string) {
	t.Helper()
	cmd := exec.Command(path)
	if *arm64 {
		cmd = exec.Command("qemu-aarch64", path)
	}
	cmd.Env = append(os.Environ(), "HECATE_CPU=")
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
	h.close = func() {
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
	}
	h.enc, h.dec = gob.NewEncoder(in), gob.NewDecoder(out)
	for _, l := range []string{"fma", "neon", "avx2", "avx512"} {
		if h.run(t, &request{Level: l}).Err == "" {
			h.levels = append(h.levels, l)
		}
	}
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
