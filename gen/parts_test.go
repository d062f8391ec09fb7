package gen_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestPartsByName holds that a part under its name is emitted as the same part
// in its place.
func TestPartsByName(t *testing.T) {
	text := "```hecate\n" +
		"compose Same\noption w ≥ 1 = 2\ndims d\ninput X ∈ ℝ^{T×d}\nout[t∈T] = X[t]\n" +
		"rule Sum\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\n" +
		"compose Pair(memory : Rule, other : Composition)\ndims d\ninput X ∈ ℝ^{T×d}\na = memory(X)\nout = other(a)\n" +
		"compose A = Pair(Sum, Same(w = 3))\ncompose B = Pair(memory = Sum, other = Same(w = 3))\ncompose C = Pair(other = Same(w = 3), memory = Sum)\n```\n"
	s, _ := gen.LoadFiles(source.NewFile("page.md", text))
	for _, name := range []string{"A", "B", "C"} {
		want := abi.Applied{Unit: "Pair", Sizes: map[string]int{}, Parts: []abi.Applied{
			{Unit: "Sum", Part: "memory", Sizes: map[string]int{}},
			{Unit: "Same", Part: "other", Sizes: map[string]int{"w": 3}}}}
		got := gen.Applied(s.Tree, s.Tree.Units[name].Formula.Parts[0])
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
