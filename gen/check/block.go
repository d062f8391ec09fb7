// Package check resolves the names of pages.
//
// It takes the trees that package notation reads, and instantiates one unit at a time: a
// rule with its front, a formula of knobs under the law, a model with its parts, every
// option with its value. The result is a Block: declarations, equations in an order in
// which they can be computed, and the claims about them. The tree is never changed.
//
// The function instantiate lists the stages in order: the units that make up the block
// (instantiate.go), expansion (package expand), options, axes, declarations and equations,
// parts, and the topological order of the equations (order.go).
package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Kind is what a name of a block denotes; the zero value is invalid.
type Kind int

const (
	_        Kind = iota
	Input         // comes with every call
	Outer         // learned
	State         // carried over time
	Anchor        // the value of a state at the start of the context
	Snap          // the value of a state at the start of the call
	Constant      // fixed numbers, no gradient
	Clock         // counts from 1
	Part          // another page, called as a function
	Defined       // has an equation
)

func (k Kind) String() string {
	return [...]string{"invalid", "input", "outer", "state", "anchor", "snap", "const", "clock", "part", "defined"}[k]
}

// A Symbol is a name of a block.
type Symbol struct {
	Name string
	Kind Kind
	Decl *notation.DeclName // nil for a name that only has an equation
	Type *notation.Type     // nil when the equation decides
	Span notation.Span
	Unit *notation.Unit // whose body declares it
	Of   string         // of an anchor or a snap: the state
}

// A Class says when an equation is computed; the zero value is invalid.
type Class int

const (
	_         Class = iota
	Static          // once a call: from learned values alone
	Parallel        // for all tokens at once: depends on no state
	Recurrent       // token by token: depends on a state
)

// An Equation is a definition of a block.
type Equation struct {
	Name    string
	ID      string // stable id, such as unit.M
	Def     *notation.Define
	Gate    *notation.DeclName // a gate's declaration instead of a Def
	Iter    *notation.Iterate  // an iteration instead of a Def
	Timed   bool               // has a time suffix
	Matched bool               // of an input of a strategy: Def is the form that is matched
	Class   Class
	Unit    *notation.Unit
}

// Value is the right-hand side, or the step of an iteration.
func (e *Equation) Value() notation.Expr {
	switch {
	case e.Gate != nil:
		return e.Gate.Init
	case e.Iter != nil:
		return e.Iter.Step
	}
	return e.Def.Value
}

// Expressions are the right-hand side with its local definitions, or the iteration.
func (e *Equation) Expressions() []any {
	out := []any{e.Value()}
	if e.Def != nil {
		for _, w := range e.Def.With {
			out = append(out, w)
		}
	}
	if e.Iter != nil {
		out = append(out, e.Iter)
	}
	return out
}

// Span is the place of the equation.
func (e *Equation) Span() notation.Span {
	switch {
	case e.Gate != nil:
		return e.Gate.Span
	case e.Iter != nil:
		return e.Iter.Span
	}
	return e.Def.Span
}

// An Option is a configuration value of a block.
type Option struct {
	Name   string
	Decl   *notation.DeclName
	Value  notation.Expr // the default or what the formula sets
	Static bool          // read by a case or a when: its value is fixed here
	Unit   *notation.Unit
}

// An Axis is a named size of a block. Alias axes share one Axis.
type Axis struct {
	Name    string
	Size    shape.Poly
	Free    bool
	Default int      // of a size that an option sets, else 0
	Factors []string // of `d = H × d_h`

	fromOption bool // declared by an option alone
}

// A Function is a definition with parameters, visible in one block or in all.
type Function struct {
	Name   string
	Params []*notation.Param
	Def    *notation.Define
	Unit   *notation.Unit
	Block  *Block // whose names the body may use; nil for a page function
}

// A Subpart is a page that is given for a part. A list of parts has one for each page that
// is given, named list.0, list.1 and so on, or one without a page.
type Subpart struct {
	Name    string
	List    string // the list that it is of, else ""
	Kind    string // Rule, Composition, Block
	Formula *notation.Apply
	Block   *Block
}

// A Levels makes the parts of a list levels: part l is active at the steps at which the
// pulse activates level l, or a gate of the page is open, and is read frozen otherwise.
type Levels struct {
	List    string
	Periods []int  // default periods of the levels, in chunks; none: the pulse's
	Gate    string // the value that is 1 if a level is open; "": the pulse decides
	Span    notation.Span
}

// A Block is one unit with everything resolved.
type Block struct {
	Tree     *units.Tree
	Unit     *notation.Unit
	Name     string
	ID       string
	Time     string // the time letter: t in rules, a clock in updates, "" elsewhere
	Options  map[string]*Option
	Axes     map[string]*Axis
	AxisSeq  []*Axis // distinct, in order
	Symbols  map[string]*Symbol
	SymSeq   []*Symbol
	Eqs      []*Equation // in an order in which they can be computed
	Funcs    map[string]*Function
	Parts    []*Subpart
	Levels   []*Levels
	Fallback *Subpart                 // of an update of matrices: the update of all other parameters
	Replaced map[string]notation.Expr // names replaced by `with name := expr`

	Strategy *Strategy // of a rule that is computed in chunks, else nil
	Heads    *Axis     // the axis of a rule with several heads, else nil

	Unpruned *Block // the block with the equations that nothing reads, nil if there are none

	families *expand.Families // nil for a block without any

	Claims     []*notation.Claim
	Kinks      []*notation.Kink
	Invariants []*notation.Invariant
	Provides   []*notation.Provides
	Specials   []*notation.Special
	Errata     []*notation.Erratum
	Costs      []*notation.Cost
	NoGrads    []*notation.NoGrad
}

// Equation returns the equation of a name, or nil.
func (b *Block) Equation(name string) *Equation {
	for _, e := range b.Eqs {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Split separates a name from its one-letter time suffix: M_t is M at t when
// the block knows M and not M_t.
func (b *Block) Split(text string) (name, time string) {
	if b.known(text) || b.Options[text] != nil || b.Axes[text] != nil {
		return text, ""
	}
	if i := strings.LastIndexByte(text, '_'); i > 0 && b.known(text[:i]) {
		return text[:i], text[i+1:]
	}
	return text, ""
}

func (b *Block) known(name string) bool {
	return b.Symbols[name] != nil || b.Replaced[name] != nil
}

// mentions reports whether a node reads a name of the block, at any time.
func (b *Block) mentions(n any, name string) bool {
	return notation.Mentions(n, func(id *notation.Ident) bool {
		text, _ := b.Split(id.Name.Text)
		return text == name
	})
}
