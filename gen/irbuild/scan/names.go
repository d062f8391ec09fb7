// Package scan builds a rule token by token. Names serves the names outside of the
// scan: parameters, and series, which have batch and token as loops. Step serves
// the names inside its body, which is the program of one token.
package scan

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Names serves a rule's names outside of its scan.
type Names struct {
	Distinct       bool // an equation of a step that only renames a value has a copy, with an adjoint of its own
	Values         map[string]*tensor.Tensor
	States         map[string]*ir.Value // state parameters, and the first values of states per chunk
	frozen         bool
	start          *check.Symbol // the state whose first value is built
	atContextStart bool          // equations of states are read where the context began
}

// NewBuilder returns a builder of a rule's program with its names.
func NewBuilder(blk *check.Block, name string, ds *diag.List) (*expr.Builder, *Names) {
	return serveRule(expr.New(blk, name, ds))
}

// serveRule makes a builder resolve the names of a rule, with a batch axis and the tokens
// of a call.
func serveRule(e *expr.Builder) (*expr.Builder, *Names) {
	blk := e.Block
	n := &Names{Values: map[string]*tensor.Tensor{}, States: map[string]*ir.Value{}}
	e.Names = n
	e.Batch = e.NewVar("batch", e.Axis(blk.Axes["L"]))
	e.Token = e.NewVar("t", e.Axis(blk.Axes["T"]))
	return e, n
}

// Equation builds an equation that depends on no state.
func (n *Names) Equation(e *expr.Builder, eq *check.Equation) {
	if eq.Class == check.Static && n.Values[eq.Name] != nil {
		return // a state per chunk began with it
	}
	t := e.Equation(eq)
	if t == nil {
		return
	}
	if len(t.Factors) > 0 {
		t = e.Materialize(t)
		e.Named(t.Factors[0].Val, eq.Name)
	}
	n.Values[eq.Name] = t
}

// Resolve finds the value of a name outside of the scan.
func (n *Names) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	switch sym.Kind {
	case check.Outer, check.Constant:
		if n.Values[sym.Name] == nil {
			n.Values[sym.Name] = e.Param(sym, expr.Role(sym), nil)
		}
		return e.Timeless(sym, when, span, n.Values[sym.Name])
	case check.Anchor, check.Snap:
		if n.frozen || sym.Kind == check.Snap && (n.start == nil || n.start.PerChunk()) {
			return e.Timeless(sym, when, span, n.valueAtStart(e, Holder(e.Block, sym)))
		}
		e.Diags.Errorf(diag.TimeSuffix, span, "%s %s is read where no state can be read", sym.Kind, sym.Name).
			Hint("a state starts from constants and learned values")
		return nil
	case check.State:
		if n.frozen {
			return n.frozenState(e, sym, when)
		}
		e.Diags.Errorf(diag.TimeSuffix, span, "state %s is read where no state can be read", sym.Name)
		return nil
	case check.Input:
		if n.Values[sym.Name] == nil {
			n.Values[sym.Name] = e.Param(sym, ir.Input, []*tensor.LoopVar{e.Batch, e.Token})
		}
	}
	eq := e.Block.Equation(sym.Name)
	if n.start != nil && (eq == nil || eq.Class != check.Static) {
		e.Diags.Errorf(diag.TimeSuffix, span, "state %s starts from a series", n.start.Name).
			Labelf("changes with every token").Hint("a state starts from constants and learned values, before the first token")
		n.start = nil // one message a start
		return nil
	}
	again := n.atContextStart || when.Before || when.Initial || n.Values[sym.Name] == nil && eq != nil && eq.Timed
	if n.frozen && again && e.Block.FromStates(sym.Name) {
		return n.frozenEquation(e, eq, when)
	}
	t := n.Values[sym.Name]
	if t == nil {
		return nil
	}
	switch {
	case eq != nil && !eq.Timed:
		return e.Timeless(sym, when, span, t)
	case when.Now:
		return t
	case when.At != nil:
		return seriesAt(e, t, when.At)
	}
	e.Diags.Errorf(diag.TimeSuffix, span, "%s is a series and has no value at this time step", sym.Name).
		Hint("read it now, %s_t, or at an index that a window binds", sym.Name)
	return nil
}

// Program writes the program of a rule, token by token.
func (n *Names) Program(e *expr.Builder, probes []Probe) *ir.Func {
	blk, ds := e.Block, e.Diags
	before := ds.Len()
	var step *Step
	for _, eq := range blk.Eqs {
		if eq.Class == check.Recurrent {
			if step == nil {
				step = newStep(e, n)
			}
			step.Equation(eq)
			continue
		}
		n.Equation(e, eq)
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	if step == nil && len(probes) > 0 {
		step = newStep(e, n)
	}
	if step != nil {
		step.probe(probes)
		step.addToRule()
	} else {
		e.Func.Results = append(e.Func.Results, ir.Result{Name: "y", Val: e.ValueOver(n.Values["y"], []*tensor.LoopVar{e.Batch, e.Token})})
	}
	e.NameWindowStates()
	program.ListAxes(e.Func)
	return e.Func
}

// seriesAt reads a series at a bound time step, which may be before the call where a
// window binds it.
func seriesAt(e *expr.Builder, t *tensor.Tensor, b *expr.Binding) *tensor.Tensor {
	if b.Time == nil {
		return t
	}
	if b.Window == nil {
		return readAtTime(e, t, *b.Time)
	}
	visible := e.Tabulate(overBatchAndTime(e, t), []*tensor.LoopVar{e.Token})
	u, base := e.WithHistory(visible, 0, b.Window)
	return tensor.At(u, b.Time.Add(tensor.Affine{Const: base}, 1))
}

// overBatchAndTime makes batch and token loops of a series.
func overBatchAndTime(e *expr.Builder, t *tensor.Tensor) *tensor.Tensor {
	vars := []*tensor.LoopVar{e.Batch, e.Token}
	return e.FromValue(e.ValueOver(t, vars), vars, t.Axes)
}

// readAtTime replaces the token by another time step of the same call.
func readAtTime(e *expr.Builder, t *tensor.Tensor, to tensor.Affine) *tensor.Tensor {
	u := overBatchAndTime(e, t).Clone()
	for _, f := range u.Factors {
		for i, s := range f.Sub {
			if s.Visible < 0 && s.Affine.Var() == e.Token {
				f.Sub[i].Affine = to
			}
		}
	}
	return u
}
