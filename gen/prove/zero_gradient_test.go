package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
)

// A parameter without a start is zero, and a product of two such is a trap.
func TestStartless(t *testing.T) {
	const rule = "rule R\ndims d, e\ninput x ∈ ℝ^{d}\nouter A ∈ ℝ^{e×d}\nouter B ∈ ℝ^{e×e} ~ uniform(−1, 1)\nouter C ∈ ℝ^{e×d}\n"
	for body, want := range map[string]int{
		"y_t = C x_t\n":                 0,
		"y_t = B tanh(C x_t) + A x_t\n": 1,
		"y_t = (A x_t) ⊙ (C x_t)\n":     2,
	} {
		_, ds := proveText(rule+body, false)
		n := 0
		for _, d := range ds.Sorted() {
			if d.Code == diag.DeadStart {
				n++
			}
		}
		if n != want || ds.Len() != n {
			t.Errorf("%s: %s", body, diag.Render(ds.Sorted()))
		}
	}
}

// TestWildStart: a start whose gradients are no numbers is not called dead.
func TestWildStart(t *testing.T) {
	_, ds := proveText("rule Wild\ndims d\ninput x ∈ ℝ^{d}\nouter a ∈ ℝ^{d} = 60\nstate s ∈ ℝ^{d} = 0\ns_t = s_{t−1} + exp(a ⊙ a) ⊙ x_t\ny_t = s_t\n", false)
	if got := ds.Error(); !strings.Contains(got, "a gradient of Wild is not finite in float32 at the values that it starts from") || strings.Contains(got, "receives no gradient") {
		t.Error(got)
	}
}
