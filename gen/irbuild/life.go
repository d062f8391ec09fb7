package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What lives longer than a token and is not written by one.
//
// An anchor is a parameter of the program like a state, and the same comes out:
// the memory keeps it from call to call, and a context that begins puts the
// first value of its state there. A snap is no parameter of its own: it is what
// the state's parameter holds. A state per chunk has no parameter at all: the
// scan begins with its first value, computed in the call. Inside the scan all
// three are values that every token of a lane sees, and none is carried.
//
// A frozen read writes nothing, so in it a state is the same at all moments:
// the snap is the state, the anchor is the anchor, and a state per chunk is its
// first value.

// roleOf is what a declared name is to a program. A constant with a start lies
// in the table of parameters.
func roleOf(sym *check.Symbol) ir.Role {
	switch {
	case sym.Kind == check.Outer, sym.Drawn():
		return ir.Outer
	case sym.Kind == check.Constant:
		return ir.Constant
	}
	return ir.Input
}

// firstValue is what a state starts from, for every lane; nil means that a
// message was given.
func (n *ruleNames) firstValue(e *builder, s *check.Symbol) *ir.Value {
	e.eq, e.span = e.blk.ID+"."+ident.ASCII(s.Name)+".start", s.Span
	axes, _, ok := e.declared(s)
	if !ok {
		return nil
	}
	t := literal(0)
	if s.Decl != nil && s.Decl.Init != nil {
		n.start = s
		t = e.closed(s.Decl.Init, e.fill(s.Decl.Init, e.operand(s.Decl.Init), axes))
		n.start = nil
		if t == nil {
			return nil
		}
	}
	if t.isLiteral() {
		t = &ten{axes: axes, elem: ir.Real, coef: t.coef}
	}
	if !slices.Equal(t.axes, axes) {
		e.ds.Errorf(diag.WrongResult, s.Decl.Init.Where(), "state %s is %s, but starts as %s", s.Name, e.typ(&ten{axes: axes, elem: ir.Real}), e.typ(t)).
			See(s.Span, "declared here")
		return nil
	}
	return e.pack(e.spread(e.one(t), []*loopVar{e.lane}), []*loopVar{e.lane})
}

// begin is the value of a state where the call begins: a parameter, or the
// first value of a state per chunk. Of an anchor it is its parameter.
func (n *ruleNames) begin(e *builder, sym *check.Symbol) *ir.Value {
	if n.states[sym.Name] != nil {
		return n.states[sym.Name]
	}
	if sym.PerChunk() {
		n.states[sym.Name] = n.anew(e, sym)
		return n.states[sym.Name]
	}
	axes, _, ok := e.declared(sym)
	if !ok {
		return nil
	}
	n.states[sym.Name] = e.f.AddParam(ident.ASCII(sym.Name), ir.State, ir.Real, append([]*ir.Axis{e.lane.axis}, axes...)...)
	return n.states[sym.Name]
}

// anew is the first value of a state per chunk, computed in the call itself and
// so with a gradient, in a frozen read too.
func (n *ruleNames) anew(e *builder, sym *check.Symbol) (v *ir.Value) {
	id, at := e.eq, e.span
	defer func() { e.eq, e.span = id, at }()
	e.apart(func() *ten {
		for _, eq := range e.blk.Eqs {
			if eq.Class == check.Static && n.vals[eq.Name] == nil {
				n.equation(e, eq)
			}
		}
		v = n.firstValue(e, sym)
		return nil
	})
	return v
}

// beginning is begin as a value of every lane.
func (n *ruleNames) beginning(e *builder, sym *check.Symbol) *ten {
	v := n.begin(e, sym)
	if v == nil {
		return nil
	}
	return e.ofValue(v, []*loopVar{e.lane}, v.Axes[1:])
}

// heldFrozen is an anchor, or the state of a snap.
func (n *ruleNames) heldFrozen(e *builder, sym *check.Symbol) *ten {
	return n.beginning(e, kept(e.blk, sym))
}

// stateFrozen is a state of a frozen read, or its anchor.
func (n *ruleNames) stateFrozen(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	if when.initial || n.first {
		sym = kept(e.blk, sym)
	}
	return n.beginning(e, sym)
}

// ofStatesFrozen is an equation of states alone where a frozen read wants it at
// another moment: at t−1 it is what it is now, at the start it is of the anchors.
func (n *ruleNames) ofStatesFrozen(e *builder, eq *check.Equation, when moment, span notation.Span) *ten {
	old := n.first
	n.first = n.first || when.initial
	defer func() { n.first = old }()
	return e.elsewhen(eq)
}

// kept is what holds the value of an anchor, of a snap, or of a state where its
// context began. A state per chunk begins with the call, and so does its anchor.
func kept(blk *check.Block, sym *check.Symbol) *check.Symbol {
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

// elsewhen builds an equation again, for another moment than this one. It sees
// none of the reader's local names.
func (e *builder) elsewhen(eq *check.Equation) *ten {
	id, at := e.eq, e.span
	defer func() { e.eq, e.span = id, at }()
	return e.apart(func() *ten { return e.equationValue(eq) })
}

// atMoment is the moment of a read inside an equation that is itself read at
// another moment.
func (e *builder) atMoment(sym *check.Symbol, when, by moment, span notation.Span) (moment, bool) {
	switch {
	case by == moment{}, when.initial:
		return when, true
	case when.now:
		return by, true
	case when.before && by.before:
		e.ds.Errorf(diag.TimeSuffix, span, "%s would be read two tokens back", sym.Name).
			Hint("what is read at t−1 may read states now only; give %s_{t−1} a state of its own", sym.Name)
	case when.before:
		e.ds.Errorf(diag.TimeSuffix, span, "%s would be read before its context began", sym.Name).
			Hint("what is read at 0 may read states now only")
	default:
		return when, true
	}
	return when, false
}

// lags refuses an equation that cannot be computed at another moment: one that
// reads what is no state, or what was another value in another call.
func (e *builder) lags(eq *check.Equation, when moment, span notation.Span) bool {
	at := "t−1"
	if when.initial {
		at = "0"
	}
	why := func(what, kind string) bool {
		e.ds.Errorf(diag.TimeSuffix, span, "%s cannot be read at %s: it depends on %s, which is %s", eq.Name, at, what, kind).
			See(eq.Span(), "defined here").Hint("make it a state, or define it from states alone")
		return false
	}
	for _, r := range e.blk.TimedReads(eq) {
		if e.blk.Symbols[r].Kind != check.State && !e.blk.FromStates(r) {
			return why(r, "not a state")
		}
	}
	if s := e.blk.SnapRead(eq); s != nil {
		return why(s.Name, "a snap")
	}
	return true
}

// hold is a value that all tokens of a lane see: an anchor, the state that a
// snap is of as the call found it, or the anchor of a state that is read at 0.
func (s *stepNames) hold(sym *check.Symbol) *ten {
	name := ident.ASCII(sym.Name)
	if sym.Kind == check.State {
		name += "_0"
	}
	sym = kept(s.e.blk, sym)
	if t := s.held[sym.Name]; t != nil {
		return t
	}
	v := s.series.begin(s.outer, sym)
	if v == nil {
		return nil
	}
	axes, _, ok := s.e.declared(sym)
	if !ok {
		return nil
	}
	if sym.Kind == check.Anchor {
		name = ident.ASCII(sym.Name)
	}
	p := s.e.f.AddParam(name, ir.Shared, ir.Real, axes...)
	s.scan.Shared = append(s.scan.Shared, ir.SharedArg{Param: p, Val: v, PerBatch: true})
	s.held[sym.Name] = s.e.ofValue(p, nil, axes)
	return s.held[sym.Name]
}

// keepAnchors gives out the anchors as they came in.
func (s *stepNames) keepAnchors() {
	for _, sym := range s.e.blk.SymSeq {
		if v := s.series.states[sym.Name]; v != nil && sym.Kind == check.Anchor {
			s.outer.f.Results = append(s.outer.f.Results, ir.Result{Name: v.Name, Val: v, State: true})
		}
	}
}
