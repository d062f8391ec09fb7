package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Resolver finds the value of a block's name at a moment.
type Resolver interface {
	Resolve(e *Builder, sym *check.Symbol, when Time, span notation.Span) *tensor.Tensor
}

// A AdjointResolver knows adjoints: the claims of an operation or of a step.
type AdjointResolver interface {
	Adjoint(e *Builder, x *notation.Ident, suffix string) *tensor.Tensor
}

// A FreeResolver knows names that only stand for something in a claim: the
// parameters of the page's functions.
type FreeResolver interface {
	Free(e *Builder, x *notation.Ident) *tensor.Tensor
}

// A UnionResolver has values whose rows are indexed by a union of axes.
type UnionResolver interface {
	Union(name string) *UnionValue
}

// A FieldResolver looks inside a definition: ℓ.r.
type FieldResolver interface {
	Field(e *Builder, x *notation.Field) *tensor.Tensor
}

// A WindowCounter serves a program of one token: its windows count from the start of
// the context, and no loop stands for the token.
type WindowCounter interface {
	SinceStart(e *Builder, at tensor.Affine) tensor.Affine
}

// A Time is when a name is read; the zero moment is a bare name.
type Time struct {
	Now, Before, Initial bool
	First                bool     // of an update: the first fire
	At                   *Binding // a bound moment
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
	Time     *tensor.Affine  // a moment
	loop     *tensor.LoopVar // of a moment in a window: the loop behind it
	Window   *ir.Axis        // window axis of a moment that may lie before this chunk
	Union    *unionIndex     // an index over a union
	Axis     *ir.Axis        // an axis that a signature introduced
	Round    *round          // the index of a round
	expr     *withExpr       // a local definition; val is what it was last built as
	branches []Branch        // inside these branches

	busy   int  // of a local definition: it is being built, inside so many unknowns and one
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

func (e *Builder) Push(s *Scope) { e.Scopes = append(e.Scopes, s) }

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

// inScope reports whether a local value that was built for one reader holds for
// this one: all its indices are bound here too.
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

// Isolated builds something that does not see the claim's local names.
func (e *Builder) Isolated(build func() *tensor.Tensor) *tensor.Tensor {
	scopes, safe := e.Scopes, e.Branches
	e.Scopes, e.Branches = nil, nil
	defer func() { e.Scopes, e.Branches = scopes, safe }()
	return build()
}
