package irbuild_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// lifeFront is the front of the rules of these tests.
const lifeFront = `front Bare
dims d, d_k, d_v
input x ∈ ℝ^{d}
outer W_K, W_Q ∈ ℝ^{d_k×d} ~ normal(0, 1), W_V ∈ ℝ^{d_v×d} ~ normal(0, 1)
k_t = W_K x_t
q_t = W_Q x_t
v_t = W_V x_t

`

// lifeTree parses units on a page of their own.
func lifeTree(t *testing.T, text string) (*units.Tree, []*notation.Unit) {
	t.Helper()
	f := source.NewFile("life.md", text)
	in := []parser.Input{{Text: text, File: f, Known: parser.Known([]parser.Input{{Text: text}})}}
	file, ds := parser.Parse(f, in)
	if ds.Len() > 0 {
		t.Fatalf("%s\n%s", text, diag.Render(ds.Sorted()))
	}
	tree, ds := units.Collect([]*notation.File{file})
	if ds.Len() > 0 {
		t.Fatalf("%s\n%s", text, diag.Render(ds.Sorted()))
	}
	return tree, file.Units
}

// lifeRule resolves a rule over the bare front.
func lifeRule(t *testing.T, body string) *check.Block {
	t.Helper()
	tree, units := lifeTree(t, lifeFront+body)
	blk, ds := check.Instantiate(tree, units[len(units)-1])
	if ds.HasErrors() {
		t.Fatalf("%s\n%s", body, diag.Render(ds.Sorted()))
	}
	return blk
}

const (
	lifeHead  = "rule R over Bare\nouter M⁰ ∈ ℝ^{d_v×d_k} ~ normal(0, 1)\nstate M ∈ ℝ^{d_v×d_k} = M⁰\n"
	lifeWrite = "M_t = M_{t−1} + v_t k_tᵀ\n"
)

// TestHeldValues looks at the scan: what an anchor, a snap and a first value
// give is the same for all tokens of a slot, and nothing carries it.
func TestHeldValues(t *testing.T) {
	for _, c := range []struct{ name, body, carried, held, states, results string }{
		{"anchor", "anchor B of M at context\n" + lifeWrite + "y_t = (M_t − B) q_t", "M", "B = B", "M B", "M B"},
		{"first value", lifeWrite + "y_t = (M_t − M_0) q_t", "M", "M_0 = M_0", "M M_0", "M M_0"},
		{"first value with a name", "anchor B of M at context\n" + lifeWrite + "y_t = (M_t − M_0 − B) q_t", "M", "B = B", "M B", "M B"},
		{"snap", "snap M°\n" + lifeWrite + "y_t = (M_t − M°) q_t", "M", "M_snap = M", "M", "M"},
		{"snap with a name", "snap N of M\n" + lifeWrite + "y_t = (M_t − N) q_t", "M", "N = M", "M", "M"},
		{"per chunk", "state s ∈ ℝ^{d_v} = 0 per chunk\n" + lifeWrite + "s_t = s_{t−1} + M_t k_t\ny_t = M_t q_t + s_t", "M s", "", "M", "M"},
		{"per chunk at 0", "state s ∈ ℝ^{d_v} = 0.5 per chunk\n" + lifeWrite + "s_t = s_{t−1} + M_t k_t\ny_t = s_t + s_0", "M s", "s_0 = *", "M", "M"},
		{"anchor of one per chunk", "state s ∈ ℝ^{d_v} = 0.5 per chunk\nanchor b of s at context\n" + lifeWrite + "s_t = s_{t−1} + M_t k_t\ny_t = s_t + s_0 + b", "M s", "s_0 = *", "M", "M"},
		{"behind a name", "V_t = tanh(M_t)\n" + lifeWrite + "y_t = V_0 q_t", "M", "M_0 = M_0", "M M_0", "M M_0"},
		{"not read", "anchor B of M at context\nsnap M°\n" + lifeWrite + "y_t = M_t q_t", "M", "", "M", "M"},
		{"window", "u_t = Σ_{s∈window(t,3) per chunk} v_s\n" + lifeWrite + "y_t = M_t q_t + u_t", "M", "", "M", "M"},
		{"window with a tail", "u_t = Σ_{s∈window(t,3)} v_s\n" + lifeWrite + "y_t = M_t q_t + u_t", "M", "", "*.tail M", "*.tail M"},
	} {
		var ds diag.List
		f := irbuild.Rule(lifeRule(t, lifeHead+c.body), &ds)
		if f == nil || ds.HasErrors() {
			t.Errorf("%s: %s", c.name, diag.Render(ds.Sorted()))
			continue
		}
		var carried, held, states, results []string
		for _, in := range f.Body {
			if in.Scan == nil {
				continue
			}
			for _, x := range in.Scan.Carry {
				carried = append(carried, x.Param.Name)
			}
			for _, x := range in.Scan.Shared {
				if x.PerBatch {
					held = append(held, x.Param.Name+" = "+lifeName(x.Val))
				}
			}
		}
		for _, p := range f.Params {
			if p.Role == ir.State && p.Elem == ir.Real {
				states = append(states, lifeName(p))
			}
		}
		for _, r := range f.Results {
			if r.State {
				results = append(results, lifeName(&ir.Value{Name: r.Name, Role: ir.State}))
			}
		}
		for i, got := range [][]string{carried, held, states, results} {
			slices.Sort(got)
			want := strings.Fields([]string{c.carried, "", c.states, c.results}[i])
			if i == 1 && c.held != "" {
				want = []string{c.held}
			}
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s %q, want %q", c.name, []string{"carried", "held", "states", "results"}[i], got, want)
			}
		}
	}
}

// lifeName is a value's name; tails and values without one are a star.
func lifeName(v *ir.Value) string {
	switch {
	case strings.HasPrefix(v.Name, "%"):
		return "*"
	case v.IsWindow():
		return "*.tail"
	}
	return v.Name
}

// TestFrozenLifetimes says what each lifetime is to a read that writes nothing,
// by an equation that says the same without it.
func TestFrozenLifetimes(t *testing.T) {
	for _, c := range []struct{ name, body, same string }{
		{"a snap is the state", "snap M°\n" + lifeWrite + "y_t = (M_t − 0.5 M°) q_t", lifeWrite + "y_t = (M_t − 0.5 M_{t−1}) q_t"},
		{"an anchor stays", "anchor B of M at context\n" + lifeWrite + "y_t = (M_t − B) q_t", "state B ∈ ℝ^{d_v×d_k} = M⁰\n" + lifeWrite + "B_t = B_{t−1}\ny_t = (M_t − B_t) q_t"},
		{"a state per chunk is its first value", "outer b ∈ ℝ^{d_v} ~ normal(0, 1)\nstate s ∈ ℝ^{d_v} = tanh(b) per chunk\n" + lifeWrite + "s_t = s_{t−1} + M_t k_t\ny_t = M_t q_t + s_t",
			"outer b ∈ ℝ^{d_v} ~ normal(0, 1)\nc = tanh(b)\n" + lifeWrite + "y_t = M_t q_t + c"},
		{"what lags is of the state", "V_t = tanh(M_t)\n" + lifeWrite + "y_t = V_{t−1} q_t", lifeWrite + "y_t = tanh(M_t) q_t"},
		{"what lags through two names is of the state", "V_t = tanh(M_t)\nU_t = V_t ⊙ V_t\n" + lifeWrite + "y_t = U_{t−1} q_t", lifeWrite + "y_t = (tanh(M_t) ⊙ tanh(M_t)) q_t"},
		{"what began is of the anchor", "V_t = tanh(M_t)\nanchor B of M at context\n" + lifeWrite + "y_t = V_0 q_t + 0 M_t q_t", "anchor B of M at context\n" + lifeWrite + "y_t = tanh(B) q_t + 0 M_t q_t"},
		{"a const is a const", "const R ∈ ℝ^{d_v×d_k} ~ normal(0, 1) seed 1\n" + lifeWrite + "y_t = (M_t + R) q_t", "outer R ∈ ℝ^{d_v×d_k}\n" + lifeWrite + "y_t = (M_t + R) q_t"},
	} {
		a, b := lifeFrozen(t, lifeHead+c.body), lifeFrozen(t, lifeHead+c.same)
		if !simplify.Equal(a, b) {
			t.Errorf("%s: the reads differ:\n%v\n%v", c.name, a, b)
		}
	}
}

func lifeFrozen(t *testing.T, body string) *ir.Func {
	t.Helper()
	var ds diag.List
	blk := lifeRule(t, body)
	f := irbuild.Frozen(blk, &ds)
	if f == nil || ds.HasErrors() {
		t.Fatalf("%s\n%s", body, diag.Render(ds.Sorted()))
	}
	for _, p := range f.Params {
		if p.Role == ir.State && p.NoGrad == blk.NonzeroStart(blk.Symbols[p.Name]) {
			t.Errorf("%s: the gradient of the read ends at %s: %v; a start that is learned has one, zeros have none", body, p.Name, p.NoGrad)
		}
	}
	simplify.Simplify(f)
	f.Results = slices.DeleteFunc(f.Results, func(r ir.Result) bool { return r.Name != "y" })
	f.Sweep()
	return f
}

// TestCuts holds the derived property: what depends on how tokens are cut.
func TestCuts(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{lifeWrite + "y_t = M_t q_t", ""},
		{"anchor B of M at context\n" + lifeWrite + "y_t = (M_t − B − M_0) q_t", ""},
		{"u_t = Σ_{s∈window(t,3)} v_s\n" + lifeWrite + "y_t = M_t q_t + u_t", ""},
		{"V_t = tanh(M_t)\n" + lifeWrite + "y_t = V_{t−1} q_t", ""},
		{lifeWrite + "y_t = M_t q_t + Σ_{s∈window(t,3)} v_s", ""},
		{"snap M°\n" + lifeWrite + "y_t = (M_t − M°) q_t", "M is read as the call found it"},
		{"snap M°\nM_t = M_{t−1} + M° + v_t k_tᵀ\ny_t = M_t q_t", "M is read as the call found it"},
		{"state s ∈ ℝ^{d_v} = 0 per chunk\n" + lifeWrite + "s_t = s_{t−1} + M_t k_t\ny_t = M_t q_t + s_t", "s begins anew with every call"},
		{"u_t = Σ_{s∈window(t,3) per chunk} v_s\n" + lifeWrite + "y_t = M_t q_t + u_t", "r.u counts from the start of the call"},
	} {
		var ds diag.List
		f := irbuild.Rule(lifeRule(t, lifeHead+c.body), &ds)
		if f == nil || ds.HasErrors() {
			t.Errorf("%s\n%s", c.body, diag.Render(ds.Sorted()))
			continue
		}
		if got := strings.Join(irbuild.Cuts(f), "; "); got != c.want {
			t.Errorf("%s\n%q, want %q", c.body, got, c.want)
		}
	}
}

// TestFirstValueInInvariant holds an invariant that speaks of the first value of
// a state: it is there where an equation reads it, and refused where not.
func TestFirstValueInInvariant(t *testing.T) {
	for _, c := range []struct {
		body string
		ok   bool
	}{
		{lifeWrite + "y_t = (M_t − M_0) q_t", true},
		{lifeWrite + "y_t = M_t q_t", false},
	} {
		tree, units := lifeTree(t, lifeFront+lifeHead+c.body+"\ninvariant ‖M_t − M_0‖ ≥ 0")
		_, ds := prove.Block(tree, units[len(units)-1], proof.Options{})
		switch all := ds.Sorted(); {
		case c.ok && len(all) > 0:
			t.Errorf("%s\n%s", c.body, diag.Render(all))
		case !c.ok && (len(all) != 1 || all[0].Code != diag.NotSupported || all[0].Span.Text() != "M_0"):
			t.Errorf("%s\nwant one HEC4007 under M_0:\n%s", c.body, diag.Render(all))
		}
	}
}
