package prove_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/proof"
)

const gated = "rule Gated\ndims d\ninput x ∈ ℝ^{d}\nouter w, u ∈ ℝ^{d} ~ normal(0, 1), b ∈ ℝ = 0\nstate S ∈ ℝ^{d} = 0\n"

// TestRanges: a range that the equations imply is proved, one that they leave is
// refused with the range that they have, and anything else is tested, with how
// close it came.
func TestRanges(t *testing.T) {
	for _, test := range []struct {
		gate, note string // of the report, or of the message
		want       proof.Verdict
	}{
		{"gate β ∈ (0,1) = sigmoid(w · x_t + b)", "by interval arithmetic: (0, 1)", proof.Proved},
		{"gate β ∈ (0,0.999) = sigmoid(w · x_t + b)", "β ∈ (0,0.999): the equation takes every value in (0, 1)", proof.Failed},
		{"gate β ∈ (0.001,1) = sigmoid(w · x_t)", "every value in (0, 1)", proof.Failed},
		{"gate β > 0 = softplus(w · x_t)", "(0, ∞)", proof.Proved},
		{"gate β ∈ (0,5) = softplus(w · x_t)", "every value in (0, ∞)", proof.Failed},
		{"gate β ∈ [0,5] = softplus(w · x_t) within [0, 5]", "(0, 5]", proof.Proved},
		{"gate β ∈ (−1,1) = tanh(w · x_t)", "(−1, 1)", proof.Proved},
		{"gate β ∈ (0,1) = tanh(w · x_t)", "every value in (−1, 1)", proof.Failed},
		{"gate β ∈ (0,1) = exp(−softplus(w · x_t))", "(0, 1)", proof.Proved},
		{"gate β ∈ (0.5,1) = exp(−softplus(w · x_t))", "every value in (0, 1)", proof.Failed},
		{"gate β ≥ 0 = ‖x_t‖", "[0, ∞)", proof.Proved},
		{"gate β ≥ 1 = 1 + x_t · x_t", "[1, ∞)", proof.Proved},
		{"gate β ∈ (0,1) = sigmoid(w · x_t) sigmoid(u · x_t)", "(0, 1)", proof.Proved},
		{"gate β ∈ (0,0.9) = sigmoid(w · x_t) sigmoid(b)", "every value in (0, 1)", proof.Failed},
		{"gate β ∈ (0,1) = 1 / (1 + exp(w · x_t))", "(0, 1)", proof.Proved},
		{"gate β ∈ (0.5,1.5) = 1 + 0.5 tanh(w · x_t)", "(0.5, 1.5)", proof.Proved},
		{"gate β ∈ [0,1] = max(0, min(1, b + w · x_t))", "[0, 1]", proof.Proved},
		{"gate β ∈ [0,1] = softplus(b) / (1 + softplus(b))", "closest by", proof.Tested},
		{"gate β ∈ [0,0.25] = sigmoid(b) (1 − sigmoid(b))", "closest by", proof.Tested},
		{"gate β ∈ [0,0.2] = sigmoid(b) (1 − sigmoid(b))", "is outside", proof.Failed},
		{"gate β ∈ (−30,30) = 2 b − b", "is outside", proof.Failed},
		{"gate β > 0 = max(0, w · x_t − 1)", "every value in [0, ∞)", proof.Failed},
		{"gate β ∈ (0,1) = w · x_t within [0, 1]", "every value in [0, 1]", proof.Failed},
		{"gate β ∈ (0,1) = exp(−softplus(w · x_t)) + 1e-9", "every value in (1e-09, 1)", proof.Failed},
		{"gate β ∈ [1e-10,1] = sigmoid(w · x_t)", "every value in (0, 1)", proof.Failed},
	} {
		reports, ds := proveText(gated+test.gate+"\nS_t = β_t S_{t−1} + (w · x_t + u · x_t + b) x_t\ny_t = S_t\n", false)
		it := reports[0].Item("gated.domain.beta")
		if it == nil || it.Verdict != test.want || !strings.Contains(it.Detail()+ds.Error(), test.note) {
			t.Errorf("%s: %v\n%s", test.gate, it, ds.Error())
		}
		if test.want != proof.Failed && ds.HasErrors() {
			t.Errorf("%s: %s", test.gate, ds.Error())
		}
	}
}

// TestInvariantVerdicts: what holds at sampled points alone is tested, and a bound
// that large inputs break is refused.
func TestInvariantVerdicts(t *testing.T) {
	const rule = gated + "gate β ∈ (0,1) = sigmoid(w · x_t + b)\n"
	for _, test := range []struct {
		lines, note string
		want        proof.Verdict
	}{
		{"S_t = β_t S_{t−1} + u ⊙ x_t\ny_t = S_t\ninvariant ‖S_t‖ ≤ 1000\n", "with large learned numbers and tokens", proof.Failed},
		{"S_t = β_t S_{t−1} + tanh(u ⊙ x_t)\ny_t = S_t\ninvariant ‖S_t‖ ≤ 1000\n", "closest by", proof.Tested},
		{"S_t = β_t S_{t−1} + (1 − β_t) tanh(u ⊙ x_t)\ny_t = S_t\ninvariant ∀ i∈d : |S_t[i]| ≤ 1\n", "closest by", proof.Tested},
		{"S_t = β_t S_{t−1} + tanh(u ⊙ x_t)\ny_t = S_t\ninvariant ‖tanh(S_t)‖² ≥ 0\n", "by interval arithmetic", proof.Proved},
		{"S_t = β_t S_{t−1} + tanh(u ⊙ x_t)\ny_t = S_t\ninvariant ∀ i∈d : β_t ≤ 1.5 + tanh(S_t[i])²\n", "by interval arithmetic", proof.Proved},
		{"S_t = β_t S_{t−1} + u ⊙ x_t\ny_t = S_t\ninvariant ∀ i∈d : S_t[i] − β_t S_{t−1}[i] = u[i] x_t[i]\n", "worst", proof.Tested},
	} {
		reports, ds := proveText(rule+test.lines, false)
		it := reports[0].Item("gated.invariant.invariant1")
		if it == nil || it.Verdict != test.want || !strings.Contains(it.Detail()+ds.Error(), test.note) {
			t.Errorf("%s: %v\n%s", test.lines, it, ds.Error())
		}
	}
	for _, test := range []struct {
		op   string
		want proof.Verdict
	}{
		{"op A(x ∈ ℝ^{n}) → out = sigmoid(x)\ninvariant ∀ i∈n : out[i] ≤ 1\n", proof.Proved},
		{"op A(x ∈ ℝ^{n}) → out = sigmoid(x)\ninvariant ∀ i∈n : out[i] ≤ 0.999\n", proof.Failed},
		{"op A(x ∈ ℝ^{n}) → out = x ⊙ x\ninvariant ∀ i∈n : out[i] ≥ 0\n", proof.Proved},
		{"op A(x ∈ ℝ^{n}) → out = x ⊙ x\ninvariant ∀ i∈n : out[i] ≤ 100\n", proof.Failed},
		{"op A(x ∈ ℝ^{n}) → out = x / (1 + ‖x‖)\ninvariant ‖out‖ ≤ 1\n", proof.Tested},
	} {
		reports, ds := proveText(test.op, false)
		if it := reports[0].Item("a.invariant.invariant1"); it == nil || it.Verdict != test.want {
			t.Errorf("%s: %v\n%s", test.op, it, ds.Error())
		}
	}
}

// TestStateRange: the range of a state is proved by induction from its first
// value, and not where it begins outside or leaves.
func TestStateRange(t *testing.T) {
	const rule = gated + "gate β ∈ (0,1) = sigmoid(w · x_t + b)\nS_t = S_{t−1} + (g_t) u ⊙ x_t\ny_t = S_t\n"
	for _, test := range []struct {
		state, step string
		want        proof.Verdict
	}{
		{"state g ∈ (0,1] = 1", "g_t = β_t g_{t−1}", proof.Proved},
		{"state g ∈ [0,1] = 0", "g_t = g_{t−1} + β_t (1 − g_{t−1})", proof.Tested},
		{"state g ∈ (0,1] = 2", "g_t = β_t g_{t−1}", proof.Failed},
		{"state g ∈ [0,1] = 0", "g_t = g_{t−1} + β_t", proof.Failed},
	} {
		text := strings.Replace(rule, "gate β", test.state+"\ngate β", 1) + test.step + "\n"
		reports, ds := proveText(text, false)
		if it := reports[0].Item("gated.domain.g"); it == nil || it.Verdict != test.want {
			t.Errorf("%s, %s: %v\n%s", test.state, test.step, it, ds.Error())
		}
	}
}
