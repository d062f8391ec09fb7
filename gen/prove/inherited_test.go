package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

const chosen = `rule Base
option p ≥ 1 = 3
dims d
input x ∈ ℝ^{d}
state M ∈ ℝ^{d} = 0
M_t = case p { = 1 : tanh(x_t) ; = 2 : 0.5 M_{t−1} + x_t ; otherwise : 0.5 M_{t−1} + tanh(x_t) ⊙ x_t }
y_t = M_t
`

// TestInherited: a line without a condition speaks of its own page, and one with
// a condition of every page that satisfies it.
func TestInherited(t *testing.T) {
	const claim, cost, inv = "claim M_t = 0.5 M_{t−1} + tanh(x_t) ⊙ x_t\n", "cost write+read = 2 d\n", "invariant ∀ i∈d : |M_t[i] − 0.5 M_{t−1}[i]| = |tanh(x_t[i]) x_t[i]|\n"
	tests := []struct {
		name, text string
		wrong      string            // a part of the message, or ""
		items      map[string]string // of Derived: id → a part of its line
	}{
		{"holds", chosen + claim + cost + inv + "rule Derived = Base(p = 4)\n", "", map[string]string{
			"derived.claim.M_t": "proved", "derived.cost.write+read": "proved", "derived.invariant.invariant1": "tested"}},
		{"does not hold", chosen + claim + cost + inv + "rule Derived = Base(p = 1)\n", "", map[string]string{
			"derived.claim.M_t":               "declared   said of Base as its page configures it, and does not hold here",
			"derived.cost.write+read":         "declared",
			"derived.cost.write+read.counted": "proved     counted 0, tanh·(d)",
			"derived.invariant.invariant1":    "declared"}},
		{"is false on its page", chosen + "claim M_t = 0.5 M_{t−1} + x_t\nrule Derived = Base(p = 2)\n", "claim M_t = 0.5 M_{t−1} + x_t", nil},
		{"conditional", chosen + "when p ≥ 2 : claim M_t = 0.5 M_{t−1} + tanh(x_t) ⊙ x_t\nrule Derived = Base(p = 2)\n", "in Derived, whose options satisfy the condition", nil},
		{"same options", chosen + claim + cost + "rule Derived = Base(p = 3)\n", "", map[string]string{"derived.claim.M_t": "proved", "derived.cost.write+read": "proved"}},
		{"the derived page's own line", chosen + "rule Derived = Base(p = 1)\nclaim M_t = x_t\n", "claim M_t = x_t", nil},
		{"provides is for all", "rule Base\noption p ≥ 1 = 3\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = case p { = 1 : tanh(M_{t−1}) ; otherwise : M_{t−1} } + x_t\ny_t = M_t\n" +
			"provides AffineInState(M)\nrule Derived = Base(p = 1)\n", "AffineInState(M) does not follow", nil},
	}
	for _, test := range tests {
		reports, ds := proveText(test.text, false)
		if got := ds.Error(); (test.wrong == "") != (ds.Len() == 0) || !strings.Contains(got, test.wrong) {
			t.Errorf("%s: %s", test.name, got)
		}
		for id, want := range test.items {
			it := reports[1].Item(id)
			if it == nil || !strings.Contains(reports[1].String(), it.ID) || !strings.Contains(line(reports[1], id), want) {
				t.Errorf("%s: %s is not %q:\n%s", test.name, id, want, reports[1])
			}
		}
	}
}

// TestInheritedTag: a header's statement rests on the lines where they speak of
// their own page.
func TestInheritedTag(t *testing.T) {
	text := "# Page\n\n```text\nCONTRACT\n  Purpose: a test\n  Expects: nothing\n  Guarantees: what it writes {write}\n  Cost: none\n" +
		"  Trade-off: none\n  Position: page.md\n  Source: none\n```\n\n```hecate\n" + chosen + "claim M_t = 0.5 M_{t−1} + tanh(x_t) ⊙ x_t {write}\nrule Derived = Base(p = 1)\n```\n"
	reports, ds := proveText(text, true)
	if it := reports[2].Item("page:page.header.guarantees1:write"); ds.HasErrors() || it == nil || it.Verdict != proof.Proved {
		t.Errorf("%s%s", ds.Error(), reports[2])
	}
}

func line(r *proof.Report, id string) string {
	for l := range strings.Lines(r.String()) {
		if strings.HasPrefix(l, id+" ") {
			return l
		}
	}
	return ""
}
