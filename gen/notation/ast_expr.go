package notation

// An Expr is an expression.
type Expr interface {
	Where() Span
	expr()
}

type (
	// Number is a literal; Text keeps its spelling.
	Number struct {
		Span
		Value float64
		Text  string
	}
	// Ident is a name with optional adjoint bar and braced time suffix:
	// `M̄_{t−1}`. A one-letter suffix without braces is part of Name.Text.
	Ident struct {
		Span
		Name Word
		Bar  bool
		Time Expr // inside _{…}, nil if absent
	}
	// Field is `ℓ.r`: a with-name seen from outside, or a page's part.
	Field struct {
		Span
		X    Expr
		Name Word
	}
	// Index is `X[i, j]`; an item may be a Tuple `(h,i)`.
	Index struct {
		Span
		X  Expr
		At []Expr
	}
	// Tuple is `(h, i)` in an index.
	Tuple struct {
		Span
		Items []Expr
	}
	// Call is `f(a, b; c)`; Semi holds the argument counts at which a
	// semicolon stood. At is the member of a family: `rule[l](x)`. Bar is set
	// for the result of a part, which is printed and never parsed.
	Call struct {
		Span
		Fun  Word
		Bar  bool
		At   []Expr
		Args []Expr
		Semi []int
	}
	// Frozen is `frozen r(x)`: r read without its writes.
	Frozen struct {
		Span
		X *Call
	}
	// Grad is `∇_M ℓ(…)` or `∇_{W1} J(…)`.
	Grad struct {
		Span
		Wrt  Word
		Call *Call
	}
	// Unary is `−x`.
	Unary struct {
		Span
		X Expr
	}
	// Binary is `a + b`, `a − b`, `a · b`, `a ⊙ b`, `a / b`, `a ∪ b`, `a mod b`, `a ∘ b`.
	Binary struct {
		Span
		Op   string // "+", "−", "·", "⊙", "/", "∪", "mod", "∘"
		X, Y Expr
	}
	// Juxt is a row of two or more factors: `θ_t M k`.
	Juxt struct {
		Span
		Items []Expr
	}
	// Power is `x²`, `x^{n−1}`.
	Power struct {
		Span
		X   Expr
		Exp Expr
	}
	// Transpose is `Aᵀ`.
	Transpose struct {
		Span
		X Expr
	}
	// Norm is `‖x‖`; Abs is `|x|`.
	Norm struct {
		Span
		X Expr
	}
	Abs struct {
		Span
		X Expr
	}
	// Inner is `⟨A, B⟩`.
	Inner struct {
		Span
		X, Y Expr
	}
	// Reduce is `Σ_{i∈n} x`, `softmax_{j∈c}(x)`, `mean_{t∈T if c}(x), empty = 0`.
	Reduce struct {
		Span
		Op      string // "Σ", "Π", "softmax", "logsumexp", "mean", "max", "min"
		Binders []*Binder
		Body    Expr
		Empty   Expr // value for an empty range, nil if not given
	}
	// Stack is `[a; b]`; List is `[1, 8, 64]`.
	Stack struct {
		Span
		Items []Expr
	}
	List struct {
		Span
		Items []Expr
	}
	// Piecewise is `{ a if c ; b otherwise }`.
	Piecewise struct {
		Span
		Arms []*Arm
	}
	// Case is `case p { = 1 : a ; otherwise : b }`, decided at configuration.
	Case struct {
		Span
		On   Expr
		Arms []*Arm
	}
	// Arm is one branch; Cond is nil for otherwise. In a Case, Cond is the
	// right-hand side of Rel, or a bare attribute word with Rel "".
	Arm struct {
		Span  Span
		Rel   string
		Cond  Expr
		Value Expr
	}
	// Relation is `a ≤ b`, chained by And.
	Relation struct {
		Span
		Op   string // "=", "≠", "<", "≤", ">", "≥", "∈", "≡"
		X, Y Expr
	}
	// And is `a and b` or a comma between conditions.
	And struct {
		Span
		X, Y Expr
	}
	// Set is `{a, b}` or `{0…V−1}` as a value.
	Set struct {
		Span
		Items  []Expr
		Lo, Hi Expr
	}
	// Solve is the value of a definition by an equation, as in
	// `solve ζ[i∈r] ∈ [lo, hi] : left = right tol 1e-10`: what the target must
	// be for the two sides to agree.
	Solve struct {
		Span
		Domain *Type // nil where none is written
		Left   Expr
		Right  Expr
		Tol    Expr // nil where none is written
	}
)

func (*Number) expr()    {}
func (*Ident) expr()     {}
func (*Field) expr()     {}
func (*Index) expr()     {}
func (*Tuple) expr()     {}
func (*Call) expr()      {}
func (*Frozen) expr()    {}
func (*Grad) expr()      {}
func (*Unary) expr()     {}
func (*Binary) expr()    {}
func (*Juxt) expr()      {}
func (*Power) expr()     {}
func (*Transpose) expr() {}
func (*Norm) expr()      {}
func (*Abs) expr()       {}
func (*Inner) expr()     {}
func (*Reduce) expr()    {}
func (*Stack) expr()     {}
func (*List) expr()      {}
func (*Piecewise) expr() {}
func (*Case) expr()      {}
func (*Relation) expr()  {}
func (*And) expr()       {}
func (*Set) expr()       {}
func (*Solve) expr()     {}
