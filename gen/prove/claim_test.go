package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// The caret is under the summand that is to blame, and the label says how.
func TestWrongTerm(t *testing.T) {
	const delta = ruleHead + "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n"
	tests := []struct{ text, caret, label string }{
		{delta + "claim M̄_{t−1} = ρ_t M̄_t + (M̄_t x_t) x_tᵀ\n", "(M̄_t x_t) x_tᵀ", "the sign is wrong"},
		{delta + "claim M̄_{t−1} = 2 ρ_t M̄_t − (M̄_t x_t) x_tᵀ\n", "2 ρ_t M̄_t", "should be 0.5 times this"},
		{delta + "claim M̄_{t−1} = ρ_t M̄_t − (M̄_t x_t) x_tᵀ + M̄_t\n", "M̄_t", "should not be there"},
		{delta + "claim v̄_t = −(M̄_t x_t)\n", "−(M̄_t x_t)", "the sign is wrong"},
		{"op Twice(A ∈ ℝ^{m×n}) → out = 2 A\nclaim Ā = D\n  with D[i∈m, j∈n] = out̄[i,j] + 3 out̄[i,j]\n", "", ""},
		{"op Mix(A ∈ ℝ^{m×n}, b ∈ ℝ^{n}) → out = A b\nclaim b̄ = D\n  with D[j∈n] = Σ_{i∈m} A[i,j] out̄[i] + b[j]\n", "b[j]", "should not be there"},
	}
	for _, test := range tests {
		_, ds := proveText(test.text, false)
		n := 0
		for _, d := range ds.Sorted() {
			if d.Code != diag.ClaimFails {
				continue
			}
			n++
			if got := d.Span.Text(); test.caret != "" && got != test.caret || test.label != "" && d.Label != test.label {
				t.Errorf("caret under %q with %q, want %q with %q", got, d.Label, test.caret, test.label)
			}
			if len(d.Related) == 0 {
				t.Errorf("%q: no second place", d.Text)
			}
		}
		if n != 1 {
			t.Errorf("%d messages: %s", n, ds.Error())
		}
	}
}

// What is true is proved, or tested where the normal form does not decide.
func TestClaims(t *testing.T) {
	const delta = ruleHead + "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n"
	tests := []struct {
		text string
		want proof.Verdict
	}{
		{delta + "claim M̄_{t−1} = ρ_t M̄_t − (M̄_t x_t) x_tᵀ\n", proof.Proved},
		{delta + "claim M_t x_t = ρ_t M_{t−1} x_t − (x_t · x_t) (M_{t−1} x_t − v_t)\n", proof.Proved},
		{delta + "claim ρ̄_t = ⟨M̄_t, M_{t−1}⟩\n", proof.Proved},
		{"op Even(x ∈ ℝ^{n}) → out = cos(x) ⊙ cos(x)\nclaim out = ½ (1 + cos(2 x))\n", proof.Tested},
		{"op Square(x ∈ ℝ^{n}) → out = x ⊙ x\nclaim x̄ = 2 x ⊙ out̄\n", proof.Proved},
	}
	for _, test := range tests {
		reports, ds := proveText(test.text, false)
		for _, it := range reports[0].Items {
			if it.Kind == proof.Claim && it.Verdict != test.want {
				t.Errorf("%s is %v, want %v: %s", it.Text, it.Verdict, test.want, ds.Error())
			}
		}
	}
}

// TestNearlyTrue: what is false by a part in 10¹² is refused, in every place,
// and what differs by the rounding of coefficients is not.
func TestNearlyTrue(t *testing.T) {
	const delta = ruleHead + "M_t = ρ_t M_{t−1} − (M_{t−1} x_t − v_t) x_tᵀ\ny_t = M_t x_t\n"
	for _, test := range []struct {
		text string
		ok   bool
	}{
		{"op Square(x ∈ ℝ^{n}) → out = x ⊙ x\nclaim x̄ = 2.000000000002 x ⊙ out̄\n", false},
		{"op Square(x ∈ ℝ^{n}) → out = x ⊙ x\nclaim x̄ = 2 x ⊙ out̄ + 1e-12\n", false},
		{"op Sig(x ∈ ℝ^{n}) → out = sigmoid(x)\nclaim x̄ = 1.000000000001 out̄ ⊙ sigmoid(x) ⊙ (1 − sigmoid(x))\n", false},
		{"op Sig(x ∈ ℝ^{n}) → out = sigmoid(x)\nclaim x̄ = out̄ ⊙ sigmoid(x) ⊙ sigmoid(−x)\n", true},
		{"op Step(x ∈ ℝ^{n}) → out = sign(x)\nadjoint x̄ = 1.000000000001 out̄ \"close to it\"\nrelax out = x\n", false},
		{"op Fast(x ∈ ℝ^{n}) → out = softplus(x)\neval out = max(x, 0) + log1p(exp(−|x|)) + 1e-12\n", false},
		{"op Cube(x ∈ ℝ^{n}) → out = 0.1 x ⊙ x ⊙ x\nclaim x̄ = 0.3 x ⊙ x ⊙ out̄\n", true},
		{"op Small(x ∈ ℝ^{n}) → out = 1e-4 x ⊙ x\nclaim x̄ = 2.000000000004e-4 x ⊙ out̄\n", false},
		{delta + "claim M̄_{t−1} = 1.000000000001 ρ_t M̄_t − (M̄_t x_t) x_tᵀ\n", false},
		{delta + "claim v̄_t = M̄_t x_t + 1e-12 x_t\n", false},
	} {
		if _, ds := proveText(test.text, false); ds.HasErrors() == test.ok {
			t.Errorf("%s: %s", test.text, ds.Error())
		}
	}
}

// A doubled inner gradient is seen by the inner test and by nothing else.
func TestInnerGradientAlone(t *testing.T) {
	reports, ds := proveText("law Step(structure, bias, algorithm, retention)\nslope(y, v) = ∇_y ℓ(y, v)\nJ(W, e) = F(W) · e\ne_t = slope(F(W_{t−1}), V)\nU_t = step(∇_W J(W_{t−1}, e_t))\nW_t = join(W_{t−1}, U_t; ρ_t, θ_t)\n"+
		"front Bare\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\nk_t = x_t\nv_t = x_t\nq_t = x_t\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\ngate θ > 0 = softplus(w · x_t)\n"+
		"structure Flat\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nbias Half\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nslope(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = 2 (y − v)\nalgorithm Down\nstep(G) = −θ_t G\nretention Keep\njoin(Z, U; ρ, θ) = ρ Z + U\nrule R = Flat + Half + Keep + Down over Bare\n", false)
	var failed []string
	for _, r := range reports {
		for _, it := range r.Items {
			if it.Verdict == proof.Failed {
				failed = append(failed, it.ID)
			}
		}
	}
	if len(failed) != 1 || failed[0] != "half.inner-gradient.slope" {
		t.Errorf("failed: %v\n%s", failed, ds.Error())
	}
}
