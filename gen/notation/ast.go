// Package notation is the tree of a page and its printer.
//
// The tree is what a page says, not what it means: a name is one word (`k_t` may be the name
// k at time t or a name of its own), a product is a row of factors, and no axis has a size.
// Package check resolves all that and changes no tree. Beside the nodes the package has what
// works on any tree: walkers, copies, equality, constants and the vocabulary of the language.
// Package parser makes the trees.
//
// The forms are those of specs/LANGUAGE.md; a comment here only says which field holds which
// part.
package notation

import (
	"iter"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// A Span locates a node in its page. Expressions and statements embed theirs, which gives them
// the method Where.
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
	StrategyUnit
)

// A Unit is one block of a page: a header line and the statements under it.
type Unit struct {
	Span    Span // header line
	Kind    UnitKind
	Sched   bool // a composition that is a schedule: it may be used as a rule
	Name    Word
	Params  []*Param // op, law, compose, model, update
	Result  *Define  // op: `→ out[idx] = expr`; FuncUnit: the definition itself
	Formula *Formula // rule, compose, model: `= A + B(p = 3) over F(unit = on)`
	For     *Formula // strategy: `for A + B + …`
	Else    *Apply   // update of matrices: `else F(lr = 1e-3)`, what moves the rest
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
// `memory : Rule`, a list of parts `memory[K] : Rule` or a bare name. Group counts
// the semicolons before it.
type Param struct {
	Span  Span
	Name  Word
	List  *Word // the axis that counts the parts of a list, else nil
	Type  *Type // nil when bare
	Group int
}

// A Formula combines pages: `A + B + C + D over Front(n = 4)`.
type Formula struct {
	Span  Span
	Parts []*Apply
	Over  *Apply // front, nil if absent
}

// An Apply is a page with options and parts: `A(w = 64)`,
// `A(B, C)`.
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
	List  []*Apply // pages in brackets, for a list of parts
}

// A Cite is `@eq paper#eq` or `@eq paper#eq-eq`; Eq is "?" where the number is
// not known. Differs says in what the line differs from the paper's equation; without it the
// line is that equation, as printed.
type Cite struct {
	Span      Span
	Paper, Eq string
	Differs   *Text
	Next      *Cite // a further citation of the same line
}

// All iterates over the citations of a line.
func (c *Cite) All() iter.Seq[*Cite] {
	return func(yield func(*Cite) bool) {
		for ; c != nil; c = c.Next {
			if !yield(c) {
				return
			}
		}
	}
}

// String is the citation as pages have it, without what differs: paper#13.
func (c *Cite) String() string { return c.Paper + "#" + c.Eq }

// List is every citation of the line, without what differs: paper#13, other#2.
func (c *Cite) List() string {
	var all []string
	for c := range c.All() {
		all = append(all, c.String())
	}
	return strings.Join(all, ", ")
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

// A Type is what comes after ∈ or `:` in a declaration.
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
