package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/plan/plantest"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/generated/compositions/swiglu"
	"github.com/nl-hecate/hecate/generated/ops"
	"github.com/nl-hecate/hecate/generated/rules/deltachunk"
	"github.com/nl-hecate/hecate/generated/rules/deltarule"
	"github.com/nl-hecate/hecate/generated/rules/memora"
	"github.com/nl-hecate/hecate/runtime/num"
)

// ulps is how far results may be apart, relative to the largest entry of their
// buffer, where a function of the C library is used: it is not the function of
// package num, and either may be wrong in its last bit. All else is equal to the bit.
const ulps = 64 * 0x1p-52

// cases are units whose C is compared with the generated Go in float64.
var cases = []struct {
	unit    string
	sizes   map[string]int
	library bool  // calls functions of the C library
	goes    []any // kernels of the Go package, a forward before its backward
}{
	{"DeltaRule", map[string]int{"C": 3, "L": 2, "T": 7, "d_k": 5, "d_v": 6}, false, // a recurrence with checkpoints, and its replay
		[]any{&deltarule.Step[float64]{}, &deltarule.StepBackward[float64]{}, &deltarule.Read[float64]{}, &deltarule.ReadBackward[float64]{}}},
	{"MEMORA", map[string]int{"C": 2, "L": 2, "T": 5, "d_h": 6, "d_k": 3, "d_v": 4}, true,
		[]any{&memora.Step[float64]{}, &memora.StepBackward[float64]{}}},
	{"DeltaChunk", map[string]int{"C": 2, "L": 2, "T": 41, "d_k": 5, "d_v": 6}, false, // products of matrices, triangular solves
		[]any{&deltachunk.Step[float64]{}, &deltachunk.StepBackward[float64]{}}},
	{"LayerNorm", map[string]int{"L": 2, "m": 3, "n": 7}, false, // sums; its root is correctly rounded
		[]any{&ops.LayerNormCall[float64]{}, &ops.LayerNormBackward[float64]{}}},
	{"CrossEntropy", map[string]int{"L": 2, "T": 5, "V": 4}, true, // maxima; ids, some of them outside of the table
		[]any{&ops.CrossEntropyCall[float64]{}, &ops.CrossEntropyBackward[float64]{}}},
	{"SwiGLU", map[string]int{"L": 2, "T": 3, "d": 5, "d_h": 4}, false, // operands of matrix products
		[]any{&swiglu.Out[float64]{}, &swiglu.OutBackward[float64]{}}},
	{"EmbedLookup", map[string]int{"L": 2, "T": 9, "V": 4, "d": 3}, false, // gather, and scatter in its backward
		[]any{&ops.EmbedLookupCall[float64]{}, &ops.EmbedLookupBackward[float64]{}}},
}

func TestNumbers(t *testing.T) {
	compiler := needC(t)
	src, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var all []*Function
	byUnit := map[string][]*Function{}
	for _, c := range cases {
		fs, err := Unit(src, c.unit)
		if err != nil {
			t.Fatal(err)
		}
		byUnit[c.unit] = fs
		all = append(all, fs...)
	}
	program := build(t, compiler, File(all)+mainText(all))
	for _, c := range cases {
		t.Run(c.unit, func(t *testing.T) {
			values := map[string]any{} // by the names of the page: a backward reads what its forward kept
			for _, g := range c.goes {
				name, _, _ := strings.Cut(reflect.TypeOf(g).Elem().Name(), "[")
				i := slices.IndexFunc(byUnit[c.unit], func(f *Function) bool { return f.Kernel.Name == name })
				if i < 0 {
					t.Fatalf("the page has no kernel %s", name)
				}
				compare(t, program, byUnit[c.unit][i], g, c.sizes, values, c.library)
			}
		})
	}
}

// compare runs a kernel in C and in Go with the same inputs.
func compare(t *testing.T, program string, f *Function, g any, sizes map[string]int, values map[string]any, library bool) {
	rng := rand.New(rand.NewPCG(1, uint64(len(values))))
	k := f.Kernel
	names, s := gokernel.NamesOf(k, k.Name), reflect.ValueOf(g)
	var in bytes.Buffer
	for _, z := range k.Sizes {
		put(&in, int32(sizes[z]))
		s.Elem().FieldByName(names.Sizes[z]).SetInt(int64(sizes[z]))
	}
	for _, b := range k.Params {
		n, err := b.Len().Eval(plan.WithCeils(k.Ceils, sizes))
		if err != nil {
			t.Fatal(err)
		}
		v, given := values[b.Of]
		if b.Role != plan.Read && !(b.Role == plan.Checkpoint && given) {
			v = make([]float64, n)
			if b.Elem == ir.Bool {
				v = make([]bool, n)
			}
		} else if !given {
			v = random(rng, b.Elem, n)
		}
		values[b.Of] = v
		put(&in, int64(n))
		put(&in, v)
		s.Elem().FieldByName(names.Buffers[b]).Set(reflect.ValueOf(v))
	}
	for _, w := range names.Work {
		if w == "Operands" { // without it operands are not rounded
			continue
		}
		field := s.Elem().FieldByName(w)
		n := int(s.MethodByName(w + "Len").Call(nil)[0].Int())
		field.Set(reflect.MakeSlice(field.Type(), n, n))
	}
	cmd := exec.Command(program, f.Name)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	s.MethodByName("Run").Call(nil)
	for _, b := range k.Params {
		if b.Role == plan.Read {
			continue
		}
		want, ok := values[b.Of].([]float64)
		if !ok {
			out = out[len(values[b.Of].([]bool)):]
			continue
		}
		got := floats(out, len(want))
		out = out[8*len(want):]
		scale := 0.0
		for _, x := range want {
			scale = max(scale, math.Abs(x))
		}
		for i := range want {
			same := math.Float64bits(got[i]) == math.Float64bits(want[i])
			if !same && !(library && math.Abs(got[i]-want[i]) <= ulps*scale) {
				t.Fatalf("%s: %s[%d] is %v in C and %v in Go", f.Name, b.Name, i, got[i], want[i])
			}
		}
		if scale == 0 && len(want) > 1 {
			t.Errorf("%s: %s is zero everywhere: nothing is compared", f.Name, b.Name)
		}
	}
	if len(out) > 0 {
		t.Errorf("%s: %d bytes more than its results have", f.Name, len(out))
	}
}

// random are deviates of a normal distribution, or ids from −1 to 4.
func random(rng *rand.Rand, e ir.Elem, n int) any {
	if e == ir.Int {
		out := make([]int32, n)
		for i := range out {
			out[i] = int32(rng.IntN(6) - 1)
		}
		return out
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

func put(b *bytes.Buffer, x any) {
	if err := binary.Write(b, binary.NativeEndian, x); err != nil {
		panic(err)
	}
}

func floats(b []byte, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Float64frombits(binary.NativeEndian.Uint64(b[8*i:]))
	}
	return out
}

// TestSearch finds roots with a kernel that is written here, for no unit of the
// library has a search, and with package num.
func TestSearch(t *testing.T) {
	compiler := needC(t)
	n, i := shape.Sym("n"), &plan.Var{Name: "i"}
	a := &plan.Buffer{Name: "a", Of: "a", Elem: ir.Real, Dims: []shape.Poly{n}, Role: plan.Read}
	out := &plan.Buffer{Name: "out", Of: "out", Elem: ir.Real, Dims: []shape.Poly{n}, Role: plan.Write}
	x, root := &plan.Local{Name: "x", Elem: ir.Real}, &plan.Local{Name: "root", Elem: ir.Real}
	at := func(b *plan.Buffer) plan.Access { return plan.Access{Buf: b, Index: []plan.Index{plan.At(i)}} }
	cube := plan.Prod{Coef: 1, Args: []plan.Expr{plan.Ref{To: x}, plan.Ref{To: x}, plan.Ref{To: x}}}
	search := &plan.FindRoot{To: root, X: x, Lo: plan.Num{V: -3}, Hi: plan.Num{V: 3}, Tol: 1e-12, Number: 1,
		Val: plan.Lin{Coef: []float64{1, -1}, Args: []plan.Expr{cube, plan.Load{Access: at(a)}}}}
	f := Print(&plan.Kernel{Name: "Cube", Params: []*plan.Buffer{a, out}, Sizes: []string{"n"}, Body: []plan.Node{&plan.Loop{Kind: plan.Plain, Var: i,
		Lo: []plan.Index{plan.Fixed(shape.Int(0))}, Hi: []plan.Index{plan.Fixed(n)},
		Body: []plan.Node{search, &plan.Store{To: at(out), Vals: []plan.Expr{plan.Ref{To: root}}}}}}}, "test")
	cubes := []float64{0, 1, 2, -20, 26.9, 1e-9, 28, math.NaN()} // 28 has its root outside of the bracket
	var in bytes.Buffer
	put(&in, int32(len(cubes)))
	for range 2 {
		put(&in, int64(len(cubes)))
		put(&in, cubes)
	}
	cmd := exec.Command(build(t, compiler, File([]*Function{f})+mainText([]*Function{f})), f.Name)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	text, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != search.Number {
		t.Fatalf("the kernel returned %d (%v), want the number of the search that failed, %d", code, err, search.Number)
	}
	for j, got := range floats(text, len(cubes)) {
		s := num.NewSearch(-3.0, 3.0, 1e-12)
		for s.More() {
			s.Take(float64(float64(s.At()*s.At())*s.At()) - cubes[j])
		}
		if want := s.Root(); math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
			t.Errorf("the cube root of %v is %v in C and %v in Go", cubes[j], got, want)
		}
	}
}

// TestEveryPrimitiveIsPrinted prints a call of each scalar function; one that has no
// text panics.
func TestEveryPrimitiveIsPrinted(t *testing.T) {
	e := Print(&plan.Kernel{Name: "none"}, "test")
	for _, op := range ir.Ops() {
		if op.Called() {
			x := &plan.Local{Name: "x", Elem: op.Info().Out}
			e.Kernel.Body = append(e.Kernel.Body, &plan.Let{To: x, Val: plantest.Call(op)})
		}
	}
	_ = Print(e.Kernel, "test")
}

// needC is the system's compiler of C. Without one a test is skipped, and fails
// where HECATE_REQUIRE contains "cc".
func needC(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Split(os.Getenv("HECATE_REQUIRE"), ","), "cc") {
		t.Fatal("HECATE_REQUIRE asks for cc, and neither cc nor gcc nor clang is in PATH")
	}
	t.Skip("no compiler of C: neither cc nor gcc nor clang is in PATH")
	return ""
}

// build compiles a program, in which every warning is an error but for variables
// that the text does not use.
func build(t *testing.T, compiler, text string) string {
	t.Helper()
	dir := t.TempDir()
	file, program := filepath.Join(dir, "kernels.c"), filepath.Join(dir, "kernels")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-std=c99", "-O1", "-Wall", "-Werror", "-pedantic", "-Wno-unused", "-Wno-unknown-pragmas", "-ffp-contract=off", "-o", program, file, "-lm"}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return program
}

// mainText is a program that runs the kernel that its argument names. It reads sizes
// and buffers, each after its length, and writes the buffers that are not read only.
func mainText(fs []*Function) string {
	var b strings.Builder
	b.WriteString(`
static void *get(int64_t *n, size_t entry) {
  if (fread(n, sizeof *n, 1, stdin) != 1) exit(98);
  void *p = hecate_new(*n, entry);
  if (fread(p, entry, (size_t)*n, stdin) != (size_t)*n) exit(98);
  return p;
}

static int size(void) {
  int n;
  if (fread(&n, sizeof n, 1, stdin) != 1) exit(98);
  return n;
}

int main(int argc, char **argv) {
  if (argc != 2) return 99;
`)
	for _, f := range fs {
		fmt.Fprintf(&b, "  if (strcmp(argv[1], %q) == 0) {\n", f.Name)
		var args []string
		for i := range f.Sizes {
			fmt.Fprintf(&b, "    int s%d = size();\n", i)
			args = append(args, fmt.Sprintf("s%d", i))
		}
		var writes strings.Builder
		for i, p := range f.Kernel.Params {
			typ := language.Types[p.Elem]
			fmt.Fprintf(&b, "    int64_t n%d;\n    %s *b%d = get(&n%d, sizeof *b%d);\n", i, typ, i, i, i)
			args = append(args, fmt.Sprintf("b%d", i))
			if p.Role != plan.Read {
				fmt.Fprintf(&writes, "    fwrite(b%d, sizeof *b%d, (size_t)n%d, stdout);\n", i, i, i)
			}
		}
		fmt.Fprintf(&b, "    int failed = %s(%s);\n%s    return failed;\n  }\n", f.Name, strings.Join(args, ", "), &writes)
	}
	return b.String() + "  return 99;\n}\n"
}
