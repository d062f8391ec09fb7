package compose

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The names of operations, compositions and models.

// Names serves units in which time is an axis like any other: operations,
// compositions and models.
type Names struct {
	Values  map[string]*tensor.Tensor
	unions  map[string]*expr.UnionValue
	earlier map[string]*tensor.Tensor // what earlier stages of a composition made
	failed  map[string]bool           // equations with an error, which has been reported
}

// newNames returns names without values.
func newNames() *Names {
	return &Names{Values: map[string]*tensor.Tensor{}, unions: map[string]*expr.UnionValue{}, failed: map[string]bool{}}
}

// Resolve finds the value of a name of an operation, a composition or a model. There are
// no time steps: time is indexed.
func (n *Names) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	if when != (expr.Time{}) {
		e.Diags.Errorf(diag.TimeSuffix, span, "%s has no time steps here", sym.Name).Hint("index it: %s[t]", sym.Name)
		return nil
	}
	if t := n.Values[sym.Name]; t != nil {
		return t
	}
	if t := n.earlier[sym.Name]; t != nil {
		vars := e.BatchVars()
		if v := t.Factors[0].Val; len(v.Axes) == len(t.Axes) {
			vars = nil // the same for the whole batch
		}
		p := e.Func.AddParam(ident.ASCII(sym.Name), ir.Input, ir.Real, append(tensor.AxesOf(vars), t.Axes...)...)
		n.Values[sym.Name] = e.FromValue(p, vars, t.Axes)
		return n.Values[sym.Name]
	}
	switch sym.Kind {
	case check.Snap:
		return n.stateAtStart(e, sym)
	case check.Outer, check.Input, check.Constant:
		vars := e.BatchVars()
		if expr.Role(sym) == ir.Outer {
			vars = nil
		}
		t := e.Param(sym, expr.Role(sym), vars)
		n.Values[sym.Name] = t
		return t
	}
	if !n.failed[sym.Name] {
		e.Diags.Errorf(diag.UnknownName, span, "%s has no value here", sym.Name)
	}
	return nil
}

// Union is the value of a name whose rows are indexed by a union of axes, or nil.
func (n *Names) Union(name string) *expr.UnionValue { return n.unions[name] }

// stateAtStart is the value of a state of a composition where the call begins.
func (n *Names) stateAtStart(e *expr.Builder, sym *check.Symbol) *tensor.Tensor {
	of := e.Block.Symbols[sym.Of]
	axes, _, ok := e.Declared(of)
	if !ok {
		return nil
	}
	if x, isNumber := notation.Constant(of.Decl.Init); of.Decl.Init == nil || !isNumber || x != 0 {
		e.Diags.Errorf(diag.NotSupported, of.Span, "a state of a composition begins with zero").Hint("write state %s = 0", of.Name)
		return nil
	}
	v := e.Func.AddParam(ident.ASCII(of.Name), ir.State, ir.Real, append(tensor.AxesOf(e.BatchVars()), axes...)...)
	n.Values[sym.Name] = e.FromValue(v, e.BatchVars(), axes)
	return n.Values[sym.Name]
}

// Equation builds one equation and records its value.
func (n *Names) Equation(e *expr.Builder, eq *check.Equation) *tensor.Tensor {
	e.Eq, e.Span = eq.ID, eq.Span()
	if eq.Def != nil {
		if u := asUnion(e, n, eq); u {
			return n.Values[eq.Name]
		}
	}
	t := e.Equation(eq)
	if t == nil {
		n.failed[eq.Name] = true
		return nil
	}
	t = e.Materialize(t)
	if t.Factors[0].Val.Def == nil || t.Factors[0].Val.Name[0] != '%' {
		t = e.Copy(t)
	}
	e.Named(t.Factors[0].Val, eq.Name)
	n.Values[eq.Name] = t
	return t
}

// asUnion keeps a value whose rows are indexed by a union of axes in parts.
func asUnion(e *expr.Builder, n *Names, eq *check.Equation) bool {
	d := eq.Def
	if st, ok := d.Value.(*notation.Stack); ok && len(d.Target.Index) == 0 && e.Block.Unit.Kind != notation.OpUnit {
		u := &expr.UnionValue{}
		for _, it := range st.Items {
			t := e.Expr(it)
			if t == nil {
				return true
			}
			u.Parts = append(u.Parts, t)
		}
		n.unions[eq.Name] = u
		return true
	}
	if len(d.Target.Index) != 1 {
		return false
	}
	e.Push(&expr.Scope{})
	defer e.Pop()
	r, ok := d.Target.Index[0].Range.(*notation.Binary)
	if !ok || r.Op != "∪" {
		return false
	}
	spans, ok := e.RangeOf(r)
	if !ok {
		return true
	}
	for _, s := range spans {
		if s.Window {
			return false
		}
	}
	if b := d.Target.Index[0]; b.PerChunk && !e.PerChunk(b, spans) {
		return true
	}
	u := e.NewUnion(d.Target.Index[0], spans)
	out := &expr.UnionValue{}
	for i, t := range e.EachPart(u, func() *tensor.Tensor { return e.Expr(d.Value) }) {
		t = e.Materialize(t)
		name := eq.Name
		if spans[i].Axis != e.TimeAxis() {
			name += "." + spans[i].Axis.Name
		}
		e.Named(t.Factors[0].Val, name)
		out.Parts = append(out.Parts, t)
	}
	n.unions[eq.Name] = out
	return true
}

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
