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
