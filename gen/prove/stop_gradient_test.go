package prove_test

import "testing"

// A stopped value has no gradient, and that is what the page means.
func TestStop(t *testing.T) {
	for _, text := range []string{
		"op Half(x ∈ ℝ^{n}) → out = x ⊙ stop(x ⊙ x)\n",
		"rule Detached\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\nstate M ∈ ℝ^{d} = 0\nM_t = stop(sigmoid(M_{t−1})) ⊙ M_{t−1} + w ⊙ x_t\ny_t = M_t ⊙ stop(M_t)\n",
	} {
		if reports, ds := proveText(text, false); ds.HasErrors() {
			t.Errorf("%s\n%v", ds.Error(), reports[0])
		}
	}
}
