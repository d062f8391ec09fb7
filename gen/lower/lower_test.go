package lower_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

var update = flag.Bool("update", false, "write the golden plans")

// read parses a program of testdata.
func read(t *testing.T, name string) *ir.Func {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".ir"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := ir.Parse(string(text))
	if err != nil {
		t.Fatalf("parse %s: %v", name, err)
	}
	return f
}

func golden(t *testing.T, name string, k *plan.Kernel) {
	t.Helper()
	path := filepath.Join("testdata", name+".plan")
	if *update {
		if err := os.WriteFile(path, []byte(k.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Errorf("wrote %s", path)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.String(); got != string(want) {
		t.Errorf("plan of %s:\n%s\nwant:\n%s", name, got, want)
	}
}

// The plans of a rule with rows, of one whose rows are not independent, of one that
// looks back through a window, which is read in the series itself, of
// root findings for all points at once and of a state, and of a product over a window,
// for which the series is packed.
func TestPlans(t *testing.T) {
	for _, name := range []string{"delta", "slots", "window", "roots", "scores"} {
		k, err := lower.Func(read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, k)
	}
}

// What the backward of the delta rule must not do: keep all states, or compute
// the errors again that the forward saved.
func TestPairOfDeltaRule(t *testing.T) {
	fwd, bwd, err := lower.Pair(autodiff.NewPair(read(t, "delta")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bwd.Memory.Checkpoints.String(), "L·d_k·d_v·segments"; got != want {
		t.Errorf("checkpoints = %s, want %s", got, want)
	}
	if got, want := fwd.Memory.Saved.String(), "L·T·d_v"; got != want {
		t.Errorf("saved = %s, want %s", got, want)
	}
	if b := bwd.Param("v"); b != nil {
		t.Errorf("the backward reads v, so it computes the errors again:\n%s", bwd)
	}
	for _, k := range []*plan.Kernel{fwd, bwd} {
		if !strings.Contains(k.String(), "row i in [0, d_v)") {
			t.Errorf("%s has no rows:\n%s", k.Name, k)
		}
	}
}

// A vector scaled first, θ k, has the forward of e θ k: nothing is stored for
// it. A backward still reads the states after the tokens from its replay.
func TestScaledVector(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "delta.ir"))
	if err != nil {
		t.Fatal(err)
	}
	outer := strings.NewReplacer("-1 theta", "theta", "+ %3", "- %3").Replace(string(text))
	scaled := strings.Replace(outer, "%3 [d_v, d_k] = prod i:d_v j:d_k : theta %2[i] k[j]",
		"%7 [d_k] = prod j:d_k : theta k[j] ; delta.write\n    %3 [d_v, d_k] = prod i:d_v j:d_k : %2[i] %7[j]", 1)
	parse := func(text string) *ir.Func {
		f, err := ir.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want, err1 := lower.Func(parse(outer))
	got, err2 := lower.Func(parse(scaled))
	_, bwd, err3 := lower.Pair(autodiff.NewPair(parse(scaled)))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("the forward of a scaled vector:\n%s\nwant:\n%s", got, want)
	}
	if after := "q.bar[l, a + C·s, j] += M.trail[a + 1, j]·y.bar.entry"; !strings.Contains(bwd.String(), after) {
		t.Errorf("the backward lacks %q:\n%s", after, bwd)
	}
}

func TestBackwardAlone(t *testing.T) {
	_, err := lower.Func(autodiff.NewPair(read(t, "delta")).Bwd)
	if err == nil || !strings.Contains(err.Error(), "needs its forward") {
		t.Errorf("Func(backward) = %v, want an error that names Pair", err)
	}
}

// Two sizes are two values, however alike their instructions look.
func TestSizesApart(t *testing.T) {
	f, err := ir.Parse(`func two(a: input real[m], b: input real[n]) {
  axes m, n
  %1 [] = size : m ; e
  %2 [] = size : n ; e
  %3 [m] = prod i:m : %1 a[i] ; e
  %4 [n] = prod j:n : %2 b[j] ; e
  return x = %3
  return y = %4
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := lower.Func(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"real(m)", "real(n)"} {
		if !strings.Contains(k.String(), want) {
			t.Errorf("no %s in\n%s", want, k)
		}
	}
}

// In a recurrence whose rows are not independent |S| and twice that are computed where
// they are read, in nest after nest, and nothing as large as the state is kept;
// what reads two matrices is, and what only such a value reads but is expensive.
func TestRematerialise(t *testing.T) {
	const text = `func light(x: input real[L, T, m, d], S: state real[L, m, d]) {
  axes L, T, m, d
  scan light.step over L, T as @1 {
    carry S [m, d] from S to S.next [L, m, d]
    token x [m, d] from x
    FIRST
    n [] = prod i:m j:d : %1[i, j] ; light.n
    %2 [m, d] = lin i:m j:d : %1[i, j] + LAST ; light.h
    h [] = prod i:m j:d : %2[i, j] n ; light.h
    %3 [m, d] = lin i:m j:d : S[i, j] - %2[i, j] ; light.S
    S.1 [m, d] = prod i:m j:d : %3[i, j] h ; light.S
    next S = S.1
  }
  return state S = S.next
}
`
	const plain, dear = "%1 [m, d] = abs i:m j:d : S[i, j] ; light.n", "%0 [m, d] = exp i:m j:d : S[i, j] ; light.n\n    %1 [m, d] = abs i:m j:d : %0[i, j] ; light.n"
	for _, c := range []struct {
		first, last string
		want        int
	}{{plain, "%1[i, j]", 0}, {plain, "x[i, j]", 1}, {dear, "%1[i, j]", 1}} {
		f, err := ir.Parse(strings.NewReplacer("FIRST", c.first, "LAST", c.last).Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		k, err := lower.Func(f)
		if err != nil {
			t.Fatal(err)
		}
		if kept := strings.Count(k.String(), "private real %"); kept != c.want {
			t.Errorf("%s, %s: %d matrices are kept, want %d:\n%s", c.first, c.last, kept, c.want, k)
		}
	}
}

// TestChunkPlans has the plans of a chunk of the delta rule.
func TestChunkPlans(t *testing.T) {
	fwd, bwd, err := lower.Pair(autodiff.NewPair(irtest.Chunk()))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "chunk", fwd)
	golden(t, "chunk_backward", bwd)
}

// TestChunksStayWhole wants of every step that takes several tokens at once that
// it is products, that its rows are not taken apart, that no state is computed
// again, and that states are overwritten where they lie.
func TestChunksStayWhole(t *testing.T) {
	for _, c := range []struct {
		f        *ir.Func
		fwd, bwd int // products
	}{{irtest.Chunk(), 6, 12}, {irtest.Momentum(), 9, 18}, {irtest.Linear(), 5, 10}} {
		fwd, bwd, err := lower.Pair(autodiff.NewPair(c.f))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []struct {
			*plan.Kernel
			products int
		}{{fwd, c.fwd}, {bwd, c.bwd}} {
			text := k.String()
			if n := strings.Count(text, "gemm "); n != k.products {
				t.Errorf("%s has %d products, want %d:\n%s", k.Name, n, k.products, text)
			}
			for _, bad := range []string{"row ", "segment ", ".trail"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s has %q:\n%s", k.Name, bad, text)
				}
			}
			for _, b := range k.Work {
				if n := len(b.Dims); b.Role == plan.Work && n > 3 {
					t.Errorf("%s keeps %s for all tokens", k.Name, b)
				}
			}
		}
	}
	// One token's rule keeps its rows.
	if k, err := lower.Func(read(t, "delta")); err != nil || !strings.Contains(k.String(), "row ") {
		t.Errorf("the delta rule of single tokens has no rows: %v", err)
	}
}

// TestStatesOfReplay: the backward of a rule reads the states after the tokens from its replay,
// in whatever order its step and the adjoint of it multiply, and computes no softmax again.
func TestStatesOfReplay(t *testing.T) {
	src, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	u, ds := gen.CompileUnit(src, src.Tree.Units["MEMORA"])
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	up, down := 0, 0
	exponentials := func(ns []plan.Node) (n int) {
		for x := range plan.All(ns) {
			plan.EachExpr(x, func(e plan.Expr) {
				if c, ok := e.(plan.Call); ok && c.Op == ir.Exp {
					n++
				}
			})
		}
		return n
	}
	for n := range plan.All(u.Stages[0].Bwd.Body) {
		if l, ok := n.(*plan.Loop); ok && l.Kind == plan.Time {
			if l.Down {
				down += exponentials(l.Body)
			} else {
				up += exponentials(l.Body)
			}
		}
	}
	if up != 2 || down != 0 {
		t.Errorf("%d exponentials in the replay and %d in the adjoint, want 2 and 0", up, down)
	}
}
