package diag

// Codes of package check: names, pages, options, axes and time.
const (
	DuplicateName   Code = 3001
	UnknownName     Code = 3002
	UnknownPage     Code = 3003
	WrongPageKind   Code = 3004
	UnknownOption   Code = 3005
	BadOption       Code = 3006
	UnknownAxis     Code = 3007
	Cycle           Code = 3008
	TimeSuffix      Code = 3009
	ReservedName    Code = 3010
	MissingEquation Code = 3011
	NotHere         Code = 3012
	BadPart         Code = 3016
	BadFit          Code = 3017
	ChangesNothing  Code = 3018
)

var checkCodes = map[Code]Explanation{
	DuplicateName: {Summary: "A name is defined twice.",
		Wrong: "op Twice(x ∈ ℝ^{n}) → out = x + x\nop Twice(x ∈ ℝ^{n}) → out = x + x",
		Right: "op Twice(x ∈ ℝ^{n}) → out = x + x\nop Thrice(x ∈ ℝ^{n}) → out = x + x + x"},
	UnknownName: {Summary: "An equation uses a name that nothing declares.",
		Wrong: "op Shift(x ∈ ℝ^{n}) → out = x + y",
		Right: "op Shift(x ∈ ℝ^{n}, y ∈ ℝ^{n}) → out = x + y"},
	UnknownPage: {Summary: "A formula names a page that does not exist.",
		Wrong: "rule Echo over Projectd\ny_t = v_t",
		Right: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain\ny_t = v_t"},
	WrongPageKind: {Summary: "A page is used where another kind is required.",
		Wrong: "bias Square\nℓ(y ∈ ℝ^{n}, v ∈ ℝ^{n}) = ½ ‖y − v‖²\nrule Echo over Square\ny_t = v_t",
		Right: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain\ny_t = v_t"},
	UnknownOption: {Summary: "A formula sets an option that the page does not have.",
		Wrong: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain(conv = 4)\ny_t = v_t",
		Right: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain\ny_t = v_t"},
	BadOption: {Summary: "The value of an option is outside its domain.",
		Wrong: "front Plain\noption unit ∈ {off, on} = off\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain(unit = maybe)\ny_t = v_t",
		Right: "front Plain\noption unit ∈ {off, on} = off\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain(unit = on)\ny_t = v_t"},
	UnknownAxis: {Summary: "A shape uses an axis that no dims line declares.",
		Wrong: "front Plain\ndims d\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain\ny_t = v_t",
		Right: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\nrule Echo over Plain\ny_t = v_t"},
	Cycle: {Summary: "Equations of one token depend on each other.",
		Wrong: "rule Loop\ndims d\ninput x ∈ ℝ^{d}\na_t = b_t + x_t\nb_t = a_t\ny_t = b_t",
		Right: "rule Line\ndims d\ninput x ∈ ℝ^{d}\nb_t = x_t + x_t\na_t = b_t + x_t\ny_t = a_t"},
	TimeSuffix: {Summary: "A value is read at a token at which it is not defined.",
		Wrong: "rule Late\ndims d\ninput x ∈ ℝ^{d}\nk_t = x_t\ny_t = k_{t−1}",
		Right: "rule Prompt\ndims d\ninput x ∈ ℝ^{d}\nk_t = x_t\ny_t = k_t"},
	ReservedName: {Summary: "A name would collide with a word of Go, of a file system or with another name once it is emitted.",
		Wrong: "op Func(func ∈ ℝ^{n}) → out = func",
		Right: "op Same(f ∈ ℝ^{n}) → out = f"},
	MissingEquation: {Summary: "A state or an output has no equation, or a part no call.",
		Wrong: "rule Still\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\ny_t = M_t + x_t",
		Right: "rule Moving\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t + x_t"},
	BadPart: {Summary: "A formula gives a page parts that it does not have, one of them twice, or not all.",
		Wrong: "compose Same\ndims d\ninput X ∈ ℝ^{T×d}\nout[t∈T] = X[t]\ncompose Twice(first : Composition, second : Composition)\ndims d\ninput X ∈ ℝ^{T×d}\na = first(X)\nout = second(a)\ncompose Both = Twice(first = Same, first = Same)",
		Right: "compose Same\ndims d\ninput X ∈ ℝ^{T×d}\nout[t∈T] = X[t]\ncompose Twice(first : Composition, second : Composition)\ndims d\ninput X ∈ ℝ^{T×d}\na = first(X)\nout = second(a)\ncompose Both = Twice(first = Same, second = Same)"},
	BadFit: {Summary: "A fit line lists the arguments of its prediction: each weight without a time suffix, everything else with one.",
		Wrong: knobsExample + "structure Two\nweight A, B ∈ ℝ^{d×d} = 0\nfit A, B : A k_t → v_t\ny_t = A_t q_t\nretention Fade\njoin(Z, U; ρ, θ) = ρ Z + U\nrule R = Two + Half + Fade + Down over Bare\n",
		Right: knobsExample + "structure Two\nweight A, B ∈ ℝ^{d×d} = 0\nfit A, B : B (A k_t) → v_t\ny_t = B_t (A_t q_t)\nretention Fade\njoin(Z, U; ρ, θ) = ρ Z + U\nrule R = Two + Half + Fade + Down over Bare\n"},
	ChangesNothing: {Summary: "A rule redefines something of its front, or declares a gate, and nothing reads it.",
		Wrong: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\ngate ρ ∈ (0,1) = 0.5\nrule Echo over Plain\ngate roh ∈ (0,1) = 0.9\ny_t = ρ_t v_t",
		Right: "front Plain\ndims d, d_v\ninput x ∈ ℝ^{d}\nouter W_V ∈ ℝ^{d_v×d}\nv_t = W_V x_t\ngate ρ ∈ (0,1) = 0.5\nrule Echo over Plain\ngate ρ ∈ (0,1) = 0.9\ny_t = ρ_t v_t"},
	NotHere: {Summary: "A statement is in a unit that cannot contain it.",
		Wrong: "update Plain(w, g)\nclock n\nstate M ∈ ℝ^{n} = 0\nw_n = w_{n−1} − g_n",
		Right: "update Plain(w, g)\noption lr > 0 = 0.1\nclock n\nw_n = w_{n−1} − lr g_n"},
}

// Codes of the composition of knobs: what fits with what.
const (
	IllegalFormula Code = 3013
	EitherOr       Code = 3014
	UnbuiltFormula Code = 3015
)

var formulaCodes = map[Code]Explanation{
	IllegalFormula: {Summary: "A knob requires a property that no other knob of the formula provides. The sentence is the one on the knob's page; the Go compiler and the run-time check give the same.",
		Wrong: knobsExample + "retention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires ProbabilitySimplex(Z) \"rows must sum to one\"\nrule R = Flat + Half + Rows + Down over Bare\n",
		Right: knobsExample + "retention Fade\njoin(Z, U; ρ, θ) = ρ Z + U\nrule R = Flat + Half + Fade + Down over Bare\n"},
	EitherOr: {Summary: "Whether a knob fits must follow from one other choice. Here two kinds of knobs could provide what it requires; give the two properties names of their own.",
		Wrong: knobsExample + "provides Causal\nstructure Flat2\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nprovides Causal\nretention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires Causal \"one of them must be causal\"\n",
		Right: knobsExample + "structure Flat2\nweight M ∈ ℝ^{d×d} = 0\nfit M : M k_t → v_t\ny_t = M_t q_t\nprovides Causal\nretention Rows\njoin(Z, U; ρ, θ) = ρ Z + U\nrequires Causal \"the structure must be causal\"\n"},
	UnbuiltFormula: {Summary: "By their pages these knobs may be combined, but the compiler cannot make a rule of them over any front. Say so with a line `requires … \"reason\"`, or mend the pages.",
		Wrong: knobsExample + "retention Odd\njoin(Z, U; ρ, θ) = ρ Z + U Uᵀ Zᵀ k_t\n",
		Right: knobsExample + "retention Even\njoin(Z, U; ρ, θ) = ρ Z + U\n"},
}
