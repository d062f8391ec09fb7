package irbuild

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A stepClaim serves the claims of a rule: one token of one lane. What has no
// state behind it is a parameter; what has is computed by one step.
type stepClaim struct {
	*claimNames
	series *ruleNames // only for the types of what has no state behind it
	now    map[string]*ten
	static map[string]*ten
	bars   map[string]*ten
	reach  map[string]*reach // how far the step looks back at a series
	shift  moment            // when equations of states are read, where not now
}

func newStepClaim(blk *check.Block, name string, ds *diag.List) (*builder, claimNamer) {
	var quiet diag.List
	o, series := newRuleBuilder(blk, name, &quiet)
	for _, eq := range blk.Eqs {
		if eq.Class != check.Recurrent {
			series.equation(o, eq)
		}
	}
	e := newBuilder(blk, name, ds)
	e.axes, e.sized = o.axes, o.sized
	e.token = e.newVar("t", o.token.axis)
	n := &stepClaim{claimNames: newClaimNames(), series: series, static: map[string]*ten{}}
	n.windows(o)
	e.names, e.step = n, n
	return e, n
}

func (n *stepClaim) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	eq := e.blk.Equation(sym.Name)
	switch {
	case when.at != nil && (sym.Kind == check.State || eq != nil && eq.Class == check.Recurrent):
		e.behind(sym, span)
		return nil
	case sym.Kind == check.Anchor, sym.Kind == check.Snap:
		if of := e.blk.Symbols[sym.Of]; sym.Kind == check.Anchor && of.PerChunk() {
			return e.timeless(sym, when, span, n.held(e, of))
		}
		return e.timeless(sym, when, span, n.held(e, sym))
	case when.at != nil && eq != nil && eq.Class == check.Static:
		e.ds.Errorf(diag.NotSupported, span, "a claim speaks of one step: %s is read at another moment", sym.Name)
		return nil
	case sym.Kind == check.State, eq != nil && eq.Class == check.Recurrent:
		return n.stepped(e, sym, eq, when, span)
	case eq != nil && eq.Class == check.Static:
		if n.static[sym.Name] == nil {
			n.static[sym.Name] = e.apart(func() *ten { return e.equationValue(eq) })
		}
		return n.static[sym.Name]
	case when.before, when.initial:
		e.ds.Errorf(diag.TimeSuffix, span, "%s is a series and has no value at this moment", sym.Name)
		return nil
	}
	var axes []*ir.Axis
	elem := ir.Real
	if t := n.series.vals[sym.Name]; t != nil && eq != nil {
		axes = t.axes
	} else {
		var ok bool
		if axes, elem, ok = e.declared(sym); !ok {
			return nil
		}
	}
	if when.at != nil || when.now && n.reach[sym.Name] != nil {
		return n.inWindow(e, sym, when.at, elem, axes, span)
	}
	return n.moment(e, sym, when, elem, axes)
}

// moment is the parameter of a name at a moment.
func (n *stepClaim) moment(e *builder, sym *check.Symbol, when moment, elem ir.Elem, axes []*ir.Axis) *ten {
	key, spell := ident.ASCII(sym.Name), sym.Name
	switch {
	case when.now:
		key, spell = key+"_t", notation.At(spell, "_t")
	case when.before:
		key, spell = key+".before", notation.At(spell, "_{t−1}")
	}
	return n.param(e, key, elem, axes, Free{Text: spell, Sym: sym, Type: sym.Type})
}

// held is the parameter of an anchor, of a snap, or of a state where its
// context began.
func (n *stepClaim) held(e *builder, sym *check.Symbol) *ten {
	key, spell := ident.ASCII(sym.Name), sym.Name
	if sym.Kind == check.State {
		key, spell = key+".begin", spell+"_0"
	}
	axes, elem, ok := e.declared(sym)
	if !ok {
		return nil
	}
	return n.param(e, key, elem, axes, Free{Text: spell, Sym: sym, Type: sym.Type})
}

// stepped is a state, or an equation behind a state.
func (n *stepClaim) stepped(e *builder, sym *check.Symbol, eq *check.Equation, when moment, span notation.Span) *ten {
	when, ok := e.atMoment(sym, when, n.shift, span)
	switch {
	case !ok:
		return nil
	case when.now:
		n.step(e)
		return n.now[sym.Name]
	case sym.Kind == check.State && when.initial:
		return n.held(e, kept(e.blk, sym))
	case sym.Kind == check.State:
		axes, elem, ok := e.declared(sym)
		if !ok {
			return nil
		}
		return n.moment(e, sym, when, elem, axes)
	case when.before, when.initial:
		if !e.lags(eq, when, span) {
			return nil
		}
		old := n.shift
		n.shift = when
		defer func() { n.shift = old }()
		return e.elsewhen(eq)
	}
	n.step(e)
	if t := n.now[sym.Name]; t != nil {
		return n.moment(e, sym, when, t.elem, t.axes)
	}
	return nil
}

// apart builds something that does not see the claim's local names.
func (e *builder) apart(build func() *ten) *ten {
	scopes, safe := e.scopes, e.safe
	e.scopes, e.safe = nil, nil
	defer func() { e.scopes, e.safe = scopes, safe }()
	return build()
}

// step builds the equations behind states, once, each with a value of its own.
func (n *stepClaim) step(e *builder) {
	if n.now != nil {
		return
	}
	n.now = map[string]*ten{}
	id := e.eq
	defer func() { e.eq = id }()
	taken := map[*ir.Value]bool{}
	for _, eq := range e.blk.Eqs {
		if eq.Class != check.Recurrent {
			continue
		}
		t := e.apart(func() *ten { return e.equationValue(eq) })
		if t == nil {
			continue
		}
		if sym := e.blk.Symbols[eq.Name]; sym.Kind == check.State && t.isLiteral() {
			axes, _, _ := e.declared(sym)
			t = &ten{axes: axes, elem: ir.Real, coef: t.coef}
		}
		t = e.one(t)
		if v := t.fs[0].val; v.Def == nil || taken[v] {
			t = e.copied(t)
		}
		taken[t.fs[0].val] = true
		n.now[eq.Name] = t
	}
}

// barred is an adjoint of the step: complete, of a value now or of a state
// before.
func (n *stepClaim) barred(e *builder, x *notation.Ident, suffix string) *ten {
	if n.bars == nil {
		n.reverse(e)
	}
	name, _ := e.blk.Split(x.Name.Text)
	when, ok := e.moment(x, suffix)
	if !ok {
		return literal(0)
	}
	if t := n.windowBar(e, name, when); t != nil {
		return t
	}
	key := name
	switch {
	case when.now:
		key += "_t"
	case when.before:
		key += ".before"
	}
	if t := n.bars[key]; t != nil {
		return t
	}
	return n.noBar(e, x, "a step has the adjoints of what it reads, of the states before and after it, and of its output")
}

// reverse derives the adjoints of one step: adjoints come in for the states
// after it and for what it gives.
func (n *stepClaim) reverse(e *builder) {
	n.step(e)
	n.bars = map[string]*ten{}
	seeds := map[*ir.Value]*ir.Value{}
	var wrt []*ir.Value
	for _, p := range e.f.Params {
		if p.Elem == ir.Real {
			wrt = append(wrt, p)
		}
	}
	for _, eq := range e.blk.Eqs {
		t := n.now[eq.Name]
		if t == nil {
			continue
		}
		wrt = append(wrt, t.fs[0].val)
		if sym := e.blk.Symbols[eq.Name]; sym.Kind == check.State || eq.Name == "y" {
			v := e.f.AddParam(ir.AdjointName(ident.ASCII(eq.Name)), ir.Adjoint, ir.Real, t.fs[0].val.Axes...)
			n.frees[v.Name] = Free{Text: eq.Name + "̄_t from later"}
			seeds[t.fs[0].val] = v
		}
	}
	adj := autodiff.Reverse(e.b, seeds, wrt)
	give := func(key string, t *ten) {
		u := t.clone()
		v := t.fs[0].val
		if u.fs[0].val = adj[v]; u.fs[0].val == nil {
			u.fs[0].val = e.b.Const(0, v.Axes...)
		}
		n.bars[key] = u
	}
	for _, name := range slices.Sorted(maps.Keys(n.now)) {
		give(name+"_t", n.now[name])
	}
	for _, name := range slices.Sorted(maps.Keys(n.reach)) {
		if t := n.params[ident.ASCII(name)+".window"]; t != nil {
			give(name+".window", t)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(n.params)) {
		t := n.params[key]
		if v := t.fs[0].val; v.Elem == ir.Real && v.Role != ir.Adjoint {
			give(n.spelled(key), t)
		}
	}
}

// spelled is the page's name of a parameter with its moment.
func (n *stepClaim) spelled(key string) string {
	f := n.frees[n.params[key].fs[0].val.Name]
	if f.Sym == nil {
		return key
	}
	return f.Sym.Name + key[len(ident.ASCII(f.Sym.Name)):]
}
