package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// TestRelationsOfAnInvariant holds that each relation of an invariant is decided by
// itself, in rules and in operations.
func TestRelationsOfAnInvariant(t *testing.T) {
	const rule = "rule R\ndims d\ninput x ∈ ℝ^{d}\nouter u ∈ ℝ^{d} ~ uniform(−1, 1)\ngate β ∈ (0,1) = sigmoid(u · x_t)\n" +
		"state S ∈ ℝ^{d} = 0\nS_t = β_t S_{t−1} + (1 − β_t) tanh(u ⊙ x_t)\ny_t = S_t\n"
	const op = "op R(x ∈ ℝ^{n}) → out = sigmoid(x)\n"
	const ramp = "op R(x ∈ ℝ^{n}) → out[i∈n] = i sigmoid(x[i])\n"
	for _, c := range []struct {
		text  string
		items map[string]proof.Verdict
		wrong string // a part of the message
	}{
		{rule + "invariant 0 < β_t < 1\n", map[string]proof.Verdict{"invariant1.1": proof.Proved, "invariant1.2": proof.Proved}, ""},
		{rule + "invariant ∀ i∈d : −1 ≤ S_t[i] ≤ 1 {bounded}\n", map[string]proof.Verdict{"bounded.1": proof.Tested, "bounded.2": proof.Tested}, ""},
		{rule + "invariant ∀ i∈d : −1 ≤ S_t[i] and S_t[i] ≤ 1, β_t > 0\n", map[string]proof.Verdict{"invariant1.1": proof.Tested, "invariant1.2": proof.Tested, "invariant1.3": proof.Proved}, ""},
		{rule + "invariant ∀ i∈d : −1 ≤ S_t[i] ≤ 0\n", map[string]proof.Verdict{"invariant1.1": proof.Tested, "invariant1.2": proof.Failed}, "S_t[i] ≤ 0: after token"},
		{rule + "invariant ∀ i∈d : 0 ≤ S_t[i] ≤ 1\n", map[string]proof.Verdict{"invariant1.1": proof.Failed, "invariant1.2": proof.Tested}, "0 ≤ S_t[i]: after token"},
		{rule + "invariant 0 < β_t ≠ 1\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "compares two numbers"},
		{op + "invariant ∀ i∈n : 0 ≤ out[i] ≤ 1\n", map[string]proof.Verdict{"invariant1.1": proof.Proved, "invariant1.2": proof.Proved}, ""},
		{op + "invariant ∀ i∈n : 0 ≤ out[i] ≤ ½\n", map[string]proof.Verdict{"invariant1.1": proof.Proved, "invariant1.2": proof.Failed}, "does not hold"},
		{op + "invariant 1 > out\n", map[string]proof.Verdict{"invariant1": proof.Proved}, ""},
		{ramp + "invariant 1 ≥ out\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "does not hold at [0 2]"},
		{ramp + "invariant ∀ i∈n, j∈n, i<j : out[i] − out[j] < 1 + j\n", map[string]proof.Verdict{"invariant1": proof.Tested}, ""},
		{"op R(x ∈ ℝ^{n}) → out = max(0, x)\ninvariant out > 0\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "0 > 0 does not hold"},
		{"op R(x ∈ ℝ^{n}) → out = max(0, x)\ninvariant out ≥ 1e-10\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "0 ≥ 1e-10 does not hold"},
		{"op R(x ∈ ℝ^{n}) → out = x / ‖x‖\ninvariant ‖out‖ < 1\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "does not hold"},
		{op + "invariant out > 1e-10\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "> 1e-10 does not hold"},
		{"op R(x ∈ ℝ^{n}, y ∈ ℝ^{m}) → out = x y[0]\ninvariant y ≤ out\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "out is ℝ^{n}, but y is ℝ^{m}"},
		{rule + "invariant 1 ≥ S_t, u ≥ −10000\n", map[string]proof.Verdict{"invariant1.1": proof.Tested, "invariant1.2": proof.Tested}, ""},
		{rule + "invariant 0.2 > S_t\n", map[string]proof.Verdict{"invariant1": proof.Failed}, "after token"},
	} {
		reports, ds := proveText(c.text, false)
		for name, want := range c.items {
			if it := reports[0].Item("r.invariant." + name); it == nil || it.Verdict != want {
				t.Errorf("%s: %s is %v, want %v", c.text, name, it, want)
			}
		}
		if bad := ds.Error(); c.wrong == "" && ds.HasErrors() || !strings.Contains(bad, c.wrong) {
			t.Errorf("%s: the messages are %s", c.text, bad)
		}
	}
}
