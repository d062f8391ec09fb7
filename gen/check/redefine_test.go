package check_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// TestRedefined holds what a block takes of a front whose gates and starts its rule
// redefines, and of a rule whose front another one configures.
func TestRedefined(t *testing.T) {
	const page = `front F
option a ≥ 0 = 1
dims d
input x ∈ ℝ^{d}
outer w, u ∈ ℝ^{d} ~ normal(0, 1) nodecay
outer b ∈ ℝ = by level [1, 2]
gate ρ ∈ (0,1) = sigmoid(w · x_t + b + a) within [0.1, 1]
gate η ∈ (0,1) = sigmoid(u · x_t)

rule A over F
outer b = 5, u ~ uniform(0, 1)
gate ρ ∈ [0,1] = ½
state M ∈ ℝ^{d} = 0
M_t = ρ_t M_{t−1} + η_t x_t
y_t = b M_t

rule B = A(a = 3)
gate η > 0 = b b
outer b = 6

rule C over F
state M ∈ ℝ^{d} = 0
M_t = ρ_t M_{t−1} + η_t x_t
y_t = M_t
`
	tree, _, _ := parse(t, page)
	blocks := func(rule string) *check.Block {
		b, ds := check.Instantiate(tree, tree.Units[rule])
		if ds.Len() > 0 {
			t.Fatal(rule, diag.Render(ds.Sorted()))
		}
		return b
	}
	for _, c := range []struct{ rule, name, want string }{
		{"A", "b", "b ∈ ℝ = 5"},
		{"A", "u", "u ∈ ℝ^{d} ~ uniform(0, 1) nodecay"},
		{"A", "ρ", "ρ ∈ [0,1] = ½"},
		{"A", "η", "η ∈ (0,1) = sigmoid(u · x_t)"},
		{"B", "b", "b ∈ ℝ = 6"},
		{"B", "ρ", "ρ ∈ [0,1] = ½"},
		{"B", "η", "η > 0 = b b"},
		{"C", "b", "b ∈ ℝ = by level [1, 2]"},
		{"C", "w", "w ∈ ℝ^{d} ~ normal(0, 1) nodecay"},
		{"C", "ρ", "ρ ∈ (0,1) = sigmoid(w · x_t + b + a) within [0.1,1]"},
	} {
		b := blocks(c.rule)
		s := b.Symbols[c.name]
		if s == nil || s.Decl == nil {
			t.Errorf("%s has no %s", c.rule, c.name)
			continue
		}
		d := &notation.Declare{Keyword: notation.Word{Text: "outer"}, Names: []*notation.DeclName{s.Decl}}
		if got := notation.Print(d, notation.Unicode); got != "outer "+c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
	for rule, want := range map[string]float64{"A": 1, "B": 3} {
		if b := blocks(rule); b.Options["a"] != nil {
			if got, _ := notation.Constant(b.Options["a"].Value); got != want {
				t.Errorf("%s: a = %v, want %v", rule, got, want)
			}
		} else {
			t.Errorf("%s has no option a", rule)
		}
	}
}
