package diag

// Codes of the composition of knobs: what fits with what.
const (
	// IllegalFormula occurs when a knob requires a property that no other knob
	// of the formula provides.
	IllegalFormula Code = 3013
	// EitherOr occurs when a required property is provided by knobs of two
	// kinds, so that no single choice decides whether a combination is legal.
	EitherOr Code = 3014
	// UnbuiltFormula occurs when knobs may be combined, as far as their pages
	// say, and yet no rule can be made of them.
	UnbuiltFormula Code = 3015
)

func init() {
	register(map[Code]Explanation{
		IllegalFormula: {Summary: "A knob requires a property that no other knob of the formula provides. The sentence is the one on the knob's page; the Go compiler and the run-time check give the same.",
			Wrong: knobsExample + "retention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires ProbabilitySimplex(Z) \"rows must sum to one\"\nrule R = Flat + Half + Rows + Down over Bare\n",
			Right: knobsExample + "retention Fade\njoin(Z, U; ρ, θ) = ρ Z + U\nrule R = Flat + Half + Fade + Down over Bare\n"},
		EitherOr: {Summary: "Whether a knob fits must follow from one other choice. Here two kinds of knobs could provide what it requires; give the two properties names of their own.",
			Wrong: knobsExample + "provides Causal\nstructure Flat2\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nprovides Causal\nretention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires Causal \"one of them must be causal\"\n",
			Right: knobsExample + "structure Flat2\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nprovides Causal\nretention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires Causal \"the structure must be causal\"\n"},
		UnbuiltFormula: {Summary: "By their pages these knobs may be combined, but the compiler cannot make a rule of them over any front. Say so with a line `requires … \"reason\"`, or mend the pages.",
			Wrong: knobsExample + "retention Odd\njoin(Z, U; ρ, θ) = ρ Z + U Uᵀ Zᵀ k_t\n",
			Right: knobsExample + "retention Even\njoin(Z, U; ρ, θ) = ρ Z + U\n"},
	})
}
