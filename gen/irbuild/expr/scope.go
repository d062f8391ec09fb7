package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

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
	for i := len(e.Scopes) - 1; i >= 0; i-- {
		if b := e.Scopes[i].Names[name]; b != nil {
			return b
		}
		if e.Scopes[i].fence {
			return nil
		}
	}
	return nil
}

// fenced reports whether the block's names are hidden: in a function of a page
// of its own.
func (e *Builder) fenced() bool {
	for i := len(e.Scopes) - 1; i >= 0; i-- {
		if e.Scopes[i].fence {
			return true
		}
	}
	return false
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
