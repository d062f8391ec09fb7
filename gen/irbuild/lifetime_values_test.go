package irbuild_test

import (
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
)

// lifeRun runs a rule on numbers that depend on the names alone, so that two
// rules with the same names see the same. A context begins where pos is 0.
func lifeRun(t *testing.T, body string, tokens, pos int, set map[string]float64) map[string]*interp.Tensor {
	t.Helper()
	var ds diag.List
	f := irbuild.Rule(lifeRule(t, lifeHead+body), &ds)
	if f == nil || ds.HasErrors() {
		t.Fatalf("%s\n%s", body, diag.Render(ds.Sorted()))
	}
	sizes := map[string]int{"L": 2, "T": tokens, "d": 3, "d_k": 2, "d_v": 5}
	in := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = math.Sin(float64(1 + i + len(p.Name)*int(p.Name[0])))
			if v, ok := set[p.Name]; ok {
				x.Data[i] = v
			}
			if p.Elem == ir.Int {
				x.Data[i] = float64(pos)
			}
		}
		in[p.Name] = x
	}
	return interp.Run(f, sizes, in)
}

// TestLifetimeValues compares each lifetime with an equation that says the same
// for one token, for a young context, or for given numbers, and that says
// something else otherwise.
func TestLifetimeValues(t *testing.T) {
	const grow = "M_t = 0.5 M_{t−1} + v_t k_tᵀ\n"
	for _, c := range []struct {
		name, body, same string
		tokens, pos      int
		set              map[string]float64
		equal            bool
	}{
		{"a snap, one token", "snap M°\n" + grow + "y_t = M_t q_t + M° k_t", grow + "y_t = M_t q_t + M_{t−1} k_t", 1, 7, nil, true},
		{"a snap, more tokens", "snap M°\n" + grow + "y_t = M_t q_t + M° k_t", grow + "y_t = M_t q_t + M_{t−1} k_t", 3, 7, nil, false},
		{"a snap is the state that came in", "snap M°\n" + grow + "y_t = M_t q_t + M° k_t", "const C ∈ ℝ^{d_v×d_k} = 0.25\n" + grow + "y_t = M_t q_t + C k_t", 3, 7, map[string]float64{"M": 0.25, "C": 0.25}, true},
		{"a window per chunk, young", "u_t = Σ_{s∈window(t,3) per chunk} v_s\n" + grow + "y_t = M_t q_t + u_t", "u_t = Σ_{s∈window(t,3)} v_s\n" + grow + "y_t = M_t q_t + u_t", 5, 0, nil, true},
		{"a window per chunk, old", "u_t = Σ_{s∈window(t,3) per chunk} v_s\n" + grow + "y_t = M_t q_t + u_t", "u_t = Σ_{s∈window(t,3)} v_s\n" + grow + "y_t = M_t q_t + u_t", 5, 9, nil, false},
		{"a mean per chunk, young", "u_t = mean_{s∈window(t,3) per chunk}(v_s)\n" + grow + "y_t = M_t q_t + u_t", "u_t = mean_{s∈window(t,3)}(v_s)\n" + grow + "y_t = M_t q_t + u_t", 5, 0, nil, true},
		{"a state per chunk", "state s ∈ ℝ^{d_v} = 0.5 per chunk\n" + grow + "s_t = 0.5 s_{t−1} + v_t\ny_t = M_t q_t + s_t", "state s ∈ ℝ^{d_v} = 0.5\n" + grow + "s_t = 0.5 s_{t−1} + v_t\ny_t = M_t q_t + s_t", 4, 9, map[string]float64{"s": 0.5}, true},
		{"a state per chunk forgets", "state s ∈ ℝ^{d_v} = 0.5 per chunk\n" + grow + "s_t = 0.5 s_{t−1} + v_t\ny_t = M_t q_t + s_t", "state s ∈ ℝ^{d_v} = 0.5\n" + grow + "s_t = 0.5 s_{t−1} + v_t\ny_t = M_t q_t + s_t", 4, 9, map[string]float64{"s": 0.75}, false},
		{"an anchor is not the state", grow + "y_t = M_t q_t + M_0 k_t", grow + "y_t = M_t q_t + M_{t−1} k_t", 1, 9, nil, false},
		{"an anchor is a number of its own", "anchor M_begin of M at context\n" + grow + "y_t = M_t q_t + M_begin k_t", "state M_begin ∈ ℝ^{d_v×d_k} = M⁰\nM_begin_t = M_begin_{t−1}\n" + grow + "y_t = M_t q_t + M_begin_t k_t", 3, 9, nil, true},
		{"what lags", "V_t = tanh(M_t)\n" + grow + "y_t = M_t q_t + V_{t−1} k_t", grow + "y_t = M_t q_t + tanh(M_{t−1}) k_t", 4, 9, nil, true},
		{"what lags is not now", "V_t = tanh(M_t)\n" + grow + "y_t = M_t q_t + V_{t−1} k_t", grow + "y_t = M_t q_t + tanh(M_t) k_t", 4, 9, nil, false},
		{"what lags in a circle", "V_t = tanh(M_t)\nM_t = 0.5 M_{t−1} + V_{t−1} ⊙ (v_t k_tᵀ)\ny_t = V_t q_t", "M_t = 0.5 M_{t−1} + tanh(M_{t−1}) ⊙ (v_t k_tᵀ)\ny_t = tanh(M_t) q_t", 4, 9, nil, true},
	} {
		a := lifeRun(t, c.body, c.tokens, c.pos, c.set)["y"]
		b := lifeRun(t, c.same, c.tokens, c.pos, c.set)["y"]
		if slices.Equal(a.Data, b.Data) != c.equal {
			t.Errorf("%s: equal is %v\n%v\n%v", c.name, !c.equal, a.Data, b.Data)
		}
	}
}

// TestFixedParameters holds consts and parameters with nograd to having no
// gradient, whatever else is learned beside them.
func TestFixedParameters(t *testing.T) {
	for _, decl := range []string{
		"const R ∈ ℝ^{d_v×d_k} ~ normal(0, 1) seed 7\n",
		"const R ∈ ℝ^{d_v×d_k} = 0.5\n",
		"outer R ∈ ℝ^{d_v×d_k} ~ normal(0, 1) nograd \"drawn and kept\"\n",
		"outer R ∈ ℝ^{d_v×d_k} ~ normal(0, 1)\nnograd R \"drawn and kept\"\n",
		"outer R ∈ ℝ^{d_v×d_k} ~ normal(0, 1)\n",
	} {
		blk := lifeRule(t, lifeHead+decl+"M_t = M_{t−1} + v_t k_tᵀ + R\nf_t = R k_t\ny_t = M_t q_t + f_t")
		var ds diag.List
		f := irbuild.Rule(blk, &ds)
		if f == nil || ds.HasErrors() {
			t.Fatalf("%s\n%s", decl, diag.Render(ds.Sorted()))
		}
		p := autodiff.NewPair(f)
		learned := decl == "outer R ∈ ℝ^{d_v×d_k} ~ normal(0, 1)\n"
		if r := f.Param("R"); r.Role != ir.Outer || r.NoGrad == learned || (p.Bwd.Result("R.bar") != nil) != learned {
			t.Errorf("%s: role %v, nograd %v, gradient %v", decl, r.Role, r.NoGrad, p.Bwd.Result("R.bar") != nil)
		}
		if p.Bwd.Result("W_V.bar") == nil || p.Bwd.Result("M.bar") == nil {
			t.Errorf("%s: what is learned beside it lost its gradient", decl)
		}
	}
}
