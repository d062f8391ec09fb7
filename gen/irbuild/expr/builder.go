package expr

import (
	"fmt"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Builder writes one program. Expressions report what is wrong with them and
// return nil; whoever receives nil returns nil without another message.
type Builder struct {
	*tensor.Emitter
	Block        *check.Block
	Axes         map[*check.Axis]*ir.Axis
	Sized        map[string]*ir.Axis // axes of a size that no dims line names, by size
	Scopes       []*Scope
	Names        Resolver
	Batch        *tensor.LoopVar
	Token        *tensor.LoopVar
	Branches     []Branch        // the branches of piecewise definitions that are being built
	calls        []notation.Expr // the calls being built, outermost first
	cyclic       map[string]bool // functions that were found to call themselves
	inCall       bool            // an operation is written out
	extended     map[extensionKey]*ir.Value
	WindowStates []WindowState
	tokensBefore *ir.Value
	Step         WindowCounter   // where the token is no loop: the body of a scan, a claim
	Chunked      bool            // the token is a loop over a chunk
	cached       []*Binding      // the local definitions built since an unknown came into scope
	solves       int             // the unknowns in scope
	replacing    map[string]bool // names whose replacement is being built: there they mean what they meant
	Tall         bool            // iterations that hold for the transpose are computed on it
	Trace        *[]GradSite     // where the gradients inside equations are, when someone asks
}

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
