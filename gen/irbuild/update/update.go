// Package update builds optimizer updates: one update step of a parameter, from its
// gradient, its slots, the clock and the options.
package update

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Names serves an update. The clock and the options are numbers, the same
// for the whole parameter. In an update of entries every other name is one
// entry, under the loops of the parameter; in one of matrices w, g and the
// slots are the whole matrix, with its axes.
type Names struct {
	Loops  []*tensor.LoopVar
	Axes   []*ir.Axis
	Clock  *tensor.Tensor            // nil: a parameter
	Values map[string]*tensor.Tensor // after this step
	Old    map[string]*tensor.Tensor // before it

	Failed map[string]bool // equations with an error, which has been reported
}

// Build builds an update: the parameter, its gradient, its slots, the clock and the
// options in; the parameter and the slots out. An update of entries takes the parameter as
// a vector.
func Build(blk *check.Block, ds *diag.List) *ir.Func { return build(blk, ds, false, false) }

// OfMatrix is Build of a parameter that is a matrix, also for an update of entries, so
// that the two can be compared.
func OfMatrix(blk *check.Block, ds *diag.List) *ir.Func { return build(blk, ds, true, false) }

// Tall is Build with every oriented iteration computed on the transpose: of a matrix of
// more rows than columns, X Xᵀ is then the smaller product. It is nil, without an error,
// where no iteration is oriented, and in an update of entries.
func Tall(blk *check.Block, ds *diag.List) *ir.Func {
	_, _, matrices := blk.Matrices()
	for _, eq := range blk.Eqs {
		if eq.Iter == nil || !eq.Iter.Orient || !matrices {
			continue
		}
		var own diag.List
		f := build(blk, &own, true, true)
		if own.HasErrors() {
			ds.Errorf(diag.NotSupported, eq.Iter.Step.Where(), "this step does not fit the transpose of %s", eq.Name).
				Labelf("it reads something that has the rows of the parameter").Hint("take orient away")
			return nil
		}
		return f
	}
	return nil
}

func build(blk *check.Block, ds *diag.List, matrix, tall bool) *ir.Func {
	e := expr.New(blk, blk.ID, ds)
	e.Tall = tall
	n := NewNames(e, matrix)
	e.Names = n
	before := ds.Len()
	for _, s := range blk.SymSeq {
		switch s.Kind {
		case check.State, check.Input:
			n.argument(e, s)
		case check.Clock:
			e.Func.AddParam(ident.ASCII(s.Name), ir.Constant, ir.Real)
		}
	}
	n.Step(e)
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	for _, s := range blk.SymSeq {
		if s.Kind == check.State && n.Values[s.Name] != nil {
			v := e.ValueOver(n.Values[s.Name], n.Loops)
			e.Func.Results = append(e.Func.Results, ir.Result{Name: ident.ASCII(s.Name), Val: v, State: true, Eq: blk.ID + "." + ident.ASCII(s.Name)})
		}
	}
	program.ListAxes(e.Func)
	return e.Func
}

// NewNames makes the loops of an update of entries, over a matrix on request, or the axes
// of an update of matrices.
func NewNames(e *expr.Builder, matrix bool) *Names {
	n := &Names{Values: map[string]*tensor.Tensor{}, Old: map[string]*tensor.Tensor{}, Failed: map[string]bool{}}
	switch rows, cols, ok := e.Block.Matrices(); {
	case ok:
		n.Axes = []*ir.Axis{e.Axis(rows), e.Axis(cols)}
	case matrix:
		n.Loops = []*tensor.LoopVar{e.NewVar("row", e.Func.NewAxis("r")), e.NewVar("column", e.Func.NewAxis("c"))}
	default:
		n.Loops = []*tensor.LoopVar{e.NewVar("entry", e.Func.NewAxis("n"))}
	}
	return n
}

// Step builds the equations in order.
func (n *Names) Step(e *expr.Builder) {
	for _, eq := range e.Block.Eqs {
		t := e.Equation(eq)
		if t == nil || !n.checkShape(e, eq, t) {
			n.Failed[eq.Name] = true
			continue
		}
		t = e.Materialize(t)
		e.Named(t.Factors[0].Val, eq.Name)
		n.Values[eq.Name] = t
	}
}

// checkShape refuses a slot or a parameter that does not have the shape of the parameter.
func (n *Names) checkShape(e *expr.Builder, eq *check.Equation, t *tensor.Tensor) bool {
	if s := e.Block.Symbols[eq.Name]; s == nil || s.Kind != check.State {
		return true
	}
	if !slices.Equal(t.Axes, n.Axes) {
		e.Errorf(diag.WrongResult, eq.Value(), "%s is %s, and an update step makes it %s", eq.Name, e.ArrayType(n.Axes), e.Type(t)).Labelf("%s", e.Type(t))
		return false
	}
	return true
}

// argument is a slot, the parameter or the gradient before the step.
func (n *Names) argument(e *expr.Builder, s *check.Symbol) *tensor.Tensor {
	if n.Old[s.Name] == nil {
		role := ir.State
		if s.Kind == check.Input {
			role = ir.Input
		}
		v := e.Func.AddParam(ident.ASCII(s.Name), role, ir.Real, append(tensor.AxesOf(n.Loops), n.Axes...)...)
		n.Old[s.Name] = e.FromValue(v, n.Loops, n.Axes)
	}
	return n.Old[s.Name]
}

// Resolve finds the value of a name before the step or after it.
func (n *Names) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	switch {
	case sym.Kind == check.Clock && n.Clock != nil:
		return n.Clock
	case sym.Kind == check.Clock:
		return &tensor.Tensor{Elem: ir.Real, Coef: 1, Factors: []tensor.Factor{{Val: e.Func.Param(ident.ASCII(sym.Name))}}}
	case sym.Kind == check.Input && (when.Now || when == expr.Time{}):
		return n.argument(e, sym)
	case sym.Kind == check.State && when.Before:
		return n.argument(e, sym)
	case when.Now || when == (expr.Time{}):
		if t := n.Values[sym.Name]; t != nil {
			return t
		}
		if n.Failed[sym.Name] {
			return nil
		}
	}
	d := e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value at this time step", sym.Name)
	if sym.Kind == check.Input {
		d.Hint("a gradient is that of this update step, %s_%s; keep an older one in a slot", sym.Name, e.Block.Time)
		return nil
	}
	d.Hint("read it before this update step, %s_{%s−1}, or after its equation, %s_%s", sym.Name, e.Block.Time, sym.Name, e.Block.Time)
	return nil
}
