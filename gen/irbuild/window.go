package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A window behind a state. What is read at the moments of a window has no state
// behind it, so it is a series of the whole chunk, built in front of the scan
// and with what the context kept of it in front of that, as for any window. The
// step sees it as a token with one axis more: entry j is the series at t − j.
// No copy is made, the token is read where the series lies.
//
// How many of its moments a context has is a count that a step's guards read:
// the tokens before the chunk and those of the chunk so far. What lies before
// the start is left out, never taken as zero. Values and order of a sum depend
// on the context alone, so a cut into chunks changes no bit.

// windows are the tokens of a scan that reach back in time.
type windows struct {
	vals  map[windowKey]*ir.Value
	count *ir.Value // how many tokens came before this one, in the context
}

type windowKey struct {
	name string
	axis *ir.Axis
}

// inWindow reads a series at a moment that a window has bound.
func (s *stepNames) inWindow(sym *check.Symbol, when moment, span notation.Span) *ten {
	o, b := s.outer, when.at
	if b.time == nil || b.wide == nil {
		s.e.ds.Errorf(diag.NotSupported, span, "%s cannot be read at this index behind a state", sym.Name).
			Hint("a window binds a moment: s∈window(t, w)")
		return nil
	}
	if eq := s.e.blk.Equation(sym.Name); sym.Kind == check.Outer || sym.Kind == check.Constant || eq != nil && !eq.Timed {
		return s.e.timeless(sym, when, span, nil)
	}
	t := s.series.name(o, sym, moment{now: true}, span)
	if t == nil || t.isLiteral() {
		return t
	}
	key := windowKey{sym.Name, b.wide}
	p := s.past.vals[key]
	if p == nil {
		eq, at := o.eq, o.span
		o.eq, o.span = s.e.eq, s.e.span
		long, base := o.extend(o.lift(o.laned(t), []*loopVar{o.token}), 0, b.wide)
		o.eq, o.span = eq, at
		val := long.fs[0].val
		p = s.e.f.AddParam(ident.ASCII(sym.Name), ir.Token, val.Elem, append([]*ir.Axis{b.wide}, t.axes...)...)
		s.scan.Tokens = append(s.scan.Tokens, ir.ScanInput{Param: p, Val: val, Window: b.wide, Base: base})
		if s.past.vals == nil {
			s.past.vals = map[windowKey]*ir.Value{}
		}
		s.past.vals[key] = p
	}
	out := s.e.ofValue(p, nil, p.Axes)
	return atMoment(out, varAff(s.e.token).add(*b.time, -1))
}

// atMoment reads the first visible axis of t at a subscript.
func atMoment(t *ten, to affine) *ten {
	u := t.clone()
	u.axes = u.axes[1:]
	for _, f := range u.fs {
		for i, s := range f.sub {
			switch {
			case s.slot > 0:
				f.sub[i].slot--
			case s.slot == 0:
				f.sub[i] = vsub{-1, to}
			}
		}
	}
	return u
}

// sinceStart is ≥ 0 exactly where a moment lies in the context: the tokens
// before this one count instead of the token itself.
func (s *stepNames) sinceStart(e *builder, at affine) affine {
	if s.past.count == nil {
		pos := s.outer.position0()
		s.past.count = s.e.f.AddParam("before", ir.Token, ir.Int)
		s.scan.Tokens = append(s.scan.Tokens, ir.ScanInput{Param: s.past.count, Val: pos.val, Count: true})
	}
	return e.counted(at, s.past.count)
}

// counted counts from an integer instead of from the token.
func (e *builder) counted(at affine, count *ir.Value) affine {
	rest := at.add(varAff(e.token), -1)
	return affine{terms: slices.Clone(rest.terms), c: rest.c, via: &factor{val: count}}
}

// endsNow refuses a window that ends before its reader's own moment, outside of
// operations: its tail would have to reach further back than the window.
func (e *builder) endsNow(x notation.Expr, end affine) bool {
	if e.plainTime() {
		return true
	}
	if v := end.single(); v != nil && v.axis == e.timeAxis() {
		return true
	}
	e.errorf(diag.NotSupported, x, "a window ends at the moment of its equation, and %s is another", text(x)).
		Hint("write window(t, w)")
	return false
}

// behind refuses a window over something that has a state behind it.
func (e *builder) behind(sym *check.Symbol, span notation.Span) {
	d := e.ds.Errorf(diag.NotSupported, span, "a window cannot look back at %s: its value at an earlier token is gone", sym.Name)
	if sym.Kind == check.State {
		d.Labelf("a state").See(sym.Span, "declared here").
			Hint("a window reads inputs and what is computed from them alone; a state is kept at t and t−1")
		return
	}
	state := e.stateBehind(sym.Name, map[string]bool{})
	d.Labelf("depends on the state %s", state).See(e.blk.Equation(sym.Name).Span(), "defined here").
		Hint("a window reads inputs and what is computed from them alone, without %s", state)
}

// stateBehind is the first state on which an equation depends.
func (e *builder) stateBehind(name string, seen map[string]bool) string {
	eq := e.blk.Equation(name)
	if eq == nil || seen[name] {
		return ""
	}
	seen[name] = true
	for _, r := range e.blk.TimedReads(eq) {
		if e.blk.Symbols[r].Kind == check.State {
			return r
		}
		if s := e.stateBehind(r, seen); s != "" {
			return s
		}
	}
	return ""
}
