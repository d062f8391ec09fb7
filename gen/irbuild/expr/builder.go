// Package expr translates expressions of a page into tensors: it resolves names,
// checks that axes agree, expands calls, and differentiates where a page writes ∇.
//
// The walk is syntax-directed, one method per kind of node. A method reports what
// is wrong with its node and returns nil; a caller that receives nil returns nil
// without another message. Axes are nominal: two axes agree only if they are the
// same object, whatever their sizes are. What a name of the block means is decided
// by a Resolver, of which each kind of unit has its own.
package expr

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Builder writes the program of a block.
type Builder struct {
	*tensor.Emitter
	Block   *check.Block
	Names   Resolver
	Axes    map[*check.Axis]*ir.Axis
	Sized   map[string]*ir.Axis // axes of sizes without a name, by size
	Scopes  []*Scope
	Batch   *tensor.LoopVar
	Token   *tensor.LoopVar
	Chunked bool          // Token runs over a chunk
	Counter WindowCounter // where Token is no loop: in the body of a scan, in a claim
	Tall    bool          // oriented iterations are computed on the transpose
	Trace   *[]GradSite   // records the gradients inside equations, if it is not nil

	WindowStates []WindowState
	extended     map[extensionKey]*ir.Value // series with their history
	tokensBefore *ir.Value                  // the state pos

	Branches  []Branch        // branches of piecewise definitions under construction
	calls     []notation.Expr // calls under construction, outermost first
	cyclic    map[string]bool // functions that call themselves
	inCall    bool            // an operation is inlined
	cached    []*Binding      // local definitions that were built since an unknown came into scope
	solves    int             // unknowns in scope
	replacing map[string]bool // names whose replacement is under construction: inside it they are themselves
}

// New returns a builder of an empty program.
func New(blk *check.Block, name string, ds *diag.List) *Builder {
	return &Builder{Emitter: tensor.NewEmitter(name, ds), Block: blk, Axes: map[*check.Axis]*ir.Axis{}, Sized: map[string]*ir.Axis{},
		extended: map[extensionKey]*ir.Value{}, cyclic: map[string]bool{}, replacing: map[string]bool{}}
}

// Body returns a builder of the body of a loop in e's program: it has the same
// block and shares the axes.
func (e *Builder) Body(name string) *Builder {
	b := New(e.Block, name, e.Diags)
	b.Axes, b.Sized, b.Trace = e.Axes, e.Sized, e.Trace
	return b
}

// Quietly builds a value without messages.
func (e *Builder) Quietly(build func() *tensor.Tensor) *tensor.Tensor {
	said := e.Diags
	defer func() { e.Diags = said }()
	e.Diags = &diag.List{}
	return build()
}

// Errorf reports an error; inside a function it says which call led there.
func (e *Builder) Errorf(code diag.Code, x notation.Expr, format string, args ...any) *diag.Diagnostic {
	d := e.Diags.Errorf(code, x.Where(), format, args...)
	if len(e.calls) > 0 {
		d.See(e.calls[0].Where(), "in this call")
	}
	return d
}

// ArrayType is the type of arrays over axes as a message shows it.
func (e *Builder) ArrayType(axes []*ir.Axis) string { return e.Type(tensor.Number(0).Over(axes)) }

// Type prints the type of t as a message shows it.
func (e *Builder) Type(t *tensor.Tensor) string {
	switch {
	case t == nil:
		return "?"
	case t.Elem == ir.Int && len(t.Axes) == 0:
		return "an index"
	case t.Elem == ir.Bool && len(t.Axes) == 0:
		return "a condition"
	case len(t.Axes) == 0:
		return "a number"
	}
	s := ""
	for i, a := range t.Axes {
		if i > 0 {
			s += "×"
		}
		s += e.axisName(a)
	}
	if t.Row {
		return fmt.Sprintf("a row of ℝ^{%s}", s)
	}
	return fmt.Sprintf("ℝ^{%s}", s)
}

// Scopes, bindings, and the interfaces by which units resolve their names.

// A Resolver finds the value of a block's name at a time step.
type Resolver interface {
	Resolve(e *Builder, sym *check.Symbol, when Time, span notation.Span) *tensor.Tensor
}

// An AdjointResolver resolves adjoints, in the claims of an operation or of a rule.
type AdjointResolver interface {
	Adjoint(e *Builder, x *notation.Ident, suffix string) *tensor.Tensor
}

// A FreeResolver resolves names that are free in a claim: the parameters of the page's
// functions.
type FreeResolver interface {
	Free(e *Builder, x *notation.Ident) *tensor.Tensor
}

// A unionResolver has values whose rows are indexed by a union of axes.
type unionResolver interface {
	Union(name string) *UnionValue
}

// A FieldResolver resolves local names of definitions: ℓ.r.
type FieldResolver interface {
	Field(e *Builder, x *notation.Field) *tensor.Tensor
}

// A WindowCounter counts tokens in a program of one token, in which no loop is the token
// and windows count from the start of the context.
type WindowCounter interface {
	SinceStart(e *Builder, at tensor.Affine) tensor.Affine
}

// A Time is the time step at which a name is read; the zero value is a name without a
// suffix.
type Time struct {
	Now, Before, Initial bool
	First                bool     // of an update: the first step
	At                   *Binding // a bound time step
}

// A Scope maps names to what they are bound to: arguments of a function, local
// definitions, indices. A fence hides the block's names: a function of a page
// of its own does not see its caller.
type Scope struct {
	Names map[string]*Binding
	fence bool
}

// A Binding is one local name.
type Binding struct {
	Value    *tensor.Tensor
	Index    *tensor.LoopVar
	Time     *tensor.Affine  // a time step
	loop     *tensor.LoopVar // of a time step in a window: its loop
	Window   *ir.Axis        // window axis of a time step that may be before this call
	Union    *unionIndex     // an index over a union
	Axis     *ir.Axis        // an axis that a signature introduced
	Round    *round          // the index of a round
	expr     *withExpr       // a local definition; val is what it was last built as
	branches []Branch        // inside these branches

	busy   int  // of a local definition: while it is built: one more than the number of unknowns around it
	failed bool // it cannot be built
}

// A Branch is a branch under construction: its condition, and whether the
// branch is taken when it holds.
type Branch struct {
	cond  *tensor.Tensor
	Taken bool
}

// withExpr is a local definition that is not built yet.
type withExpr struct{ *notation.Define }

// A round is the index of one round of an iteration.
type round struct {
	axis   *ir.Axis
	number int
}

// Push opens a scope.
func (e *Builder) Push(s *Scope) { e.Scopes = append(e.Scopes, s) }

// Pop closes the innermost scope.
func (e *Builder) Pop() { e.Scopes = e.Scopes[:len(e.Scopes)-1] }

// Bind adds a local name to the innermost scope.
func (e *Builder) Bind(name string, b *Binding) {
	s := e.Scopes[len(e.Scopes)-1]
	if s.Names == nil {
		s.Names = map[string]*Binding{}
	}
	s.Names[name] = b
}

// Local finds a local name.
func (e *Builder) Local(name string) *Binding {
	for _, s := range slices.Backward(e.Scopes) {
		if b := s.Names[name]; b != nil || s.fence {
			return b
		}
	}
	return nil
}

// fenced reports whether the block's names are hidden: in a function of a page
// of its own.
func (e *Builder) fenced() bool {
	return slices.ContainsFunc(e.Scopes, func(s *Scope) bool { return s.fence })
}

// inScope reports whether a local value that was built for one reader is valid for this
// one: all its indices are bound here too.
func (e *Builder) inScope(t *tensor.Tensor) bool {
	bound := map[*tensor.LoopVar]bool{e.Batch: true, e.Token: true}
	add := func(v *tensor.LoopVar) { bound[v] = true }
	for _, s := range e.Scopes {
		for _, b := range s.Names {
			switch {
			case b.Index != nil:
				add(b.Index)
			case b.Time != nil:
				b.Time.EachVar(add)
			case b.Union != nil:
				add(b.Union.whole)
				add(b.Union.partVar)
			}
		}
	}
	return !slices.ContainsFunc(tensor.VarsOf(t), func(v *tensor.LoopVar) bool { return !bound[v] })
}

// Isolated builds a value that does not see the local names and branches of its reader.
func (e *Builder) Isolated(build func() *tensor.Tensor) *tensor.Tensor {
	scopes, safe := e.Scopes, e.Branches
	e.Scopes, e.Branches = nil, nil
	defer func() { e.Scopes, e.Branches = scopes, safe }()
	return build()
}
