package compose

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
)

// Operations: one program, and the builder that all units of this package share.

// Op builds an operation: parameters in the order of its header, out.
func Op(blk *check.Block, ds *diag.List) *ir.Func {
	e, n := NewBuilder(blk, blk.ID, ds)
	before := ds.Len()
	for _, s := range blk.SymSeq {
		if s.Kind == check.Input || s.Kind == check.Constant {
			n.Resolve(e, s, expr.Time{}, s.Span)
		}
	}
	for _, eq := range blk.Eqs {
		n.Equation(e, eq)
	}
	if ds.Len() > before && ds.HasErrors() || n.Values["out"] == nil {
		return nil
	}
	out := e.Override(n.Values["out"])
	if out == nil {
		return nil
	}
	val := e.ValueOver(out, e.BatchVars())
	if val.Def == nil {
		val = e.ValueOver(e.Copy(out), e.BatchVars())
	}
	e.Func.Results = append(e.Func.Results, ir.Result{Name: "out", Val: val})
	program.ListAxes(e.Func)
	return program.CheckSizes(blk, e.Func, ds)
}

// NewBuilder returns a builder of a unit and its names.
func NewBuilder(blk *check.Block, name string, ds *diag.List) (*expr.Builder, *Names) {
	e := expr.New(blk, name, ds)
	n := newNames()
	e.Names = n
	e.Batch = e.NewVar("batch", e.Axis(blk.Axes["L"]))
	return e, n
}
