package scan

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Values that live longer than a token and are not written by one.
//
// An anchor is a parameter of the program like a state, and a result with the same
// value: the memory keeps it from call to call, and a context that begins stores the
// initial value of its state there. A snap has no parameter: it is the value of the
// state's parameter. A state per chunk has no parameter either: the scan begins with
// its initial value, computed in the call. Inside the scan all three are values that
// every token of a sequence shares, and none is carried.
//
// A frozen read writes nothing, so in it a state is the same at all time steps: a
// snap is the state, an anchor is the anchor, and a state per chunk is its initial
// value.

// TimeAt is the time step of a read inside an equation that is itself read at another time
// step.
func TimeAt(e *expr.Builder, sym *check.Symbol, when, by expr.Time, span notation.Span) (expr.Time, bool) {
	switch {
	case by == expr.Time{}, when.Initial:
		return when, true
	case when.Now:
		return by, true
	case when.Before && by.Before:
		e.Diags.Errorf(diag.TimeSuffix, span, "%s would be read two tokens back", sym.Name).
			Hint("what is read at t−1 may read states now only; give %s_{t−1} a state of its own", sym.Name)
	case when.Before:
		e.Diags.Errorf(diag.TimeSuffix, span, "%s would be read before its context began", sym.Name).
			Hint("what is read at 0 may read states now only")
	default:
		return when, true
	}
	return when, false
}

// CanShift refuses an equation that cannot be computed at another time step: one that
// reads a value that is no state, or a snap, which had another value in another call.
func CanShift(e *expr.Builder, eq *check.Equation, when expr.Time, span notation.Span) bool {
	at := "t−1"
	if when.Initial {
		at = "0"
	}
	why := func(what, kind string) bool {
		e.Diags.Errorf(diag.TimeSuffix, span, "%s cannot be read at %s: it depends on %s, which is %s", eq.Name, at, what, kind).
			See(eq.Span(), "defined here").Hint("make it a state, or define it from states alone")
		return false
	}
	for _, r := range e.Block.TimedReads(eq) {
		if e.Block.Symbols[r].Kind != check.State && !e.Block.FromStates(r) {
			return why(r, "not a state")
		}
	}
	if s := e.Block.SnapRead(eq); s != nil {
		return why(s.Name, "a snap")
	}
	return true
}

// shared is a value that all tokens of a sequence share: an anchor, the state of a snap as
// the call found it, or the anchor of a state that is read at 0.
func (s *Step) shared(sym *check.Symbol) *tensor.Tensor {
	name := ident.ASCII(sym.Name)
	if sym.Kind == check.State {
		name += "_0"
	}
	sym = Holder(s.e.Block, sym)
	if t := s.sharedValues[sym.Name]; t != nil {
		return t
	}
	v := s.series.StateAtStart(s.outer, sym)
	if v == nil {
		return nil
	}
	axes, _, ok := s.e.Declared(sym)
	if !ok {
		return nil
	}
	if sym.Kind == check.Anchor {
		name = ident.ASCII(sym.Name)
	}
	p := s.e.Func.AddParam(name, ir.Shared, ir.Real, axes...)
	s.scan.Shared = append(s.scan.Shared, ir.SharedArg{Param: p, Val: v, PerBatch: true})
	s.sharedValues[sym.Name] = s.e.FromValue(p, nil, axes)
	return s.sharedValues[sym.Name]
}

// keepAnchors returns the anchors unchanged.
func (s *Step) keepAnchors() {
	for _, sym := range s.e.Block.SymSeq {
		if v := s.series.States[sym.Name]; v != nil && sym.Kind == check.Anchor {
			s.outer.Func.Results = append(s.outer.Func.Results, ir.Result{Name: v.Name, Val: v, State: true})
		}
	}
}
