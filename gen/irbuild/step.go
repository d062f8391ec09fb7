package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// stepNames serves the names inside a scan's body: one token of one lane.
type stepNames struct {
	outer   *builder
	series  *ruleNames
	e       *builder
	scan    *ir.Scan
	vals    map[string]*ten // equations of this step
	carry   map[string]*ten // states before the token
	outside *outside
	held    map[string]*ten
	past    windows    // series as windows see them
	shift   moment     // when equations of states are read, where not now
	probes  []probeVal // what a proof looks at
	bare    bool       // a probe is built: a bare state is the one after the write
	after   *chunking  // the tokens behind the last whole chunk, where a strategy computes the others
}

func newStep(outer *builder, series *ruleNames) *stepNames { return newStepAfter(outer, series, nil) }

// newStepAfter begins the scan over all tokens of the call, or over those that
// are left when it is cut into chunks.
func newStepAfter(outer *builder, series *ruleNames, after *chunking) *stepNames {
	e := newBuilder(outer.blk, outer.blk.ID+".step", outer.ds)
	e.axes, e.sized, e.trace = outer.axes, outer.sized, outer.trace
	time := outer.token.axis
	if after != nil {
		time = after.rest
	}
	e.token = e.newVar("t", time)
	s := &stepNames{outer: outer, series: series, e: e, vals: map[string]*ten{}, carry: map[string]*ten{},
		held: map[string]*ten{}, after: after, scan: &ir.Scan{Batch: outer.lane.axis, Time: time, Body: e.f}}
	s.outside = &outside{outer: outer, series: series, e: e, scan: s.scan, tokens: map[string]*ten{}, shared: map[string]*ten{}}
	if after != nil {
		s.outside.cut = after.behind
	}
	e.names, e.step = s, s
	for _, sym := range outer.blk.SymSeq {
		if sym.Kind == check.State && outer.blk.Equation(sym.Name) != nil {
			s.addCarry(sym)
		}
	}
	return s
}

func (s *stepNames) addCarry(sym *check.Symbol) {
	axes, _, ok := s.e.declared(sym)
	if !ok {
		return
	}
	p := s.e.f.AddParam(ident.ASCII(sym.Name), ir.Carry, ir.Real, axes...)
	s.carry[sym.Name] = s.e.ofValue(p, nil, axes)
	init := s.series.begin(s.outer, sym)
	if init == nil {
		return
	}
	if s.after != nil && s.after.end[sym.Name] != nil {
		init = s.after.end[sym.Name]
	}
	s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
}

func (s *stepNames) equation(eq *check.Equation) {
	t := s.e.equationValue(eq)
	if t == nil {
		return
	}
	sym := s.e.blk.Symbols[eq.Name]
	if sym.Kind == check.State {
		axes, _, _ := s.e.declared(sym)
		if t.isLiteral() {
			t = &ten{axes: axes, elem: ir.Real, coef: t.coef}
		}
		if !slices.Equal(t.axes, axes) || t.row {
			s.e.ds.Errorf(diag.WrongResult, eq.Value().Where(), "state %s is %s, but this is %s", sym.Name, s.e.typ(&ten{axes: axes, elem: ir.Real}), s.e.typ(t)).
				Labelf("%s", s.e.typ(t)).See(sym.Span, "declared here")
			return
		}
	}
	if len(t.fs) > 0 {
		t = s.e.one(t)
		s.e.named(t.fs[0].val, eq.Name)
	} else {
		t = s.e.one(t)
	}
	s.vals[eq.Name] = t
}

func (s *stepNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	eq := e.blk.Equation(sym.Name)
	switch {
	case sym.Kind == check.State:
		return s.state(sym, when, span)
	case eq != nil && eq.Class == check.Recurrent && when.at != nil:
		s.e.behind(sym, span)
		return nil
	case sym.Kind == check.Snap && e.blk.Strategy != nil:
		return e.timeless(sym, when, span, s.boundary(sym))
	case sym.Kind == check.Anchor, sym.Kind == check.Snap:
		return e.timeless(sym, when, span, s.hold(sym))
	case eq != nil && eq.Class == check.Recurrent && (when.before || when.initial || s.shift != moment{}):
		return s.previous(eq, when, span)
	case eq != nil && eq.Class == check.Recurrent && when.now:
		return s.vals[sym.Name]
	case eq != nil && eq.Class == check.Recurrent:
		e.ds.Errorf(diag.TimeSuffix, span, "%s changes with every token", sym.Name).Hint("write %s_t", sym.Name)
		return nil
	case when.at != nil:
		return s.inWindow(sym, when, span)
	}
	return s.outside.value(sym, when, span)
}

// state is a state before this token's write, after it, or where the context
// began.
func (s *stepNames) state(sym *check.Symbol, when moment, span notation.Span) *ten {
	when, ok := s.e.atMoment(sym, when, s.shift, span)
	switch {
	case !ok:
		return nil
	case when.at != nil:
		s.e.behind(sym, span)
		return nil
	case when.initial && s.e.blk.AnchorOf(sym.Name) == nil && !sym.PerChunk():
		s.e.ds.Errorf(diag.NotSupported, span, "no equation reads %s_0, so the memory does not keep it", sym.Name).
			Hint("an invariant speaks of what the rule has")
		return nil
	case when.initial:
		return s.hold(sym)
	case when.before:
		return s.carry[sym.Name]
	case when.now, s.bare:
		return s.vals[sym.Name]
	}
	s.e.ds.Errorf(diag.TimeSuffix, span, "state %s changes with every token", sym.Name).
		Hint("write %s before the write or %s after it", notation.At(sym.Name, "_{t−1}"), notation.At(sym.Name, "_t"))
	return nil
}

// previous is an equation of states alone, built from the states before the
// token, or from those where the context began.
func (s *stepNames) previous(eq *check.Equation, when moment, span notation.Span) *ten {
	sym := s.e.blk.Symbols[eq.Name]
	when, ok := s.e.atMoment(sym, when, s.shift, span)
	if !ok || !s.e.lags(eq, when, span) {
		return nil
	}
	old := s.shift
	s.shift = when
	defer func() { s.shift = old }()
	return s.e.elsewhen(eq)
}

// finish adds the scan to the rule's program.
func (s *stepNames) finish() {
	y := s.close()
	if y == nil {
		y = s.outer.pack(s.series.vals["y"], []*loopVar{s.outer.lane, s.outer.token})
	}
	s.outer.f.Results = append([]ir.Result{{Name: "y", Val: y}}, s.outer.f.Results...)
}

// close adds the scan to the rule's program, with its states as results, and
// returns the series of answers, or nil where those need no state.
func (s *stepNames) close() *ir.Value {
	f := s.outer.f
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.blk.ID, Span: s.outer.blk.Unit.Name.Span}
	var y *ir.Value
	if t := s.vals["y"]; t != nil {
		y = s.emitSeries(t)
	}
	for _, p := range s.probes {
		s.emitProbe(p)
	}
	for i := range s.scan.Carry {
		c := &s.scan.Carry[i]
		if c.Next != nil { // of a chunk's beginning
			s.closeBoundary(in, c)
			continue
		}
		sym := s.e.blk.Symbols[s.symbolOf(c.Param)]
		c.Next = s.e.pack(s.vals[sym.Name], nil)
		s.e.f.Results = append(s.e.f.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
		if sym.PerChunk() {
			continue
		}
		name := s.series.states[sym.Name].Name
		c.Final = &ir.Value{Name: f.Fresh(name + ".next"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
		f.Results = append(f.Results, ir.Result{Name: name, Val: c.Final, State: true})
	}
	for _, v := range in.Defines() {
		v.Def = in
	}
	f.Body = append(f.Body, in)
	s.keepAnchors()
	return y
}

// emitSeries makes y an output of the scan.
func (s *stepNames) emitSeries(y *ten) *ir.Value {
	val := s.e.pack(y, nil)
	axes := append([]*ir.Axis{s.outer.lane.axis, s.scan.Time}, val.Axes...)
	out := &ir.Value{Name: s.outer.f.Fresh("y"), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: val, Out: out})
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: "y", Val: val})
	return out
}

func (s *stepNames) symbolOf(p *ir.Value) string {
	for name, t := range s.carry {
		if t.fs[0].val == p {
			return name
		}
	}
	return ""
}
