package expand_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Knobs that use what a formula has in ways of their own.
const ownNames = `algorithm Wide
dims n, W = r × c
outer P⁰ ∈ ℝ^{n×c} ~ normal(0, 1/sqrt(c)) nodecay
state P ∈ ℝ^{n×c} = P⁰
P_t[i∈n, j∈c] = P_0[i,j] + G_t[0,j] + 0 Σ_{a∈r} G_t[a,j]
step(G) = −θ_t (G P_tᵀ) P_t

algorithm Second
K(W, e) = slope(F(W), V) · e
c_t = 0.5 θ_t
H_t = ∇_W K(load(W_{t−1}), e_t)
step(G) = −c_t (G + H_t)

retention Still
join(Z, U; ρ, θ) = Z + U

retention Sometimes
option keep ∈ {off, on} = on
faded(Z, s) = case keep { = off : Z ; otherwise : s Z }
join(Z, U; ρ, θ) = faded(Z, ρ) + U

structure Long
weight m ∈ ℝ^{d} = 0
fit m : m ⊙ k_t → v_t
y_t = m_t ⊙ q_t

structure Uneven
outer A⁰ ∈ ℝ^{d×d}, B⁰ ∈ ℝ^{d×h} ~ normal(0, 1)
dims h
weight A ∈ ℝ^{h×d} = A⁰, C ∈ ℝ^{d×h} = B⁰
fit A, C : C tanh(A k_t) → v_t
y_t = C_t tanh(A_t q_t)

`

// instance makes a rule of a formula, or gives what is wrong with it.
func instance(t *testing.T, formula string) (*check.Block, diag.List) {
	t.Helper()
	tree, _ := parse(t, pages+ownNames+"rule R = "+formula+" over Door\n")
	return check.Instantiate(tree, tree.Units["R"])
}

// equations are those that are not the front's, by name.
func equations(t *testing.T, formula string) map[string]string {
	t.Helper()
	b, ds := instance(t, formula)
	if ds.Len() > 0 {
		t.Fatalf("%s:\n%s", formula, diag.Render(ds.Sorted()))
	}
	out := map[string]string{}
	for _, s := range b.SymSeq {
		if s.Decl != nil && s.Decl.Type != nil && s.Unit != nil && s.Unit.Kind != notation.FrontUnit {
			out[s.Name+" ∈"] = notation.Print(s.Decl.Type, notation.Unicode)
		}
	}
	for _, e := range b.Eqs {
		if e.Def != nil {
			out[e.Name] = notation.Print(e.Def, notation.Unicode)
		} else {
			out[e.Name] = "gate"
		}
	}
	return out
}

// TestOwnNames: axes of the weight, letters of the law in an algorithm, and two
// pages with one name.
func TestOwnNames(t *testing.T) {
	for _, c := range []struct{ formula, name, want string }{
		{"One + Half + Leak + Wide", "P ∈", "ℝ^{n×d}"},
		{"One + Half + Leak + Wide", "P", "P_t[i∈n, j∈d] = P_0[i,j] + G_t[0,j] + 0 Σ_{a∈d} G_t[a,j]"},
		{"Uneven + Half + Leak + Wide", "P_A ∈", "ℝ^{n×d}"},
		{"Uneven + Half + Leak + Wide", "P_C ∈", "ℝ^{n×h}"},
		{"Uneven + Half + Leak + Wide", "P⁰_C ∈", "ℝ^{n×h}"},
		{"Uneven + Half + Leak + Wide", "P_A", "P_A_t[i∈n, j∈d] = P_A_0[i,j] + G_A_t[0,j] + 0 Σ_{a∈h} G_A_t[a,j]"},
		{"Uneven + Half + Leak + Second", "H_C", "H_C_t = ∇_C K(load(A_{t−1}), load(C_{t−1}), e_t)"},
		{"One + Half + Leak + Second", "c", "c_t = 0.5 θ_t"},
		{"Passes + Half + Leak + Second", "c_Second", "c_Second_t = 0.5 θ_t"},
		{"Passes + Half + Leak + Second", "c", "c_t = u_t"},
		{"One + Half + Still + Down", "ρ", ""},
		{"One + Half + Still + Down", "θ", "gate"},
		{"One + Half + Still + Down", "M", "M_t = join(M_{t−1}, U_t; 0, θ_t)"},
		{"One + Half + Sometimes + Down", "ρ", "gate"},
		{"One + Half + Sometimes(keep = off) + Down", "ρ", ""},
		{"One + Half + Leak + Down", "M", "M_t = join(M_{t−1}, U_t; ρ_t, θ_t)"},
	} {
		if got := equations(t, c.formula)[c.name]; got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.formula, c.name, got, c.want)
		}
	}
}

// TestWeightAxes: a weight with other axes is refused at its declaration.
func TestWeightAxes(t *testing.T) {
	_, ds := instance(t, "Long + Half + Leak + Wide")
	if ds.Len() != 1 || ds.Sorted()[0].Code != diag.IllegalFormula || ds.Sorted()[0].Span.Text() != "m ∈ ℝ^{d} = 0" ||
		!strings.Contains(ds.Sorted()[0].Text, "Wide needs weights with 2 axes, and m has 1") {
		t.Errorf("got:\n%s", diag.Render(ds.Sorted()))
	}
}

// TestAnchorOfKnob: a retention by itself, as its claims are proved, may have an
// anchor of the state that it joins.
func TestAnchorOfKnob(t *testing.T) {
	tree, _ := parse(t, pages+"retention Pulled\nanchor B of Z at context\njoin(Z, U; ρ, θ) = ρ Z + U − θ (Z − B)\n")
	if _, ds := check.Instantiate(tree, tree.Units["Pulled"]); ds.Len() > 0 {
		t.Errorf("got:\n%s", diag.Render(ds.Sorted()))
	}
}
