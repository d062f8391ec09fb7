package diag

// Codes of package check: names, pages, options, axes and time.
const (
	// DuplicateName occurs when two pages or two lines define one name.
	DuplicateName Code = 3001
	// UnknownName occurs when an equation uses a name that nothing declares.
	UnknownName Code = 3002
	// UnknownPage occurs when a formula names a page that does not exist.
	UnknownPage Code = 3003
	// WrongPageKind occurs when a page of another kind is needed.
	WrongPageKind Code = 3004
	// UnknownOption occurs when a formula sets an option that the page lacks.
	UnknownOption Code = 3005
	// BadOption occurs when the value of an option is outside its domain.
	BadOption Code = 3006
	// UnknownAxis occurs when a shape uses an axis that no dims line declares.
	UnknownAxis Code = 3007
	// Cycle occurs when equations of one time need each other.
	Cycle Code = 3008
	// TimeSuffix occurs when a name ends in a time letter or is read at a
	// time at which it has no value.
	TimeSuffix Code = 3009
	// ReservedName occurs when a name collides with a word of Go or of a file
	// system once it is emitted.
	ReservedName Code = 3010
	// MissingEquation occurs when a state, an output or a knob lacks its equation.
	MissingEquation Code = 3011
	// NotHere occurs when a statement is in a unit that does not allow it.
	NotHere Code = 3012
	// BadPart occurs when what a formula gives a page are not the page's parts.
	BadPart Code = 3016
	// BadFit occurs when a fit line of a structure lists other weights than its
	// prediction is a function of.
	BadFit Code = 3017
	// ChangesNothing occurs when a rule redefines something that nothing reads.
	ChangesNothing Code = 3018
)

func init() {
	register(map[Code]Explanation{
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
	})
}
