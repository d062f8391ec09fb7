package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
)

// Definitions that need each other, each twice, once took for ever.
func TestCycles(t *testing.T) {
	for _, text := range []string{
		"op Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = D\n  with D = E + E, E = F ⊙ F, F = D − D\n",
		"f(x ∈ ℝ) = g(x) + g(x)\ng(x ∈ ℝ) = f(x) − f(x)\nop Loop(A ∈ ℝ) → out = f(A) + g(A)\n",
	} {
		_, ds := proveText(text, false)
		n := 0
		for _, d := range ds.Sorted() {
			if d.Code == diag.Cycle {
				n++
			}
		}
		if n == 0 || n > 2 {
			t.Errorf("%d messages about the cycle: %s", n, ds.Error())
		}
	}
}
