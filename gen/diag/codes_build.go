package diag

// Codes of package irbuild: types of expressions.
const (
	ShapeMismatch Code = 4001
	NotAProduct   Code = 4002
	WrongArity    Code = 4003
	NotAFunction  Code = 4004
	NotScalar     Code = 4005
	BadIndex      Code = 4006
	NotSupported  Code = 4007
	WrongResult   Code = 4008
	NoGradient    Code = 4009
	OpenAxes      Code = 4010
)

var typeCodes = map[Code]Explanation{
	ShapeMismatch: {Summary: "Axes that must be the same are not. Axes are nominal: equal size is not enough.",
		Wrong: "op Sum(a ∈ ℝ^{m}, b ∈ ℝ^{n}) → out = a + b",
		Right: "op Sum(a ∈ ℝ^{m}, b ∈ ℝ^{m}) → out = a + b"},
	NotAProduct: {Summary: "Two factors have no product in this order and orientation.",
		Wrong: "op Times(a ∈ ℝ^{n}, b ∈ ℝ^{n}) → out = a b",
		Right: "op Times(a ∈ ℝ^{n}, b ∈ ℝ^{n}) → out = a ⊙ b"},
	WrongArity: {Summary: "A function gets too few or too many arguments.",
		Wrong: "op Root(a ∈ ℝ^{n}) → out = sqrt(a, a)",
		Right: "op Root(a ∈ ℝ^{n}) → out = sqrt(a)"},
	NotAFunction: {Summary: "A gradient names something that is not a function of one block.",
		Wrong: "f(x ∈ ℝ^{n}) = x · x\nop Slope(a ∈ ℝ^{n}) → out = ∇_y f(a)",
		Right: "f(x ∈ ℝ^{n}) = x · x\nop Slope(a ∈ ℝ^{n}) → out = ∇_x f(a)"},
	NotScalar: {Summary: "A number is needed, and a tensor was found.",
		Wrong: "op Square(A ∈ ℝ^{n}) → out = A²",
		Right: "op Square(A ∈ ℝ^{n}) → out = A ⊙ A"},
	BadIndex: {Summary: "An index does not fit the axis that it reads.",
		Wrong: "op Turn(A ∈ ℝ^{m×n}) → out[i∈m, j∈n] = A[j,i]",
		Right: "op Turn(A ∈ ℝ^{m×n}) → out[j∈n, i∈m] = A[i,j]"},
	NotSupported: {Summary: "The language has this construct, but not in this place.",
		Wrong: "op Fact(x ∈ ℝ^{n}) → out = Π_{i∈n} x[i]",
		Right: "op Total(x ∈ ℝ^{n}) → out = Σ_{i∈n} x[i]"},
	WrongResult: {Summary: "An equation's value does not have the type that its left-hand side declares.",
		Wrong: "rule Store\ndims d, e\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{e} = 0\nM_t = M_{t−1} + M_{t−1}\ny_t = x_t\nz_t = x_t\nM2_t = M_t\nrule Store2\ndims d, e\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{e} = 0\nM_t = x_t\ny_t = M_t",
		Right: "rule Keep\ndims d\ninput x ∈ ℝ^{d}\nstate M ∈ ℝ^{d} = 0\nM_t = M_{t−1} + x_t\ny_t = M_t"},
	NoGradient: {Summary: "A learned parameter never receives a gradient.",
		Wrong: "rule Idle\ndims d\ninput x ∈ ℝ^{d}\nouter a ∈ ℝ^{d} ~ uniform(−1, 1)\ny_t = x_t + floor(a)",
		Right: "rule Busy\ndims d\ninput x ∈ ℝ^{d}\nouter a ∈ ℝ^{d} ~ uniform(−1, 1)\ny_t = x_t + a"},
	OpenAxes: {Summary: "Nothing says which axes an identity, or a row of ones, has.",
		Wrong: "op Size(A ∈ ℝ^{n×n}) → out = ‖I‖ + ‖A‖",
		Right: "op Size(A ∈ ℝ^{n×n}) → out = ‖I − A‖"},
}
