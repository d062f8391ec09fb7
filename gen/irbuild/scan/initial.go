package scan

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// The initial values of states, and the parameters that states are in a call.

// Initial builds the initial values of the states and anchors of one head of a rule.
func Initial(blk *check.Block, ds *diag.List) *ir.Func {
	if blk.Strategy != nil {
		blk = blk.Strategy.Rule
	}
	e, n := NewBuilder(blk, ir.InitialName(blk.ID), ds)
	for _, eq := range blk.Eqs {
		if eq.Class == check.Static {
			n.Equation(e, eq)
		}
	}
	for _, s := range blk.SymSeq {
		of := s
		if s.Kind == check.Anchor {
			of = blk.Symbols[s.Of]
		}
		if of == nil || of.Kind != check.State || of.PerChunk() {
			continue
		}
		v := n.firstValue(e, of)
		if v == nil {
			return nil
		}
		e.Func.Results = append(e.Func.Results, ir.Result{Name: ident.ASCII(s.Name), Val: v, State: true})
	}
	DropUnread(e.Func)
	program.ListAxes(e.Func)
	return e.Func
}

// DropUnread removes learned parameters that only initial values of states read.
func DropUnread(f *ir.Func) {
	if f == nil {
		return
	}
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return p.Role == ir.Outer && used[p] == 0 })
}

// firstValue is the initial value of a state, for the whole batch; nil means that an error
// was reported.
func (n *Names) firstValue(e *expr.Builder, s *check.Symbol) *ir.Value {
	e.Eq, e.Span = ir.InitialName(e.Block.ID+"."+ident.ASCII(s.Name)), s.Span
	axes, _, ok := e.Declared(s)
	if !ok {
		return nil
	}
	t := tensor.Number(0)
	if s.Decl != nil && s.Decl.Init != nil {
		n.start = s
		t = e.Closed(s.Decl.Init, e.Fill(s.Decl.Init, e.OpenValue(s.Decl.Init), axes))
		n.start = nil
		if t == nil {
			return nil
		}
	}
	if t.IsNumber() {
		t = t.Over(axes)
	}
	if !slices.Equal(t.Axes, axes) {
		e.Diags.Errorf(diag.WrongResult, s.Decl.Init.Where(), "state %s is %s, but starts as %s", s.Name, e.ArrayType(axes), e.Type(t)).
			See(s.Span, "declared here")
		return nil
	}
	return e.ValueOver(e.Broadcast(e.Materialize(t), []*tensor.LoopVar{e.Batch}), []*tensor.LoopVar{e.Batch})
}

// StateAtStart is the value of a state or an anchor where the call begins: a parameter, or
// the initial value of a state per chunk.
func (n *Names) StateAtStart(e *expr.Builder, sym *check.Symbol) *ir.Value {
	if n.States[sym.Name] != nil {
		return n.States[sym.Name]
	}
	if sym.PerChunk() {
		n.States[sym.Name] = n.initialInCall(e, sym)
		return n.States[sym.Name]
	}
	axes, _, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	n.States[sym.Name] = e.Func.AddParam(ident.ASCII(sym.Name), ir.State, ir.Real, append([]*ir.Axis{e.Batch.Axis}, axes...)...)
	return n.States[sym.Name]
}

// initialInCall is the initial value of a state per chunk. It is computed in the call
// itself, so it has a gradient, in a frozen read too.
func (n *Names) initialInCall(e *expr.Builder, sym *check.Symbol) (v *ir.Value) {
	defer e.SaveOrigin()()
	e.Isolated(func() *tensor.Tensor {
		for _, eq := range e.Block.Eqs {
			if eq.Class == check.Static && n.Values[eq.Name] == nil {
				n.Equation(e, eq)
			}
		}
		v = n.firstValue(e, sym)
		return nil
	})
	return v
}

// valueAtStart is StateAtStart as a tensor.
func (n *Names) valueAtStart(e *expr.Builder, sym *check.Symbol) *tensor.Tensor {
	v := n.StateAtStart(e, sym)
	if v == nil {
		return nil
	}
	return e.FromValue(v, []*tensor.LoopVar{e.Batch}, v.Axes[1:])
}

// Holder is the symbol whose parameter holds the value of an anchor, of a snap, or of a
// state where its context began. A state per chunk begins with the call, and so does its
// anchor.
func Holder(blk *check.Block, sym *check.Symbol) *check.Symbol {
	of := sym
	if sym.Kind != check.State {
		of = blk.Symbols[sym.Of]
	}
	a := blk.AnchorOf(of.Name)
	switch {
	case sym.Kind == check.Snap, of.PerChunk():
		return of
	case sym.Kind == check.State && a != nil:
		return a
	}
	return sym
}
