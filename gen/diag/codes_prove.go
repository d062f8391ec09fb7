package diag

// Codes of package prove: what a page says and what is true of it.
const (
	InnerGradientDiffers Code = 5001
	OuterGradientDiffers Code = 5002
	ClaimFails           Code = 5003
	KinkFails            Code = 5004
	InvariantFails       Code = 5005
	OutOfDomain          Code = 5006
	CostDiffers          Code = 5007
	MarkerUnfounded      Code = 5008
	UnknownMarker        Code = 5009
	SpecialDiffers       Code = 5010
	EvalDiffers          Code = 5011
	AdjointDiffers       Code = 5012
	DeadStart            Code = 5014
	TagUnbacked          Code = 5015
	NotProvable          Code = 5016
	NotFinite            Code = 5017
	ErratumUnbacked      Code = 5018
	NoRoot               Code = 5019
	StrategyDiffers      Code = 5020
)

var proofCodes = map[Code]Explanation{
	InnerGradientDiffers: {Summary: "A knob's own slope is not the derivative of its loss. The gradient inside an equation is tested on the loss itself, because a doubled one passes every test of the outer gradient.",
		Wrong: lawExample + keepExample + "bias Half\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nslope(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = 2 (y − v)\n",
		Right: lawExample + keepExample + "bias Half\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nslope(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = y − v\n"},
	OuterGradientDiffers: {Summary: "The adjoint of a program is not its derivative as differences measure it: the compiler is wrong, or the function changes faster than a difference can see.",
		Wrong: "op Ripple(x ∈ ℝ^{n}) → out = sin(1000000000 x)\n",
		Right: "op Ripple(x ∈ ℝ^{n}) → out = sin(10 x)\n"},
	ClaimFails: {Summary: "The two sides of a claim differ.",
		Wrong: "op Less(A ∈ ℝ^{n}, B ∈ ℝ^{n}) → out = A − B\nclaim B̄ = out̄\n",
		Right: "op Less(A ∈ ℝ^{n}, B ∈ ℝ^{n}) → out = A − B\nclaim B̄ = −out̄\n"},
	KinkFails: {Summary: "A value jumps, or its slope does, where the page says that it does not.",
		Wrong: "shrink(x ∈ ℝ) = { x − 1 if x > 1 ; 1 otherwise }\nop Soft(x ∈ ℝ^{n}) → out[i∈n] = shrink(x[i])\nkink x[i] = 1 : C⁰\n",
		Right: "shrink(x ∈ ℝ) = { x − 1 if x > 1 ; 0 otherwise }\nop Soft(x ∈ ℝ^{n}) → out[i∈n] = shrink(x[i])\nkink x[i] = 1 : C⁰\n"},
	InvariantFails: {Summary: "An invariant does not hold after some step.",
		Wrong: "op Share(x ∈ ℝ^{n}) → out[i∈n] = exp(x[i])\ninvariant Σ_{i∈n} out[i] = 1\n",
		Right: "op Share(x ∈ ℝ^{n}) → out[i∈n] = softmax_{i}(x[i])\ninvariant Σ_{i∈n} out[i] = 1\n"},
	OutOfDomain: {Summary: "A gate or a state leaves the set that the page declares for it.",
		Wrong: "rule Keep\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = w · x_t\nstate M ∈ ℝ^{d} = 0\nM_t = ρ_t M_{t−1} + x_t\ny_t = M_t\n",
		Right: "rule Keep\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\nstate M ∈ ℝ^{d} = 0\nM_t = ρ_t M_{t−1} + x_t\ny_t = M_t\n"},
	CostDiffers: {Summary: "A step takes another number of operations than the page says. A multiply-add, a lone product and a lone sum count one each.",
		Wrong: "rule Sum\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d×d} = 0\nM_t = M_{t−1} + x_t x_tᵀ\ny_t = M_t x_t\ncost write+read = d² + O(d)\n",
		Right: "rule Sum\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d×d} = 0\nM_t = M_{t−1} + x_t x_tᵀ\ny_t = M_t x_t\ncost write+read = 2·d² + O(d)\n"},
	MarkerUnfounded: {Summary: "The equations do not have a property that the page provides.",
		Wrong: "rule Bent\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = tanh(M_{t−1}) + x_t\ny_t = M_t\nprovides AffineInState(M)\n",
		Right: "rule Scaled\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} ⊙ x_t + x_t\ny_t = M_t\nprovides AffineInState(M)\n"},
	UnknownMarker: {Summary: "A property is not known to the compiler.",
		Wrong: "rule Held\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\nprovides Casual\n",
		Right: "rule Held\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\nprovides Causal\n"},
	SpecialDiffers: {Summary: "The two sides of a special case are not the same function.",
		Wrong: "rule Plain\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\nrule Fading\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\nstate M ∈ ℝ^{d} = 0\nM_t = ρ_t M_{t−1} + x_t\ny_t = M_t\nspecial Plain = Fading with ρ := 0\n",
		Right: "rule Plain\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t\nrule Fading\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\nstate M ∈ ℝ^{d} = 0\nM_t = ρ_t M_{t−1} + x_t\ny_t = M_t\nspecial Plain = Fading with ρ := 1\n"},
	EvalDiffers: {Summary: "A value is computed as something else than it is.",
		Wrong: "op Grow(x ∈ ℝ^{n}) → out = exp(x) − 1\neval out = expm1(x) + x\n",
		Right: "op Grow(x ∈ ℝ^{n}) → out = exp(x) − 1\neval out = expm1(x)\n"},
	AdjointDiffers: {Summary: "A declared adjoint is not the derivative of what the page relaxes the value to.",
		Wrong: "step(x ∈ ℝ) = { 1 if x > 0 ; 0 otherwise }\nop Gate(x ∈ ℝ^{n}) → out = step(x)\nadjoint x̄ = 2 out̄ \"straight-through\"\nrelax out = x\n",
		Right: "step(x ∈ ℝ) = { 1 if x > 0 ; 0 otherwise }\nop Gate(x ∈ ℝ^{n}) → out = step(x)\nadjoint x̄ = out̄ \"straight-through\"\nrelax out = x\n"},
	DeadStart: {Summary: "At the values that everything starts from, a learned parameter receives no gradient, so it never learns.",
		Wrong: "rule Deep\ndims d\ninput x ∈ ℝ^{d}\nouter A, B ∈ ℝ^{d×d} = 0\ny_t = A (B x_t)\n",
		Right: "rule Deep\ndims d\ninput x ∈ ℝ^{d}\nouter A, B ∈ ℝ^{d×d} ~ uniform(−1, 1)\ny_t = A (B x_t)\n"},
	TagUnbacked: {Summary: "A tagged statement of the header needs a line with that tag in a block of its page.",
		Wrong: "# Twice\n\n```text\nCONTRACT\n  Purpose:    Double.\n  Expects:    Anything\n  Guarantees: The adjoint is doubled {vjp}\n  Cost:       One product\n  Trade-off:  None\n  Position:   twice.md\n  Source:     none\n```\n\n```hecate\nop Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = 2 out̄\n```\n", Page: true,
		Right: "# Twice\n\n```text\nCONTRACT\n  Purpose:    Double.\n  Expects:    Anything\n  Guarantees: The adjoint is doubled {vjp}\n  Cost:       One product\n  Trade-off:  None\n  Position:   twice.md\n  Source:     none\n```\n\n```hecate\nop Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = 2 out̄  {vjp}\n```\n"},
	NotProvable: {Summary: "A line cannot be checked: it speaks of something that its block does not have.",
		Wrong: "op Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim ≡ sequential\n",
		Right: "op Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = 2 out̄\n"},
	NotFinite: {Summary: "A program gives something that is no number, or none that float32 holds, for input that its page allows.",
		Wrong: "op Root(x ∈ ℝ^{n}) → out = sqrt(x)\n",
		Right: "op Root(x ∈ (0,∞)^{n}) → out = sqrt(x)\n"},
	ErratumUnbacked: {Summary: "An erratum rests on a claim that the page does not have.",
		Wrong: "op Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = 2 out̄  {vjp}\nerratum paper#1 \"factor two\" by claim slope\n",
		Right: "op Twice(A ∈ ℝ^{n}) → out = 2 A\nclaim Ā = 2 out̄  {vjp}\nerratum paper#1 \"factor two\" by claim vjp\n"},
	StrategyDiffers: {Summary: "A strategy says that it computes a rule, and gives something else than the rule does, token by token.",
		Wrong: chunkExample + "y_t = g_t M° + Σ_{i∈C, i<t} c_t[i] x_i\nclaim ≡ sequential\nrule Fast = Chunks(Mean)\n",
		Right: chunkExample + "y_t = g_t M° + Σ_{i∈C, i≤t} c_t[i] x_i\nclaim ≡ sequential\nrule Fast = Chunks(Mean)\n"},
	NoRoot: {Summary: "The equation that defines an unknown does not have exactly one root in its range, or is flat there.",
		Wrong: "op Centre(x ∈ ℝ^{n}) → out = ζ\nsolve ζ ∈ [2, 9] : Σ_{i∈n} tanh(x[i] − ζ) = 0 tol 1e-10\n",
		Right: "op Centre(x ∈ ℝ^{n}) → out = ζ\nsolve ζ ∈ [−9, 9] : Σ_{i∈n} tanh(x[i] − ζ) = 0 tol 1e-10\n"},
}

// lawExample and knobsExample are what the examples about knobs need besides
// the knob in question.
const lawExample = "law Step(structure, bias, algorithm, retention)\nslope(y, v) = ∇_y ℓ(y, v)\nJ(W, e) = F(W) · e\ne_t = slope(F(W_{t−1}), V)\nU_t = step(∇_W J(W_{t−1}, e_t))\nW_t = join(W_{t−1}, U_t; ρ_t, θ_t)\n"

const keepExample = "retention Keep\njoin(Z, U; ρ, θ) = ρ Z + U\n"

const knobsExample = lawExample + "front Bare\ndims d\ninput x ∈ ℝ^{d}\nouter w ∈ ℝ^{d} ~ uniform(−1, 1)\nk_t = x_t\nv_t = x_t\nq_t = x_t\ngate ρ ∈ (0,1) = sigmoid(w · x_t)\ngate θ > 0 = softplus(w · x_t)\n" +
	"structure Flat\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nbias Half\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nalgorithm Down\nstep(G) = −θ_t G\n"

// chunkExample is a rule and a strategy without its read.
const chunkExample = "rule Mean\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = 0.9 M_{t−1} + x_t\ny_t = M_t\n\n" +
	"strategy Chunks(memory : Rule)\noption C ≥ 1 = 4 per chunk\nsnap M°\nstate g ∈ ℝ = 1 per chunk, c ∈ ℝ^{C} = 0 per chunk\n" +
	"g_t = 0.9 g_{t−1}\nc_t[i∈C] = 0.9 c_{t−1}[i] + { 1 if i = t ; 0 otherwise }\nM_t = g_t M° + Σ_{i∈C} c_t[i] x_i\n"
