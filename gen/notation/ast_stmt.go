package notation

import (
	"slices"
)

// A Stmt is one statement of a unit's body.
type Stmt interface {
	Where() Span
	stmt()
}

type (
	// Dims is `dims d, d_q = d_k, d = H × d_h`.
	Dims struct {
		Span
		When  Expr // condition of `when c :`, nil if none
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
		Span
		Family  *Family
		When    Expr // condition of `when c :`, nil if none
		Keyword Word
		Names   []*DeclName
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
		Attrs   []*Word // nodecay, entrywise, nograd, per chunk, replicate
		Seed    Expr    // const: `~ normal(0, σ) seed 7`
		Reason  *Text   // why nograd
	}

	// Define is `lhs = expr`, with local definitions after `with`. Read is set
	// for `read y_t = expr`, Match for `match M_t = expr`, InLog for `expr in log`.
	Define struct {
		Span
		Family *Family
		Read   bool
		Match  bool
		InLog  bool
		Target *Target
		Value  Expr
		With   []*Define
		Label  *Word // the stable id when the author gives one: `{id}` at the end
		Cite   *Cite
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
		Span
		Family  *Family
		When    Expr
		Keyword Word // claim, eval, adjoint, relax
		Left    Expr // nil for `claim ≡ sequential`
		Right   Expr
		With    []*Define
		Reason  *Text
		Tag     *Word // {tag} at the end of the line
		Cite    *Cite
	}
	// Kink is `kink |ℓ.r[i]| = δ : C¹`.
	Kink struct {
		Span
		When  Expr
		Left  Expr
		Right Expr
		Class Word // C⁰ or C¹
	}
	// Invariant is `invariant ∀ i∈m : ‖S_t[i]‖ = 1 {tag}`.
	Invariant struct {
		Span
		When    Expr
		Binders []*Binder
		Cond    Expr // a Relation, or several
		Tag     *Word
	}
	// Provides is `provides Causal, AffineInState(M)`; Requires has one item and a reason.
	Provides struct {
		Span
		When   Expr // provides only
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
		Span
		Left  *Formula
		LWith []*Override
		Right *Formula
		With  []*Override
	}
	// Trial is `trial Composition(Rule, Attention)`: a formula in which a page that
	// is not complete is proved and tested.
	Trial struct {
		Span
		Formula *Formula
	}
	// Erratum is `erratum paper#11 "text" by claim write.gradient`.
	Erratum struct {
		Span
		Cite *Cite
		Text *Text
		By   Word
	}
	// Cost is `cost write+read = 4·d_k·d_v + O(d_k + d_v)`.
	Cost struct {
		Span
		When  Expr
		Name  Word
		Value Expr
		Big   Expr // inside O(…), nil if absent
		Tag   *Word
	}
	// Iterate is `iterate X from e for 5 : X ← e' with … orient rows ≤ cols`, or
	// through a list of parts `iterate X from e for i∈N : X ← part[i](X)`.
	Iterate struct {
		Span
		Name   Word
		From   Expr
		Index  *Word // of the round, or of the parts of a list; else nil
		Count  Expr
		Step   Expr
		With   []*Define
		Orient bool
	}
	// NoGrad is `nograd x "reason"`.
	NoGrad struct {
		Span
		Name   Word
		Reason *Text
	}
	// Fit is `fit M : M k_t → v_t`; Weights are the states that learn.
	Fit struct {
		Span
		Weights []Word
		Predict Expr
		Target  Expr
		With    []*Define
	}
	// Each is `each W of structure : body`, `each (W : F → V) of …` or, with Fit
	// set, `each fit (W : F(W; s) → V(s)) of …`.
	Each struct {
		Span
		Fit     bool
		Name    Word
		Predict Expr // F or F(W; s), nil if absent
		Target  Expr // V or V(s), nil if absent
		Of      *Apply
		Body    []Stmt
	}
	// Level is `level l∈K : memory[l], period [1, 8] when a[l] = 1`.
	Level struct {
		Span
		Binder *Binder
		Rule   Expr
		Period Expr // nil if absent
		When   Expr // nil if absent
	}
	// Guard is `guard cond else Name`.
	Guard struct {
		Span
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
// claim, which is then one line for each member.
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
}

// IsBare reports whether a binder is a name alone.
func (b *Binder) IsBare() bool {
	return b.Range == nil && b.Cond == nil && b.Tuple == nil && !b.PerChunk
}

// When returns the condition on options before a statement, or nil.
func When(s Stmt) Expr {
	if when, _ := Condition(s); when != nil {
		return *when
	}
	return nil
}

// Condition returns the fields for the condition of a statement and for its span, nil for a
// statement that cannot have a condition.
func Condition(s Stmt) (when *Expr, span *Span) {
	switch s := s.(type) {
	case *Declare:
		return &s.When, &s.Span
	case *Claim:
		return &s.When, &s.Span
	case *Dims:
		return &s.When, &s.Span
	case *Kink:
		return &s.When, &s.Span
	case *Invariant:
		return &s.When, &s.Span
	case *Provides:
		return &s.When, &s.Span
	case *Cost:
		return &s.When, &s.Span
	}
	return nil, nil
}

// FamilyOf returns the prefix of a statement of several members, or nil.
func FamilyOf(s Stmt) *Family {
	switch s := s.(type) {
	case *Declare:
		return s.Family
	case *Define:
		return s.Family
	case *Claim:
		return s.Family
	}
	return nil
}

// HasClauses reports whether a name has a clause.
func (n *DeclName) HasClauses() bool {
	return n.Type != nil || n.Init != nil || n.Within != nil || n.Dist != nil || n.ByLevel != nil ||
		n.Of != nil || n.At != nil || len(n.Attrs) > 0 || n.Seed != nil
}

// SharesClauses reports whether two names share their clauses: the same nodes, not equal ones.
func (n *DeclName) SharesClauses(m *DeclName) bool {
	return n.HasClauses() && n.Type == m.Type && n.Init == m.Init && n.Within == m.Within && n.Dist == m.Dist &&
		n.Of == m.Of && n.At == m.At && n.Seed == m.Seed && n.Reason == m.Reason &&
		slices.Equal(n.ByLevel, m.ByLevel) && slices.Equal(n.Attrs, m.Attrs)
}

func (*Dims) stmt()      {}
func (*Declare) stmt()   {}
func (*Define) stmt()    {}
func (*Claim) stmt()     {}
func (*Kink) stmt()      {}
func (*Invariant) stmt() {}
func (*Provides) stmt()  {}
func (*Special) stmt()   {}
func (*Trial) stmt()     {}
func (*Erratum) stmt()   {}
func (*Cost) stmt()      {}
func (*Iterate) stmt()   {}
func (*NoGrad) stmt()    {}
func (*Fit) stmt()       {}
func (*Each) stmt()      {}
func (*Level) stmt()     {}
func (*Guard) stmt()     {}
