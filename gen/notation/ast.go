// Package notation reads and prints the equation language of `hecate` blocks.
//
// The tree in this file is what a page says, not what it means: a name is
// still one word (`k_t` may be the name k at time t or a name of its own), a
// product is still a row of factors, and no axis has a size. Package check
// decides all that and keeps its answers beside the tree.
//
// The forms are those of specs/LANGUAGE.md; a comment here only says which
// field holds which part.
package notation

import "github.com/nl-hecate/hecate/gen/source"

// A Span locates a node in its page.
type Span = source.Span

// A File is the tree of one page: the units of all its `hecate` blocks.
type File struct {
	Source *source.File
	Units  []*Unit
}

// A UnitKind is the keyword that opens a unit; the zero value is invalid.
type UnitKind int

const (
	_          UnitKind = iota
	FuncUnit            // a function definition outside any other unit
	OpUnit              // op F(A ∈ …; s) → out = …
	FrontUnit           // front F
	StructUnit          // structure F
	BiasUnit
	RetentionUnit
	AlgorithmUnit
	LawUnit
	RuleUnit
	ComposeUnit
	ModelUnit
	UpdateUnit
	ScheduleUnit
	StrategyUnit
)

// A Unit is one block of a page: a header line and the statements under it.
type Unit struct {
	Span    Span // header line
	Kind    UnitKind
	Name    Word
	Params  []*Param // op, law, compose, model, update, schedule
	Result  *Define  // op: `→ out[idx] = expr`; FuncUnit: the definition itself
	Formula *Formula // rule, compose, model: `= A + B(p = 3) over F(unit = on)`
	For     *Formula // strategy: `for Matrix + L2 + …`
	With    []*Override
	Cite    *Cite
	Body    []Stmt
	Example bool // from a `hecate example` block: checked, not emitted
}

// A Word is a name as written, with its place. Text is normalised: NFC,
// Greek letters as letters, subscript digits kept, no adjoint bar.
type Word struct {
	Span Span
	Text string
}

// A Param is one parameter of a header or a function: `A ∈ ℝ^{m×k}`,
// `memory : Rule` or a bare name. Group counts the semicolons before it.
type Param struct {
	Span  Span
	Name  Word
	Type  *Type // nil when bare
	Group int
}

// A Formula combines pages: `Matrix + L2 + L2Decay + GD over Projected(conv = 4)`.
type Formula struct {
	Span  Span
	Parts []*Apply
	Over  *Apply // front, nil if absent
}

// An Apply is a page with options and parts: `SlidingWindow(w = 64)`,
// `MAG(DeltaRule, SlidingWindow)`.
type Apply struct {
	Span Span
	Name Word
	Args []*Override // Name empty for a positional part
}

// An Override is `name := expr` after `with`, or `name = value` in an Apply;
// a positional part of an Apply has only Apply set.
type Override struct {
	Span  Span
	Name  Word
	Value Expr
	Apply *Apply
}

// A Cite is `@eq paper#eq` or `@eq paper#eq-eq`; Eq is "?" when nobody
// checked the number.
type Cite struct {
	Span      Span
	Paper, Eq string
}

// A TypeKind tells the forms of a type apart; the zero value is invalid.
type TypeKind int

const (
	_           TypeKind = iota
	RealType             // ℝ, ℝ^{m×k}, ℝ^{…}
	SphereType           // 𝕊^{m×d}: unit rows
	SimplexType          // Δ^{n}: rows on the simplex
	IntType              // {0…V−1}^{T}, ({0…V−1} ∪ {ignore})^{T}
	RangeType            // (0,1), [0,1], and `> 0`, `≥ 1`
	SetType              // {off, on}
	PageType             // Rule, Composition, Feature, …
)

// A Type is what stands behind ∈ or `:` in a declaration.
type Type struct {
	Span     Span
	Kind     TypeKind
	Shape    []Expr // axis expressions
	AnyShape bool   // ℝ^{…}
	Lo, Hi   Expr   // IntType: first and last; RangeType: ends, nil when open to infinity
	LoOpen   bool   // RangeType: the end does not belong to the range
	HiOpen   bool
	Members  []Expr // SetType; IntType: the extra members of a union
	Page     Word   // PageType
}

// A Stmt is one statement of a unit's body.
type Stmt interface {
	Where() Span
	stmt()
}

type (
	// Dims is `dims d, d_q = d_k, d = H × d_h`.
	Dims struct {
		Span  Span
		Items []*DimsItem
	}
	// DimsItem is one axis; Factors has two or more entries for `d = H × d_h`.
	DimsItem struct {
		Span    Span
		Name    Word
		Size    Expr   // nil when free
		Factors []Word // H, d_h
	}

	// Declare is input, outer, gate, state, weight, slot, anchor, const, snap,
	// clock or option: a keyword, one or more names with type, init and
	// attributes. `outer W, U ∈ ℝ^{d×d}` gives both names the type.
	Declare struct {
		Span    Span
		Keyword Word
		Names   []*DeclName
		When    Expr // condition of `when c :`, nil if none
		Family  *Family
	}
	// DeclName is one declared name.
	DeclName struct {
		Span    Span
		Name    Word
		Member  *Word // of a family: s in `M[s]`
		Type    *Type
		Init    Expr    // `= expr`, or the value of a gate
		Within  *Type   // gate: `within [a, b]`
		Dist    Expr    // `~ uniform(a, b)`: a Call
		ByLevel []Expr  // `= by level [3.0, 4.0]`
		Of      *Word   // anchor, snap: the state
		At      *Word   // anchor: `at context`
		Attrs   []*Word // nodecay, nograd, per chunk
		Seed    Expr    // const: `~ normal(0, σ) seed 7`
		Reason  *Text   // why nograd
	}

	// Define is `lhs = expr`, with local definitions after `with`. Read is set
	// for `read y_t = expr`, InLog for `expr in log`.
	Define struct {
		Span   Span
		Read   bool
		InLog  bool
		Target *Target
		Value  Expr
		With   []*Define
		Label  *Word // the stable id when the author gives one: `{id}` at the end
		Cite   *Cite
		Family *Family
	}
	// Target is a left-hand side: `k_t`, `out[t∈T]`, `f(A ∈ …; k)[i∈r]`.
	Target struct {
		Span   Span
		Name   *Ident
		IsFunc bool
		Params []*Param
		Index  []*Binder
	}

	// Claim is `claim a = b`, `claim ≡ sequential`, and the equalities inside
	// eval, adjoint and relax.
	Claim struct {
		Span    Span
		Keyword Word // claim, eval, adjoint, relax
		Left    Expr // nil for `claim ≡ sequential`
		Right   Expr
		With    []*Define
		When    Expr
		Reason  *Text
		Tag     *Word // {tag} at the end of the line
		Cite    *Cite
		Family  *Family
	}
	// Kink is `kink |ℓ.r[i]| = δ : C¹`.
	Kink struct {
		Span  Span
		Left  Expr
		Right Expr
		Class Word // C⁰ or C¹
	}
	// Invariant is `invariant ∀ i∈m : ‖S_t[i]‖ = 1 {tag}`.
	Invariant struct {
		Span    Span
		Binders []*Binder
		Cond    Expr // a Relation
		Tag     *Word
	}
	// Provides is `provides Causal, AffineInState(M)`; Requires has one item and a reason.
	Provides struct {
		Span   Span
		Marks  []*Mark
		Reason *Text // requires only
		Needs  bool  // true for requires
	}
	// Mark is a marker with the names it speaks of.
	Mark struct {
		Span Span
		Name Word
		Args []Word
	}
	// Special is `special A = Formula with η := 0`.
	Special struct {
		Span  Span
		Left  *Formula
		LWith []*Override
		Right *Formula
		With  []*Override
	}
	// Erratum is `erratum atlas#11 "text" by claim write.gradient`.
	Erratum struct {
		Span Span
		Cite *Cite
		Text *Text
		By   Word
	}
	// Cost is `cost write+read = 4·d_k·d_v + O(d_k + d_v)`.
	Cost struct {
		Span  Span
		Name  Word
		Value Expr
		Big   Expr // inside O(…), nil if absent
		Tag   *Word
	}
	// Iterate is `iterate X from e for 5 : X ← e' with … orient rows ≤ cols`.
	Iterate struct {
		Span   Span
		Name   Word
		From   Expr
		Count  Expr
		Step   Expr
		With   []*Define
		Orient bool
	}
	// NoGrad is `nograd x "reason"`.
	NoGrad struct {
		Span   Span
		Name   Word
		Reason *Text
	}
	// Fit is `fit M : M k_t → v_t`; Weights are the states that learn.
	Fit struct {
		Span    Span
		Weights []Word
		Predict Expr
		Target  Expr
		With    []*Define
	}
	// Each is `each W of structure : body`, `each (W : F → V) of …` or, with Fit
	// set, `each fit (W : F(W; s) → V(s)) of …`.
	Each struct {
		Span    Span
		Fit     bool
		Name    Word
		Predict Expr // F or F(W; s), nil if absent
		Target  Expr // V or V(s), nil if absent
		Of      *Apply
		Body    []Stmt
	}
	// Level is `level l∈L : rule[l], period C[l]`.
	Level struct {
		Span   Span
		Binder *Binder
		Rule   Expr
		Period Expr
	}
	// Fire is `fire update(p, e) when cond`.
	Fire struct {
		Span Span
		Call Expr
		When Expr
	}
	// Guard is `guard cond else Name`.
	Guard struct {
		Span Span
		Cond Expr
		Else Word
	}
)

// A Text is a string literal; it reaches output only as data.
type Text struct {
	Span  Span
	Value string
}

// A Family is `family s ∈ {k, v, q} :` before a declaration, an equation or a
// claim, which then stands for one line a member.
type Family struct {
	Span    Span
	Letter  Word
	Members []Word
}

// A Binder is `i∈r`, `t∈T if cond`, `s∈n_p ∪ window(t,w)`, or a bare `s`
// whose range is known from the left-hand side. Tuple holds the names of
// `(h∈H, i∈d_h)` on one axis.
type Binder struct {
	Span  Span
	Name  Word
	Range Expr // nil when bare
	Tuple []*Binder
	Cond  Expr

	PerChunk bool // `s∈window(t,w) per chunk`
	Fired    Expr // `p fired at j`: the clock
}

// An Expr is an expression.
type Expr interface {
	Where() Span
	expr()
}

type (
	// Number is a literal; Text keeps its spelling.
	Number struct {
		Span  Span
		Value float64
		Text  string
	}
	// Ident is a name with optional adjoint bar and braced time suffix:
	// `M̄_{t−1}`. A one-letter suffix without braces is part of Name.Text.
	Ident struct {
		Span Span
		Name Word
		Bar  bool
		Time Expr // inside _{…}, nil if absent
	}
	// Field is `ℓ.r`: a with-name seen from outside, or a page's part.
	Field struct {
		Span Span
		X    Expr
		Name Word
	}
	// Index is `X[i, j]`; an item may be a Tuple `(h,i)`.
	Index struct {
		Span Span
		X    Expr
		At   []Expr
	}
	// Tuple is `(h, i)` in an index.
	Tuple struct {
		Span  Span
		Items []Expr
	}
	// Call is `f(a, b; c)`; Semi holds the argument counts at which a
	// semicolon stood. At is the member of a family: `rule[l](x)`. Bar is set
	// for what a part gives back, which is printed and never read.
	Call struct {
		Span Span
		Fun  Word
		Bar  bool
		At   []Expr
		Args []Expr
		Semi []int
	}
	// Frozen is `frozen r(x)`: r read without its writes.
	Frozen struct {
		Span Span
		X    *Call
	}
	// Grad is `∇_M ℓ(…)` or `∇_{W1} J(…)`.
	Grad struct {
		Span Span
		Wrt  Word
		Call *Call
	}
	// Unary is `−x`.
	Unary struct {
		Span Span
		X    Expr
	}
	// Binary is `a + b`, `a − b`, `a · b`, `a ⊙ b`, `a / b`, `a ∪ b`, `a mod b`, `a ∘ b`.
	Binary struct {
		Span Span
		Op   string // "+", "−", "·", "⊙", "/", "∪", "mod", "∘"
		X, Y Expr
	}
	// Juxt is a row of two or more factors: `θ_t M k`.
	Juxt struct {
		Span  Span
		Items []Expr
	}
	// Power is `x²`, `x^{n−1}`.
	Power struct {
		Span Span
		X    Expr
		Exp  Expr
	}
	// Transpose is `Aᵀ`.
	Transpose struct {
		Span Span
		X    Expr
	}
	// Norm is `‖x‖`; Abs is `|x|`.
	Norm struct {
		Span Span
		X    Expr
	}
	Abs struct {
		Span Span
		X    Expr
	}
	// Inner is `⟨A, B⟩`.
	Inner struct {
		Span Span
		X, Y Expr
	}
	// Reduce is `Σ_{i∈n} x`, `softmax_{j∈c}(x)`, `mean_{t∈T if c}(x), empty = 0`.
	Reduce struct {
		Span    Span
		Op      string // "Σ", "Π", "softmax", "logsumexp", "mean", "max", "min"
		Binders []*Binder
		Body    Expr
		Empty   Expr // value for an empty range, nil if not given
	}
	// Stack is `[a; b]`; List is `[1, 8, 64]`.
	Stack struct {
		Span  Span
		Items []Expr
	}
	List struct {
		Span  Span
		Items []Expr
	}
	// Piecewise is `{ a if c ; b otherwise }`.
	Piecewise struct {
		Span Span
		Arms []*Arm
	}
	// Case is `case p { = 1 : a ; otherwise : b }`, decided at configuration.
	Case struct {
		Span Span
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
		Span Span
		Op   string // "=", "≠", "<", "≤", ">", "≥", "∈", "≡"
		X, Y Expr
	}
	// And is `a and b` or a comma between conditions.
	And struct {
		Span Span
		X, Y Expr
	}
	// Set is `{a, b}` or `{0…V−1}` as a value.
	Set struct {
		Span   Span
		Items  []Expr
		Lo, Hi Expr
	}
	// Solve is the value of a definition by an equation, as in
	// `solve ζ[i∈r] ∈ [lo, hi] : left = right tol 1e-10`: what the target must
	// be for the two sides to agree.
	Solve struct {
		Span   Span
		Domain *Type // nil where none is written
		Left   Expr
		Right  Expr
		Tol    Expr // nil where none is written
	}
)

func (s *Dims) Where() Span      { return s.Span }
func (s *Declare) Where() Span   { return s.Span }
func (s *Define) Where() Span    { return s.Span }
func (s *Claim) Where() Span     { return s.Span }
func (s *Kink) Where() Span      { return s.Span }
func (s *Invariant) Where() Span { return s.Span }
func (s *Provides) Where() Span  { return s.Span }
func (s *Special) Where() Span   { return s.Span }
func (s *Erratum) Where() Span   { return s.Span }
func (s *Cost) Where() Span      { return s.Span }
func (s *Iterate) Where() Span   { return s.Span }
func (s *NoGrad) Where() Span    { return s.Span }
func (s *Fit) Where() Span       { return s.Span }
func (s *Each) Where() Span      { return s.Span }
func (s *Level) Where() Span     { return s.Span }
func (s *Fire) Where() Span      { return s.Span }
func (s *Guard) Where() Span     { return s.Span }

func (*Dims) stmt()      {}
func (*Declare) stmt()   {}
func (*Define) stmt()    {}
func (*Claim) stmt()     {}
func (*Kink) stmt()      {}
func (*Invariant) stmt() {}
func (*Provides) stmt()  {}
func (*Special) stmt()   {}
func (*Erratum) stmt()   {}
func (*Cost) stmt()      {}
func (*Iterate) stmt()   {}
func (*NoGrad) stmt()    {}
func (*Fit) stmt()       {}
func (*Each) stmt()      {}
func (*Level) stmt()     {}
func (*Fire) stmt()      {}
func (*Guard) stmt()     {}

func (e *Number) Where() Span    { return e.Span }
func (e *Ident) Where() Span     { return e.Span }
func (e *Field) Where() Span     { return e.Span }
func (e *Index) Where() Span     { return e.Span }
func (e *Tuple) Where() Span     { return e.Span }
func (e *Call) Where() Span      { return e.Span }
func (e *Frozen) Where() Span    { return e.Span }
func (e *Grad) Where() Span      { return e.Span }
func (e *Unary) Where() Span     { return e.Span }
func (e *Binary) Where() Span    { return e.Span }
func (e *Juxt) Where() Span      { return e.Span }
func (e *Power) Where() Span     { return e.Span }
func (e *Transpose) Where() Span { return e.Span }
func (e *Norm) Where() Span      { return e.Span }
func (e *Abs) Where() Span       { return e.Span }
func (e *Inner) Where() Span     { return e.Span }
func (e *Reduce) Where() Span    { return e.Span }
func (e *Stack) Where() Span     { return e.Span }
func (e *List) Where() Span      { return e.Span }
func (e *Piecewise) Where() Span { return e.Span }
func (e *Case) Where() Span      { return e.Span }
func (e *Relation) Where() Span  { return e.Span }
func (e *And) Where() Span       { return e.Span }
func (e *Set) Where() Span       { return e.Span }
func (e *Solve) Where() Span     { return e.Span }

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
