package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

const composeHead = "compose Gated(memory : Composition, attention : Composition)\ndims d\ninput X ∈ ℝ^{T×d}\nouter W, V ∈ ℝ^{d×d} ~ uniform(−1, 1)\n" +
	"h[t∈T] = V X[t]\na = attention(h)\nm = memory(X)\ng = sigmoid(m)\nout[t∈T] = W (a[t] ⊙ g[t])\n"

const windowed = "compose Window\noption w ≥ 1 = 3\ndims n_p, d\ninput X ∈ ℝ^{T×d}\nouter P ∈ ℝ^{n_p×d} ~ uniform(−1, 1)\nouter W ∈ ℝ^{d×d} ~ uniform(−1, 1)\n" +
	"Z = [P; X]\nk[s∈n_p ∪ T] = W Z[s]\na[t∈T, s∈n_p ∪ window(t,w)] = softmax_s(X[t] · k[s])\nout[t∈T] = Σ_{s∈n_p ∪ window(t,w)} a[t,s] Z[s]\n"

const model = "model LM(block : Composition)\ndims V, d\ninput ids ∈ {0…V−1}^{T}, next ∈ ({0…V−1} ∪ {−1})^{T}\nouter E, H ∈ ℝ^{V×d} ~ uniform(−1, 1)\n" +
	"x[t∈T] = E[ids[t]]\ny = block(x)\nz[t∈T] = H y[t]\nloss = mean_{t∈T if next[t] ≠ −1}(logsumexp_{j∈V}(z[t,j]) − z[t,next[t]]), empty = 0\n"

// What a composition or a model says about its values holds whatever its parts
// answer, and what it costs is what its own equations take, in all stages.
func TestComposed(t *testing.T) {
	for _, c := range []struct {
		text, code, at string
		kind           proof.Kind
		verdict        proof.Verdict
	}{
		{composeHead + "invariant ∀ t∈T, i∈d : g[t,i] ≤ 1\n", "", "", proof.Invariant, proof.Proved},
		{composeHead + "invariant ∀ t∈T : h[t] · h[t] = V X[t] · V X[t]\n", "", "", proof.Invariant, proof.Proved},
		{composeHead + "invariant ∀ t∈T, i∈d : m[t,i] ≤ 1\n", "HEC5005", "m[t,i] ≤ 1", proof.Invariant, proof.Failed},
		{composeHead + "invariant ∀ t∈T, i∈d : g[t,i] ≤ 0.9\n", "HEC5005", "g[t,i] ≤ 0.9", proof.Invariant, proof.Failed},
		{composeHead + "claim W̄ = out̄ᵀ (a ⊙ g)\n", "", "", proof.Claim, proof.Proved},
		{composeHead + "claim ā = (out̄ W) ⊙ g\n", "", "", proof.Claim, proof.Proved},
		{composeHead + "claim W̄ = 2 out̄ᵀ (a ⊙ g)\n", "HEC5003", "2 out̄ᵀ (a ⊙ g)", proof.Claim, proof.Failed},
		{model + "claim z̄ = 0\n", "HEC3002", "z̄", proof.Claim, proof.Failed},
		{model + "claim ȳ = B H\n  with B[t∈T, j∈V] = (loss̄ / max(n, 1)) c[t] (softmax_{i∈V}(z[t,i])[j] − e[t,j]), c[t∈T] = { 1 if next[t] ≠ −1 ; 0 otherwise }, " +
			"n = Σ_{t∈T} c[t], e[t∈T, j∈V] = { 1 if next[t] = j ; 0 otherwise }\n", "", "", proof.Claim, proof.Tested},
		{composeHead + "cost forward = 2·T·d·d + T·d\n", "", "", proof.Cost, proof.Proved},
		{composeHead + "cost forward = 2·T·d·d + O(T·d)\n", "", "", proof.Cost, proof.Proved},
		{composeHead + "cost forward = T·d·d + O(T·d)\n", "HEC5007", "T·d·d", proof.Cost, proof.Failed},
		{composeHead + "cost forward = O(T)\n", "HEC5007", "T", proof.Cost, proof.Failed},
		{composeHead + "cost write+read = T·d·d\n", "HEC5016", "write+read", proof.Cost, proof.Failed},
		{windowed + "invariant ∀ t∈T : Σ_{s∈n_p ∪ window(t,w)} a[t,s] = 1\n", "", "", proof.Invariant, proof.Tested},
		{windowed + "invariant ∀ t∈T : Σ_{s∈n_p ∪ window(t,w)} a[t,s] = 2\n", "HEC5005", "Σ_{s∈n_p ∪ window(t,w)} a[t,s] = 2", proof.Invariant, proof.Failed},
		{windowed + "invariant ∀ s∈n_p ∪ T : k[s] · k[s] ≥ 0\n", "HEC4007", "k[s] · k[s]", proof.Invariant, proof.Failed},
		{windowed + "cost forward = T·d·d + O(T·w·d + T·n_p·d + n_p·d·d)\n", "", "", proof.Cost, proof.Proved},
		{model + "invariant loss ≥ 0\n", "", "", proof.Invariant, proof.Tested},
		{model + "invariant loss ≥ 1\n", "HEC5005", "loss ≥ 1", proof.Invariant, proof.Failed},
		{model + "cost forward = V·d·T + O(V·T)\n", "", "", proof.Cost, proof.Proved},
		{model + "kink loss = 0 : C⁰\n", "HEC5016", "kink loss = 0 : C⁰", proof.Kink, proof.Failed},
	} {
		reports, ds := proveText(c.text, false)
		all := ds.Sorted()
		switch {
		case c.code == "" && len(all) > 0, c.code != "" && len(all) != 1:
			t.Errorf("%s\n%s", c.text, diag.Render(all))
			continue
		case c.code != "" && (all[0].Code.String() != c.code || all[0].Span.Text() != c.at):
			t.Errorf("%s:\n%v at %q, want %s at %q", c.text, all[0].Code, all[0].Span.Text(), c.code, c.at)
		}
		found := false
		for _, it := range reports[0].Items {
			if it.Kind == c.kind {
				found = true
				if it.Verdict != c.verdict {
					t.Errorf("%s is %v, want %v", it.Text, it.Verdict, c.verdict)
				}
			}
		}
		if !found {
			t.Errorf("%s: no item", c.text)
		}
	}
}
