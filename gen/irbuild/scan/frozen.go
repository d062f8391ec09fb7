package scan

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// The frozen read: y of a memory whose states do not change. The equations of the
// states are left out; a state is the same at all time steps.

// Frozen builds the frozen read of one head of a rule; of a strategy, that of its rule.
func Frozen(blk *check.Block, ds *diag.List) *ir.Func {
	if blk.Strategy != nil {
		blk = blk.Strategy.Rule
	}
	e, n := NewBuilder(blk, ir.FrozenName(blk.ID), ds)
	n.frozen = true
	before := ds.Len()
	for _, eq := range blk.Eqs {
		if blk.Symbols[eq.Name] != nil && blk.Symbols[eq.Name].Kind == check.State {
			continue
		}
		if blk.DependsOn("y", eq.Name) { // without passing through a state
			n.Equation(e, eq)
		}
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	e.Func.Results = append([]ir.Result{{Name: "y", Val: e.Named(e.ValueOver(n.Values["y"], []*tensor.LoopVar{e.Batch, e.Token}), "y")}}, e.Func.Results...)
	keepWindowStates(e, blk)
	program.Prune(e.Func)
	return e.Func
}

// frozenState is a state of a frozen read, or its anchor.
func (n *Names) frozenState(e *expr.Builder, sym *check.Symbol, when expr.Time) *tensor.Tensor {
	if when.Initial || n.atContextStart {
		sym = Holder(e.Block, sym)
	}
	return n.valueAtStart(e, sym)
}

// frozenEquation is an equation of states alone that a frozen read needs at another time
// step: at t−1 it is the present one, at the start it is built of the anchors.
func (n *Names) frozenEquation(e *expr.Builder, eq *check.Equation, when expr.Time) *tensor.Tensor {
	old := n.atContextStart
	n.atContextStart = n.atContextStart || when.Initial
	defer func() { n.atContextStart = old }()
	return e.Rebuild(eq)
}

// keepWindowStates makes a frozen read keep every window state that the rule keeps, also
// those that its own results do not need: the keys that a frozen call reads belong to the
// window of the first call that writes again.
func keepWindowStates(e *expr.Builder, blk *check.Block) {
	var quiet diag.List
	b := expr.New(blk, blk.ID, &quiet)
	b.Axes, b.Sized = e.Axes, e.Sized
	rule, names := serveRule(b)
	f := names.Program(rule, nil)
	if f == nil || len(rule.WindowStates) == 0 {
		return // what is wrong with the rule is said where it is built
	}
	e.NameWindowStatesAs(rule)
	f.Results = slices.DeleteFunc(f.Results, func(r ir.Result) bool {
		return !r.State || !expr.IsWindowState(rule, r.Name) || expr.IsWindowState(e, r.Name)
	})
	f.Sweep()
	args := map[*ir.Value]*ir.Value{}
	used := f.Uses()
	for _, p := range f.Params {
		if used[p] == 0 {
			continue
		}
		mine := e.Func.Param(p.Name)
		if mine == nil {
			mine = e.Func.AddParam(p.Name, p.Role, p.Elem, p.Axes...)
			mine.NoGrad = p.NoGrad
		}
		args[p] = mine
	}
	out := e.IR.Inline(f, args)
	for _, r := range f.Results {
		e.Func.Results = append(e.Func.Results, ir.Result{Name: r.Name, Val: out[r.Name], State: true})
	}
}
