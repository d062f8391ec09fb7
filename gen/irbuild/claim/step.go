package claim

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Claims of rules: about one token of one sequence.

// A stepClaim serves the claims of a rule: one token of one sequence. A name that depends
// on no state is a parameter; the others are computed by one step.
type stepClaim struct {
	*names
	series   *scan.Names // only for the types of what depends on no state
	now      map[string]*tensor.Tensor
	static   map[string]*tensor.Tensor
	bars     map[string]*tensor.Tensor
	lookback map[string]*lookback // how far the step reads a window at a series
	shift    expr.Time            // when equations of states are read, where not now
}

func newStepClaim(blk *check.Block, name string, ds *diag.List) (*expr.Builder, claimNamer) {
	var quiet diag.List
	o, series := scan.NewBuilder(blk, name, &quiet)
	for _, eq := range blk.Eqs {
		if eq.Class != check.Recurrent {
			series.Equation(o, eq)
		}
	}
	e := expr.New(blk, name, ds)
	e.Axes, e.Sized = o.Axes, o.Sized
	e.Token = e.NewVar("t", o.Token.Axis)
	n := &stepClaim{names: newNames(), series: series, static: map[string]*tensor.Tensor{}}
	n.windows(o)
	e.Names, e.Counter = n, n
	return e, n
}

// Resolve finds the value of a name in one step.
func (n *stepClaim) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := e.Block.Equation(sym.Name)
	switch {
	case when.At != nil && (sym.Kind == check.State || eq != nil && eq.Class == check.Recurrent):
		scan.RefuseWindow(e, sym, span)
		return nil
	case sym.Kind == check.Anchor, sym.Kind == check.Snap:
		if of := e.Block.Symbols[sym.Of]; sym.Kind == check.Anchor && of.PerChunk() {
			return e.Timeless(sym, when, span, n.heldParam(e, of))
		}
		return e.Timeless(sym, when, span, n.heldParam(e, sym))
	case when.At != nil && eq != nil && eq.Class == check.Static:
		e.Diags.Errorf(diag.NotSupported, span, "a claim is about one step: %s is read at another time step", sym.Name)
		return nil
	case sym.Kind == check.State, eq != nil && eq.Class == check.Recurrent:
		return n.stepValue(e, sym, eq, when, span)
	case eq != nil && eq.Class == check.Static:
		if n.static[sym.Name] == nil {
			n.static[sym.Name] = e.Isolated(func() *tensor.Tensor { return e.Equation(eq) })
		}
		return n.static[sym.Name]
	case when.Before, when.Initial:
		e.Diags.Errorf(diag.TimeSuffix, span, "%s is a series and has no value at this time step", sym.Name)
		return nil
	}
	var axes []*ir.Axis
	elem := ir.Real
	if t := n.series.Values[sym.Name]; t != nil && eq != nil {
		axes = t.Axes
	} else {
		var ok bool
		if axes, elem, ok = e.Declared(sym); !ok {
			return nil
		}
	}
	if when.At != nil || when.Now && n.lookback[sym.Name] != nil {
		return n.inWindow(e, sym, when.At, elem, axes, span)
	}
	return n.paramAt(e, sym, when, elem, axes)
}

// paramAt is the parameter of a name at a time step.
func (n *stepClaim) paramAt(e *expr.Builder, sym *check.Symbol, when expr.Time, elem ir.Elem, axes []*ir.Axis) *tensor.Tensor {
	key, spell := ident.ASCII(sym.Name), sym.Name
	switch {
	case when.Now:
		key, spell = key+"_t", notation.At(spell, "_t")
	case when.Before:
		key, spell = key+".before", notation.At(spell, "_{t−1}")
	}
	return n.param(e, key, elem, axes, Free{Text: spell, Sym: sym, Type: sym.Type})
}

// heldParam is the parameter of an anchor, of a snap, or of a state where its
// context began.
func (n *stepClaim) heldParam(e *expr.Builder, sym *check.Symbol) *tensor.Tensor {
	key, spell := ident.ASCII(sym.Name), sym.Name
	if sym.Kind == check.State {
		key, spell = key+".begin", spell+"_0"
	}
	axes, elem, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	return n.param(e, key, elem, axes, Free{Text: spell, Sym: sym, Type: sym.Type})
}

// stepValue is a state, or an equation that depends on states.
func (n *stepClaim) stepValue(e *expr.Builder, sym *check.Symbol, eq *check.Equation, when expr.Time, span notation.Span) *tensor.Tensor {
	when, ok := scan.TimeAt(e, sym, when, n.shift, span)
	switch {
	case !ok:
		return nil
	case when.Now:
		n.step(e)
		return n.now[sym.Name]
	case sym.Kind == check.State && when.Initial:
		return n.heldParam(e, scan.Holder(e.Block, sym))
	case sym.Kind == check.State:
		axes, elem, ok := e.Declared(sym)
		if !ok {
			return nil
		}
		return n.paramAt(e, sym, when, elem, axes)
	case when.Before, when.Initial:
		if !scan.CanShift(e, eq, when, span) {
			return nil
		}
		old := n.shift
		n.shift = when
		defer func() { n.shift = old }()
		return e.Rebuild(eq)
	}
	n.step(e)
	if t := n.now[sym.Name]; t != nil {
		return n.paramAt(e, sym, when, t.Elem, t.Axes)
	}
	return nil
}

// step builds the equations that depend on states, once, each with a value of its own.
func (n *stepClaim) step(e *expr.Builder) {
	if n.now != nil {
		return
	}
	n.now = map[string]*tensor.Tensor{}
	id := e.Eq
	defer func() { e.Eq = id }()
	taken := map[*ir.Value]bool{}
	for _, eq := range e.Block.Eqs {
		if eq.Class != check.Recurrent {
			continue
		}
		t := e.Isolated(func() *tensor.Tensor { return e.Equation(eq) })
		if t == nil {
			continue
		}
		if sym := e.Block.Symbols[eq.Name]; sym.Kind == check.State && t.IsNumber() {
			axes, _, _ := e.Declared(sym)
			t = t.Over(axes)
		}
		t = e.Materialize(t)
		if v := t.Factors[0].Val; v.Def == nil || taken[v] {
			t = e.Copy(t)
		}
		taken[t.Factors[0].Val] = true
		n.now[eq.Name] = t
	}
}

// Adjoint is an adjoint of the step: complete, of a value now or of a state
// before.
func (n *stepClaim) Adjoint(e *expr.Builder, x *notation.Ident, suffix string) *tensor.Tensor {
	if n.bars == nil {
		n.reverse(e)
	}
	name, _ := e.Block.Split(x.Name.Text)
	when, ok := e.ReadTime(x, suffix)
	if !ok {
		return tensor.Number(0)
	}
	if t := n.windowBar(e, name, when); t != nil {
		return t
	}
	key := name
	switch {
	case when.Now:
		key += "_t"
	case when.Before:
		key += ".before"
	}
	if t := n.bars[key]; t != nil {
		return t
	}
	return n.refuseAdjoint(e, x, "a step has the adjoints of what it reads, of the states before and after it, and of its output")
}

// reverse derives the adjoints of one step from those of the states after it and of its
// results.
func (n *stepClaim) reverse(e *expr.Builder) {
	n.step(e)
	n.bars = map[string]*tensor.Tensor{}
	seeds := map[*ir.Value]*ir.Value{}
	wrt := realParams(e.Func)
	for _, eq := range e.Block.Eqs {
		t := n.now[eq.Name]
		if t == nil {
			continue
		}
		wrt = append(wrt, t.Factors[0].Val)
		if sym := e.Block.Symbols[eq.Name]; sym.Kind == check.State || eq.Name == "y" {
			v := e.Func.AddParam(ir.AdjointName(ident.ASCII(eq.Name)), ir.Adjoint, ir.Real, t.Factors[0].Val.Axes...)
			n.frees[v.Name] = Free{Text: eq.Name + "̄_t from later"}
			seeds[t.Factors[0].Val] = v
		}
	}
	adj := autodiff.Reverse(e.IR, seeds, wrt)
	give := func(key string, t *tensor.Tensor) { n.bars[key] = adjointOf(e, adj, t) }
	for _, name := range slices.Sorted(maps.Keys(n.now)) {
		give(name+"_t", n.now[name])
	}
	for _, name := range slices.Sorted(maps.Keys(n.lookback)) {
		if t := n.params[ident.ASCII(name)+".window"]; t != nil {
			give(name+".window", t)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n.params)) {
		t := n.params[key]
		if v := t.Factors[0].Val; v.Elem == ir.Real && v.Role != ir.Adjoint {
			give(n.keyOnPage(key), t)
		}
	}
}

// keyOnPage is the page's name of a parameter with its time step.
func (n *stepClaim) keyOnPage(key string) string {
	f := n.frees[n.params[key].Factors[0].Val.Name]
	if f.Sym == nil {
		return key
	}
	return f.Sym.Name + key[len(ident.ASCII(f.Sym.Name)):]
}
