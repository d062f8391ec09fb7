package irbuild_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/lower"
)

// rule resolves a rule of a page of testdata/window, with the project's pages
// around it.
func rule(t *testing.T, page, name string) *check.Block {
	t.Helper()
	s, ds := gen.Load("../../specs", "../testdata/window/"+page)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	blk, ds := check.Instantiate(s.Tree, s.Tree.Units[name])
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return blk
}

// TestTailsOfSeveralWindows holds the names of window states: they are in
// checkpoints, and a rule and its read have the same memory.
func TestTailsOfSeveralWindows(t *testing.T) {
	var ds diag.List
	blk := rule(t, "windows.md", "WindowTaps")
	tails := func(f *ir.Func) string {
		var out []string
		for _, p := range f.Params {
			if p.IsWindow() {
				out = append(out, p.Name+" "+p.Axes[1].Size.String())
			}
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	want := "k.u.tail u - 1, k.w.tail w - 1, k0.tail 1, q0.tail 1, theta.tail w - 1, v.u.tail u - 1, v.w.tail w - 1"
	if got := tails(irbuild.Rule(blk, &ds)); got != want {
		t.Errorf("the rule keeps %s, want %s", got, want)
	}
	if got := tails(irbuild.Frozen(blk, &ds)); got != want {
		t.Errorf("the read keeps %s, want %s", got, want)
	}
	if ds.Len() > 0 {
		t.Error(ds.Error())
	}
}

// TestCallsTakeEval holds an operation in an equation to what its page computes
// instead of the formula.
func TestCallsTakeEval(t *testing.T) {
	var ds diag.List
	f := irbuild.Rule(rule(t, "rounds.md", "RoundState"), &ds)
	if ds.Len() > 0 || !strings.Contains(f.String(), "= override ") {
		t.Errorf("the call of Rotated has no override:\n%s\n%s", f, ds.Error())
	}
}

// TestWindowsAreReadThrough: a forward makes no copy of the moments of a window.
func TestWindowsAreReadThrough(t *testing.T) {
	var ds diag.List
	fwd, _, err := lower.Pair(autodiff.NewPair(irbuild.Rule(rule(t, "atlas_omega.md", "AtlasPlain"), &ds)))
	if err != nil || ds.Len() > 0 {
		t.Fatal(err, ds.Error())
	}
	for _, m := range fwd.Memory.Workspace.Monomials() {
		if slices.Contains(m.Syms, "T") && slices.Contains(m.Syms, "w") {
			t.Errorf("the workspace is %s", fwd.Memory.Workspace)
		}
	}
}

// TestWindowReductions compares every reduction over a window that depends on a state with
// loops over numbers, with what is absent not even a number.
func TestWindowReductions(t *testing.T) {
	var ds diag.List
	f := irbuild.Rule(rule(t, "windows.md", "WindowAll"), &ds)
	if ds.Len() > 0 {
		t.Fatal(ds.Error())
	}
	const tol = 1e-12
	rng := rand.New(rand.NewPCG(5, 6))
	for _, z := range []map[string]int{{"T": 1, "d": 3, "w": 4, "u": 2}, {"T": 5, "d": 2, "w": 7, "u": 5}, {"T": 7, "d": 1, "w": 2, "u": 1}, {"T": 11, "d": 5, "w": 3, "u": 11}} {
		z["L"] = 2
		params := map[string]*interp.Tensor{}
		for _, p := range f.Params {
			v := interp.NewTensor(interp.Shape(p.Axes, z)...)
			for i := range v.Data {
				switch {
				case p.IsWindow():
					v.Data[i] = math.NaN()
				case p.Elem == ir.Real:
					v.Data[i] = rng.NormFloat64()
				}
			}
			params[p.Name] = v
		}
		y := interp.Run(f, z, params)["y"].Data
		for l := range z["L"] {
			n := z["T"] * z["d"]
			want := reductions(params["x"].Data[l*n:(l+1)*n], params["z"].Data[l*z["d"]:(l+1)*z["d"]], z)
			for i, x := range want {
				if err := math.Abs(y[l*n+i] - x); !(err <= tol) {
					t.Fatalf("%v: y[%d] of slot %d is %v, the loops give %v", z, i, l, y[l*n+i], x)
				}
			}
		}
	}
}

// reductions is WindowAll of one slot, from its definition.
func reductions(x, start []float64, z map[string]int) []float64 {
	d := z["d"]
	at := func(s int) []float64 { return x[s*d : (s+1)*d] }
	state := slices.Clone(start)
	var out []float64
	for t := range z["T"] {
		dots := func(w int) (dot []float64) {
			for s := max(0, t-w+1); s <= t; s++ {
				sum := 0.0
				for i, v := range at(s) {
					sum += v * state[i]
				}
				dot = append(dot, sum)
			}
			return dot
		}
		mean := func(w, i int) float64 {
			sum, from := 0.0, max(0, t-w+1)
			for s := from; s <= t; s++ {
				sum += at(s)[i]
			}
			return sum / float64(t-from+1)
		}
		logsum := func(dot []float64) float64 {
			sum := 0.0
			for _, v := range dot {
				sum += math.Exp(v)
			}
			return math.Log(sum)
		}
		wide, near := dots(z["w"]), dots(z["u"])
		b := logsum(near) + slices.Max(wide) - slices.Min(near)
		next := make([]float64, d)
		for i := range next {
			sum := 0.5*state[i] + b*mean(z["u"], i) + mean(z["w"], i)
			for k, v := range wide {
				sum += math.Exp(v-logsum(wide)) * at(t - len(wide) + 1 + k)[i]
			}
			next[i] = math.Tanh(sum)
		}
		state = next
		for i, v := range at(t) {
			out = append(out, state[i]+v)
		}
	}
	return out
}
