package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// What the body of a scan reads that has no state behind it comes from outside:
// a series, of which each step gets its part, or something that is the same at
// all of them. A scan over tokens gives a step one token of a series, one over
// chunks the tokens of a chunk, and one over what is left behind the chunks a
// token of that; the three differ in how the series is cut, and in nothing else.

// outside serves the names of a scan's body that have no state behind them.
type outside struct {
	outer  *builder
	series *ruleNames
	e      *builder // of the body
	scan   *ir.Scan
	cut    func(*builder, *ir.Value) *ir.Value // the parts of a series, nil for its tokens as they are
	loops  []*loopVar                          // over the tokens of a part, none where it is one token

	tokens map[string]*ten
	shared map[string]*ten
}

// value is a name read at a moment.
func (s *outside) value(sym *check.Symbol, when moment, span notation.Span) *ten {
	if t := s.tokens[sym.Name]; t != nil && when.now {
		return t
	}
	if t := s.shared[sym.Name]; t != nil && when == (moment{}) {
		return t
	}
	o := s.outer
	t := s.series.name(o, sym, when, span)
	if t == nil || t.isLiteral() {
		return t
	}
	eq := o.blk.Equation(sym.Name)
	if sym.Kind == check.Outer || sym.Kind == check.Constant || eq != nil && !eq.Timed {
		v := o.pack(t, nil)
		p := s.e.f.AddParam(ident.ASCII(sym.Name), ir.Shared, v.Elem, v.Axes...)
		p.NoGrad = v.NoGrad
		s.scan.Shared = append(s.scan.Shared, ir.SharedArg{Param: p, Val: v})
		s.shared[sym.Name] = s.e.ofValue(p, nil, t.axes)
		return s.shared[sym.Name]
	}
	v := s.parts(sym, eq, t)
	p := s.e.f.AddParam(ident.ASCII(sym.Name), ir.Token, v.Elem, v.Axes[2:]...)
	s.scan.Tokens = append(s.scan.Tokens, ir.ScanInput{Param: p, Val: v})
	s.tokens[sym.Name] = s.e.ofValue(p, s.loops, t.axes)
	return s.tokens[sym.Name]
}

// parts is a series as the scan takes it, [lane, step, …].
func (s *outside) parts(sym *check.Symbol, eq *check.Equation, t *ten) *ir.Value {
	o := s.outer
	series := []*loopVar{o.lane, o.token}
	if s.cut == nil {
		return o.named(o.pack(t, series), sym.Name)
	}
	id, at := o.eq, o.span
	defer func() { o.eq, o.span = id, at }()
	if eq != nil {
		o.eq, o.span = eq.ID, eq.Span()
	}
	return s.cut(o, o.named(o.pack(t, series), sym.Name))
}
