package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// An erratum rests on the claim whose tag it repeats, sign for sign; on the
// line of a family it rests on all that the line makes.
func TestErratum(t *testing.T) {
	const square = "op Square(x ∈ ℝ^{n}) → out = x ⊙ x\nclaim x̄ = 2 x ⊙ out̄  {adj:x}\n"
	const two = "rule Two\ndims d\ninput x ∈ ℝ^{d}\nfamily s ∈ {a, b} : state M[s] ∈ ℝ^{d} = 0\n" +
		"family s ∈ {a, b} : M_t[s] = M_{t−1}[s] + x_t\ny_t = M_t[a] ⊙ M_t[b]\nfamily s ∈ {a, b} : claim M_t[s] = x_t + M_{t−1}[s]  {step}\n"
	for _, c := range []struct{ text, at string }{
		{square + "erratum lattice#1 \"two\" by claim adj:x\n", ""},
		{square + "erratum lattice#1 \"two\" by claim adj.x\n", ""},
		{square + "erratum lattice#1 \"two\" by claim adj:y\n", "adj:y"},
		{two + "erratum lattice#1 \"two\" by claim step\n", ""},
		{two + "erratum lattice#1 \"two\" by claim step_b\n", ""},
		{two + "erratum lattice#1 \"two\" by claim step_c\n", "step_c"},
	} {
		reports, ds := proveText(c.text, false)
		all := ds.Sorted()
		if c.at != "" {
			if len(all) != 1 || all[0].Code != diag.ErratumUnbacked || all[0].Span.Text() != c.at {
				t.Errorf("%s\n%s", c.text, ds.Error())
			}
			continue
		}
		ok := false
		for _, it := range reports[0].Items {
			ok = ok || it.Kind == proof.Erratum && it.Verdict == proof.Proved
		}
		if !ok || len(all) > 0 {
			t.Errorf("%s\n%s", c.text, ds.Error())
		}
	}
}
