package equivalence_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/source"
)

// pageHead is a page up to its block.
const pageHead = "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\n"

// TestMatches tries the strategies that match a rule on every rule of the library.
func TestMatches(t *testing.T) {
	s, ds := gen.Load("../../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	want := map[string]string{
		"Hebbian":         "StateSpaceChunk LinearChunk GatedChunk DiagonalChunk RemovalChunk",
		"HGRN2":           "LinearChunk DiagonalChunk RemovalChunk",
		"DeltaRule":       "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaUnbounded":  "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaHeads":      "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaLong":       "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaMean":       "GatedChunk DiagonalChunk RemovalChunk",
		"DeltaMeanLong":   "GatedChunk DiagonalChunk RemovalChunk",
		"GatedDelta":      "GatedChunk DiagonalChunk RemovalChunk",
		"GatedDeltaHeads": "GatedChunk DiagonalChunk RemovalChunk",
		"Comba":           "GatedChunk DiagonalChunk RemovalChunk",
	}
	for _, u := range rulesOf(t, s) {
		got := ""
		for _, st := range s.Tree.Kinds(notation.StrategyUnit) {
			if !matching(st) {
				continue
			}
			stands := equivalence.Apply(s.Tree, st, u)
			if stands.Exact() {
				got += " " + st.Name.Text
			}
		}
		if len(got) > 0 {
			got = got[1:]
		}
		if got != want[u.Name.Text] {
			t.Errorf("%s is computed by %q, want %q", u.Name.Text, got, want[u.Name.Text])
		}
	}
}

// matching reports whether a strategy matches a rule's equations.
func matching(u *notation.Unit) bool {
	for _, st := range u.Body {
		if d, ok := st.(*notation.Define); ok && d.Match {
			return true
		}
	}
	return false
}

// TestMatchesAnyNames gives strategies rules that use the strategies' names for
// something else: indices, states, axes and learned numbers.
func TestMatchesAnyNames(t *testing.T) {
	const page = `
rule Bound over Projected(unit = on)
outer c ∈ ℝ^{2} ~ uniform(0, 1), B ∈ ℝ^{d_v×d_v} ~ uniform(0, 1)
state S ∈ ℝ^{d_v×d_k} = 0
z_t = Σ_{s∈window(t,2)} c[t−s] v_s + Σ_{o∈window(t,2)} c[t−o] v_o
u_t[i∈d_v] = Σ_{s∈d_v} B[i,s] z_t[s]
S_t = ρ_t S_{t−1} + u_t k_tᵀ
y_t = S_t q_t

rule States over Projected(unit = on)
outer W_g ∈ ℝ^{d_v×d} ~ normal(0, 1)
state g ∈ ℝ^{d_v×d_k} = 0
c_t = sigmoid(W_g x_t)
g_t = ρ_t g_{t−1} + v_t k_tᵀ
y_t = c_t ⊙ (g_t q_t)

rule Everything
dims d, d_k, d_v, H, e
option Q ≥ 1 = 3
input x ∈ ℝ^{d}
outer W_K ∈ ℝ^{d_k×d} ~ normal(0, 1), W_V ∈ ℝ^{d_v×d} ~ normal(0, 1), i_k ∈ ℝ^{d_k} ~ normal(0, 1), v_i ∈ ℝ^{d_v} ~ normal(0, 1), i ∈ ℝ ~ normal(0, 1)
outer z ∈ ℝ^{H×Q×e} ~ normal(0, 1), b ∈ ℝ^{d_v} = 1, q ∈ ℝ^{d} ~ normal(0, 1)
k_t = W_K x_t + i_k
ρ_t = sigmoid(q · x_t)
r_t = W_V x_t + v_i + (Σ_{i∈H, j∈Q, o∈e} z[i,j,o]) b
state c ∈ ℝ^{d_v×d_k} = 0
c_t = ρ_t c_{t−1} + r_t k_tᵀ
y_t = sigmoid(i x_t · q) (c_t k_t)
`
	exact(t, page, map[string][]string{
		"Bound":      {"StateSpaceChunk", "RemovalChunk"},
		"States":     {"StateSpaceChunk", "GatedChunk"},
		"Everything": {"StateSpaceChunk", "GatedChunk", "RemovalChunk"},
	})
}

// TestMatchesSpellings gives strategies rules whose forms are products and sums in other
// spellings than theirs.
func TestMatchesSpellings(t *testing.T) {
	const head = `
outer W_α ∈ ℝ^{d_k×d} ~ normal(0, 1/sqrt(d)), b_α ∈ ℝ^{d_k} = 3 nodecay
state M ∈ ℝ^{d_v×d_k} = 0
α_t = sigmoid(W_α x_t + b_α)
`
	const page = `
rule Decayed over Projected(unit = on)` + head + `M_t = M_{t−1} diag(α_t) (I − θ_t k_t k_tᵀ) + θ_t v_t k_tᵀ
y_t = M_t q_t

rule Removed over Projected(unit = on)` + head + `M_t = M_{t−1} (I − θ_t k_t k_tᵀ) diag(α_t) + θ_t v_t k_tᵀ
y_t = M_t q_t

rule TwoReads over Projected(unit = on)
state M ∈ ℝ^{d_v×d_k} = 0
M_t = ρ_t M_{t−1} + v_t k_tᵀ
y_t = M_t q_t + 0.5 M_t k_t − ρ_t M_t k_t
`
	exact(t, page, map[string][]string{
		"Decayed":  {"DiagonalChunk", "RemovalChunk"},
		"Removed":  {"RemovalChunk"},
		"TwoReads": {"StateSpaceChunk", "LinearChunk", "RemovalChunk"},
	})
}

// exact wants strategies to compute rules of a page.
func exact(t *testing.T, page string, want map[string][]string) {
	t.Helper()
	s, ds := gen.LoadWith([]string{"../../../specs"}, source.NewFile("page.md", pageHead+page+"```\n"))
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for rule, strategies := range want {
		for _, st := range strategies {
			if got := equivalence.Apply(s.Tree, s.Tree.Units[st], s.Tree.Units[rule]); !got.Exact() {
				t.Errorf("%s of %s: %s", st, rule, got.Refused)
			}
		}
	}
}
