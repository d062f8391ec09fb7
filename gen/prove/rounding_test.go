package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// TestRoundedCoefficients: a proof does not hold of coefficients that rounding has
// changed, and a result that rounding decides is an error of the page and not of the
// compiler.
func TestRoundedCoefficients(t *testing.T) {
	for _, c := range []struct {
		text  string
		claim proof.Verdict
		wrong string
	}{
		{"out = 1e17 x + x − 1e17 x\nclaim out = 0 x", proof.Failed, "rounding decides out"},
		{"out = 1e10 (1e10 x + 1e-7 x) − 1e20 x\nclaim out = 0 x", proof.Failed, "rounding decides out"},
		{"out = x\nclaim 1e17 out = 1e17 x + 3 x", proof.Tested, ""},
		{"out = x\nclaim x̄ = out̄ + 1e-16 out̄", proof.Tested, ""},
		{"out = 1e6 (0.1 x + 0.2 x) − 3e5 x\nclaim out = 1e6 (0.1 x + 0.2 x) − 3e5 x", proof.Proved, ""},
		{"out = (x + 1e6) − 1e6\nclaim out = x", proof.Proved, ""},
	} {
		reports, ds := proveText("op R(x ∈ ℝ^{n}) → "+c.text+"\n", false)
		var got *proof.Item
		for i, it := range reports[0].Items {
			if it.Kind == proof.Claim {
				got = &reports[0].Items[i]
			}
		}
		if got == nil || got.Verdict != c.claim || c.wrong == "" && ds.HasErrors() || !strings.Contains(ds.Error(), c.wrong) {
			t.Errorf("%s: %v\n%s", c.text, got, ds.Error())
		}
	}
	if _, ds := proveText("rule R\ndims d\ninput x ∈ ℝ^{d}\nstate s ∈ ℝ^{d} = 0\ns_t = 0.5 s_{t−1} + x_t\ny_t = s_t + 1e6 ((x_t + 1) − x_t − 1)\n", false); ds.HasErrors() {
		t.Error(ds.Error())
	}
}

// TestSpecialOfOtherGradients: two rules of one function and other gradients are no
// special case of one another.
func TestSpecialOfOtherGradients(t *testing.T) {
	const head = "\ndims d\ninput x ∈ ℝ^{d}\nstate s ∈ ℝ^{d} = 0\ns_t = 0.5 s_{t−1} + "
	for right, want := range map[string]string{"x_t": "", "stop(x_t)": "adjoint of x", "x_t + tanh(stop(x_t)) − tanh(x_t)": "adjoint of x"} {
		_, ds := proveText("rule A"+head+"x_t\ny_t = s_t\n\nrule B"+head+right+"\ny_t = s_t\nspecial A = B\n", false)
		if want == "" && ds.HasErrors() || !strings.Contains(ds.Error(), want) {
			t.Errorf("%s: %s", right, ds.Error())
		}
	}
}
