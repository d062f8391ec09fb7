package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// stepNames serves the names inside a scan's body: one token of one lane.
type stepNames struct {
	outer  *builder
	series *ruleNames
	e      *builder
	scan   *ir.Scan
	vals   map[string]*ten // equations of this step
	carry  map[string]*ten // states before the token
	tokens map[string]*ten
	shared map[string]*ten
	past   windows    // series as windows see them
	before bool       // equations of states are read at the moment before
	probes []probeVal // what a proof looks at
	bare   bool       // a probe is built: a bare state is the one after the write
}

func newStep(outer *builder, series *ruleNames) *stepNames {
	e := newBuilder(outer.blk, outer.blk.ID+".step", outer.ds)
	e.axes, e.sized, e.trace = outer.axes, outer.sized, outer.trace
	e.token = e.newVar("t", outer.token.axis)
	s := &stepNames{outer: outer, series: series, e: e, vals: map[string]*ten{}, carry: map[string]*ten{},
		tokens: map[string]*ten{}, shared: map[string]*ten{},
		scan: &ir.Scan{Lane: outer.lane.axis, Time: outer.token.axis, Body: e.f}}
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
	p := s.e.f.AddParam(check.ASCII(sym.Name), ir.Carry, ir.Real, axes...)
	s.carry[sym.Name] = s.e.ofValue(p, nil, axes)
	init := s.outer.f.AddParam(check.ASCII(sym.Name), ir.State, ir.Real, append([]*ir.Axis{s.outer.lane.axis}, axes...)...)
	s.scan.Carry = append(s.scan.Carry, ir.Carried{Param: p, Init: init})
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
	case eq != nil && eq.Class == check.Step && when.at != nil:
		s.e.behind(sym, span)
		return nil
	case eq != nil && eq.Class == check.Step && (when.before || s.before):
		return s.previous(eq, span)
	case eq != nil && eq.Class == check.Step && when.now:
		return s.vals[sym.Name]
	case eq != nil && eq.Class == check.Step:
		e.ds.Errorf(diag.TimeSuffix, span, "%s changes with every token", sym.Name).Hint("write %s_t", sym.Name)
		return nil
	case when.at != nil:
		return s.inWindow(sym, when, span)
	}
	return s.fromOutside(sym, when, span)
}

// state is a state before this token's write, or after it.
func (s *stepNames) state(sym *check.Symbol, when moment, span notation.Span) *ten {
	switch {
	case when.at != nil:
		s.e.behind(sym, span)
		return nil
	case when.before || s.before && when.now:
		return s.carry[sym.Name]
	case when.now, s.bare:
		return s.vals[sym.Name]
	}
	s.e.ds.Errorf(diag.TimeSuffix, span, "state %s changes with every token", sym.Name).
		Hint("write %s before the write or %s after it", notation.At(sym.Name, "_{t−1}"), notation.At(sym.Name, "_t"))
	return nil
}

// previous is an equation of states alone, built from the states before the
// token.
func (s *stepNames) previous(eq *check.Equation, span notation.Span) *ten {
	for _, r := range check.Timed(s.e.blk, eq) {
		if k := s.e.blk.Symbols[r]; k.Kind != check.State && !check.OfStates(s.e.blk, r) {
			s.e.ds.Errorf(diag.TimeSuffix, span, "%s cannot be read at t−1: it depends on %s, which is not a state", eq.Name, r).
				See(eq.Span(), "defined here").Hint("make it a state, or define it from states alone")
			return nil
		}
	}
	old := s.before
	s.before = true
	defer func() { s.before = old }()
	id, at := s.e.eq, s.e.span
	defer func() { s.e.eq, s.e.span = id, at }()
	return s.e.side(eq)
}

// fromOutside is a value that has no state behind it: this token's slice of a
// series, or something that is the same for all tokens.
func (s *stepNames) fromOutside(sym *check.Symbol, when moment, span notation.Span) *ten {
	if t := s.tokens[sym.Name]; t != nil {
		return t
	}
	if t := s.shared[sym.Name]; t != nil {
		return t
	}
	o := s.outer
	t := s.series.name(o, sym, when, span)
	if t == nil {
		return nil
	}
	if t.isLiteral() {
		return t
	}
	eq := o.blk.Equation(sym.Name)
	if sym.Kind == check.Outer || sym.Kind == check.Constant || (eq != nil && !eq.Timed) {
		v := o.pack(t, nil)
		p := s.e.f.AddParam(check.ASCII(sym.Name), ir.Shared, v.Elem, v.Axes...)
		p.NoGrad = v.NoGrad
		s.scan.Shared = append(s.scan.Shared, ir.SharedArg{Param: p, Val: v})
		s.shared[sym.Name] = s.e.ofValue(p, nil, t.axes)
		return s.shared[sym.Name]
	}
	v := o.named(o.pack(t, []*loopVar{o.lane, o.token}), sym.Name)
	p := s.e.f.AddParam(check.ASCII(sym.Name), ir.Token, v.Elem, t.axes...)
	s.scan.Tokens = append(s.scan.Tokens, ir.Sliced{Param: p, Val: v})
	s.tokens[sym.Name] = s.e.ofValue(p, nil, t.axes)
	return s.tokens[sym.Name]
}

// finish adds the scan to the rule's program.
func (s *stepNames) finish() {
	f := s.outer.f
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.blk.ID, Span: s.outer.blk.Unit.Name.Span}
	y := s.vals["y"]
	if y != nil {
		s.emitSeries(y)
	}
	for _, p := range s.probes {
		s.emitProbe(p)
	}
	for i := range s.scan.Carry {
		c := &s.scan.Carry[i]
		next := s.vals[s.symbolOf(c.Param)]
		c.Next = s.e.pack(next, nil)
		c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".next"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
		f.Results = append(f.Results, ir.Result{Name: c.Init.Name, Val: c.Final, State: true})
		s.e.f.Results = append(s.e.f.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
	}
	for _, v := range in.Defines() {
		v.Def = in
	}
	f.Body = append(f.Body, in)
	if y == nil {
		f.Results = append([]ir.Result{{Name: "y", Val: s.outer.pack(s.series.vals["y"], []*loopVar{s.outer.lane, s.outer.token})}}, f.Results...)
	}
}

// emitSeries makes y an output of the scan.
func (s *stepNames) emitSeries(y *ten) {
	f := s.outer.f
	val := s.e.pack(y, nil)
	axes := append([]*ir.Axis{s.outer.lane.axis, s.outer.token.axis}, val.Axes...)
	out := &ir.Value{Name: f.Fresh("y"), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.Series{Val: val, Out: out})
	f.Results = append([]ir.Result{{Name: "y", Val: out}}, f.Results...)
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: "y", Val: val})
}

func (s *stepNames) symbolOf(p *ir.Value) string {
	for name, t := range s.carry {
		if t.fs[0].val == p {
			return name
		}
	}
	return ""
}
