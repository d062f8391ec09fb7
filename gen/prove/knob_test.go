package prove_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// A law with a front, a structure, a bias and an algorithm, to which knobs are
// added.
const knobHead = `law Learn(structure, bias, algorithm, retention)
slope(y, v) = ∇_y ℓ(y, v)
load(Z) = Z
start(P) = P
W_0 = start(P)
read W_t = load(W_t)
J(W, e) = F(W) · e
e_t = slope(F(load(W_{t−1})), V)
U_t = step(∇_W J(load(W_{t−1}), e_t))
W_t = join(W_{t−1}, U_t; ρ_t, θ_t)

front Door
dims d, e
input x ∈ ℝ^{d}
outer A ∈ ℝ^{e×d}, B ∈ ℝ^{d×d} ~ uniform(−1, 1)
outer w ∈ ℝ^{d} ~ uniform(−1, 1)
k_t = B x_t
v_t = A x_t
q_t = x_t
gate ρ ∈ (0,1) = sigmoid(w · x_t)
gate θ > 0 = softplus(w · x_t)

structure Bowl
outer M⁰ ∈ ℝ^{e×d} ~ normal(0, 1)
weight M ∈ ℝ^{e×d} = M⁰
fit M : M k_t → v_t
y_t = M_t q_t

bias Half
ℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²

algorithm Down
step(G) = −θ_t G

op Blend(a ∈ ℝ^{m×n}, b ∈ ℝ^{m×n}, s ∈ ℝ) → out = s a − b
`

const leak = "retention Leak\njoin(Z ∈ ℝ^{r×c}, U ∈ ℝ^{r×c}; ρ ∈ ℝ, θ ∈ ℝ) = ρ Z + U\n"

// What a knob claims of its own functions is proved on its page, used or not,
// and nowhere else.
func TestKnobClaims(t *testing.T) {
	const rule = "rule R = Bowl + Half + Leak + Down over Door\n"
	for _, c := range []struct {
		page string
		want proof.Verdict
		at   string // what the caret is under, where it fails
	}{
		{leak + "claim join(Z, U; ρ, θ) = Blend(Z, −U, ρ)\n", proof.Proved, ""},
		{leak + "claim join(Z, U; ρ, θ) = Blend(Z, −U, ρ)\n" + rule, proof.Proved, ""},
		{leak + "claim join(Z, U; ρ, θ) = D\n  with D[i∈r, j∈c] = ρ Z[i,j] + U[i,j]\n" + rule, proof.Proved, ""},
		{leak + "claim join(Z, U; ρ, θ) = ρ Z − U\n" + rule, proof.Failed, "U"},
		// two functions call their axes differently
		{leak + "flip(B ∈ ℝ^{c×r}; ρ ∈ ℝ) = ρ B\nclaim join(Z, Z; ρ, θ) = Z + flip(Z; ρ)\n" + rule, proof.Proved, ""},
		// one with a moment is of the rules
		{leak + "claim M_t = ρ_t M_{t−1} + U_t\n" + rule, proof.Proved, ""},
		{leak + "algorithm Slow\nhalf(G ∈ ℝ^{a}) = 0.5 G\nstep(G) = −θ_t G\nclaim half(G) = 0.25 G + 0.25 G\n", proof.Proved, ""},
		{leak + "structure Cup\nweight M ∈ ℝ^{e×d} = 0\ntwice(A ∈ ℝ^{a×b}) = A + A\nfit M : M k_t → v_t\ny_t = M_t q_t\nclaim twice(M) = 2 M\n", proof.Proved, ""},
	} {
		reports, ds := proveText(knobHead+c.page, false)
		n := 0
		for _, r := range reports {
			for _, it := range r.Items {
				if it.Kind == proof.Claim && it.Verdict != proof.Declared {
					n++
					if it.Verdict != c.want {
						t.Errorf("%s\n%s is %v: %s", c.page, it.Text, it.Verdict, diag.Render(ds.Sorted()))
					}
				}
			}
		}
		said := slices.DeleteFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code == diag.DeadStart }) // of the front
		if bad := c.want == proof.Failed; n != 1 || bad != (len(said) == 1) || bad && (said[0].Code != diag.ClaimFails || said[0].Span.Text() != c.at) {
			t.Errorf("%s\n%d claims: %s", c.page, n, diag.Render(ds.Sorted()))
		}
	}
}

// A claim needs types, and says of what.
func TestKnobClaimWithoutTypes(t *testing.T) {
	_, ds := proveText(knobHead+"retention Leak\njoin(Z, U; ρ ∈ ℝ, θ ∈ ℝ) = ρ Z + U\nclaim join(Z, Z; ρ, θ) = ρ Z + Z\n", false)
	for _, d := range ds.Sorted() {
		if d.Code != diag.UnknownName || d.Span.Text() != "Z" || d.Text != "Z has no type here" || len(d.Related) != 1 {
			t.Errorf("got\n%s", diag.Render(ds.Sorted()))
		}
	}
	if ds.Len() != 1 {
		t.Errorf("%d messages\n%s", ds.Len(), diag.Render(ds.Sorted()))
	}
}

// No knob's option is an axis, or a value, of another page.
func TestOptionsApart(t *testing.T) {
	for _, retention := range []string{
		"option n ≥ 1 = 3\njoin(Z, U; ρ, θ) = ρ Z + (1/n) U\n",
		"option e ≥ 0 = 3\njoin(Z, U; ρ, θ) = ρ Z + (1/e) U\n",
		"join(Z ∈ ℝ^{d×h}, U ∈ ℝ^{d×h}; ρ, θ) = ρ Z + U\n", // a knob's d and h are its own
		"option r ≥ 1 = 2, c ≥ 1 = 5\njoin(Z ∈ ℝ^{a×b}, U ∈ ℝ^{a×b}; ρ, θ) = ρ Z + turned(Uᵀ)ᵀ / (r c)\nturned(U ∈ ℝ^{a×b}) = U\n",
	} {
		text := strings.Replace(knobHead, "dims d, e\n", "dims d, h\n", 1)
		text = strings.ReplaceAll(text, "ℝ^{e×d}", "ℝ^{h×d}")
		text = strings.Replace(text, "y_t = M_t q_t\n", "y_t = same(M_t) q_t\nsame(M ∈ ℝ^{n×r}) = M\n", 1)
		reports, ds := proveText(text+"retention Odd\n"+retention+"rule R = Bowl + Half + Odd + Down over Door\n", false)
		if ds.Len() > 0 || len(reports) == 0 {
			t.Errorf("%s\n%s", retention, diag.Render(ds.Sorted()))
		}
	}
}

// A formula may pass by its pages and leave the set of its state all the same.
func TestSets(t *testing.T) {
	const ring = "structure Ring\nouter S⁰ ∈ ℝ^{e×d} ~ normal(0, 1)\nweight S ∈ 𝕊^{e×d} = rows(S⁰)\nfit S : S k_t → v_t\ny_t = S_t q_t\n" +
		"retention Turn\njoin(Z, U; ρ, θ) = rows(ρ Z + U)\n"
	const rows = "rows(A ∈ ℝ^{m×n})[i∈m] = A[i] / max(‖A[i]‖, 1e-8)\n"
	for formula, want := range map[string]int{"Ring + Half + Turn + Down": 0, "Ring + Half + Leak + Down": 1, "Bowl + Half + Leak + Down": 0} {
		s, ds := load(source.NewFile("page.md", "# Page\n\n```hecate\n"+rows+knobHead+ring+leak+"rule R = "+formula+" over Door\n```\n"))
		b, bd := check.Instantiate(s.Tree, s.Tree.Units["R"])
		if ds.HasErrors() && !strings.Contains(ds.Error(), "CONTRACT") || bd.HasErrors() {
			t.Fatal(ds.Error(), bd.Error())
		}
		got := marker.KeepsRows(b)
		if got.Len() != want || want > 0 && (got.Sorted()[0].Code != diag.OutOfDomain || got.Sorted()[0].Span.Text() != "S") {
			t.Errorf("%s: %s", formula, diag.Render(got.Sorted()))
		}
	}
}

// A state that some page keeps in a set is drawn from there, whatever its type
// says; one that no page keeps is drawn from all numbers.
func TestDrawnWhereKept(t *testing.T) {
	const rows = "rows(A ∈ ℝ^{m×n})[i∈m] = A[i] / max(‖A[i]‖, 1e-8)\n"
	const spin = "retention Spin\nstart(P) = rows(P)\njoin(Z, U; ρ, θ) = rows(ρ Z + U)\n"
	const rule = "rule R = Bowl + Half + Spin + Down over Door\nclaim N = 1\n  with N[i∈e] = ‖M_{t−1}[i]‖²\n"
	for provides, want := range map[string]proof.Verdict{"": proof.Failed, "provides UnitSphere(Z)\n": proof.Tested, "provides Causal\n": proof.Failed} {
		reports, ds := proveText(rows+knobHead+spin+provides+rule, false)
		n := 0
		for _, r := range reports {
			for _, it := range r.Items {
				if it.Kind == proof.Claim {
					n++
					if it.Verdict != want {
						t.Errorf("%q: %v\n%s", provides, it.Verdict, diag.Render(ds.Sorted()))
					}
				}
			}
		}
		if n != 1 || (ds.Len() == 0) != (want == proof.Tested) {
			t.Errorf("%q: %d claims\n%s", provides, n, diag.Render(ds.Sorted()))
		}
	}
}

// A weight with one axis has no rows and columns, whatever its page provides.
func TestMatrices(t *testing.T) {
	const long = "structure Long\nouter m⁰ ∈ ℝ^{d} ~ normal(0, 1)\nweight m ∈ ℝ^{d} = m⁰\nfit m : m ⊙ k_t → x_t\ny_t = m_t ⊙ q_t\n" +
		"retention Plain\njoin(Z, U; ρ, θ) = ρ Z + U\n"
	for text, want := range map[string]int{
		"rule R = Long + Half + Plain + Down over Door\nprovides Matrices(m)\n": 1,
		"rule R = Bowl + Half + Plain + Down over Door\nprovides Matrices(M)\n": 0,
	} {
		if _, ds := proveText(knobHead+long+text, false); ds.Len() != want || want > 0 && ds.Sorted()[0].Code != diag.MarkerUnfounded {
			t.Errorf("%s\n%s", text, diag.Render(ds.Sorted()))
		}
	}
}
