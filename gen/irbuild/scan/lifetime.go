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

// A strategy may read states as they were where the chunk began, in a rule that is
// computed token by token. Then each such state has a copy, and a counter of the
// tokens since the chunk began says when the copies are replaced. Counter and copies
// are states: chunks are counted from the start of the context, so results do not
// depend on how a sequence is cut into calls.

// stateAtChunkStart is a state where the chunk of this token began.
func (s *Step) stateAtChunkStart(sym *check.Symbol) *tensor.Tensor {
	if t := s.sharedValues[sym.Name]; t != nil {
		return t
	}
	axes, _, ok := s.e.Declared(sym)
	if !ok || s.carry[sym.Of] == nil {
		return nil
	}
	e := s.e
	t := e.Isolated(func() *tensor.Tensor {
		old := s.addCarryState(ident.ASCII(sym.Of)+".chunk", axes)
		now := e.Materialize(e.Select(s.chunkBegins(), s.carry[sym.Of], old))
		s.setNext(old, now)
		return now
	})
	s.sharedValues[sym.Name] = t
	return t
}

// chunkBegins holds at the first token of a chunk.
func (s *Step) chunkBegins() *tensor.Tensor {
	const name = "chunk.age"
	if t := s.sharedValues[name]; t != nil {
		return t
	}
	e := s.e
	old := s.addCarryState(name, nil)
	next := e.Add(old, tensor.Number(1), 1)
	full := e.Entrywise(ir.LessEq, tensor.Number(float64(e.Block.Strategy.Length())), next)
	s.setNext(old, e.Materialize(e.Select(full, tensor.Number(0), next)))
	s.sharedValues[name] = e.Materialize(e.Entrywise(ir.Equal, old, tensor.Number(0)))
	return s.sharedValues[name]
}

// addCarryState adds a carried state that no page declares, and the parameter that holds
// it between calls.
func (s *Step) addCarryState(name string, axes []*ir.Axis) *tensor.Tensor {
	o := s.outer
	init := o.Func.AddParam(name, ir.State, ir.Real, append([]*ir.Axis{o.Batch.Axis}, axes...)...)
	p := s.e.Func.AddParam(name, ir.Carry, ir.Real, axes...)
	s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
	return s.e.FromValue(p, nil, axes)
}

// setNext sets the next value of a state that addCarryState made.
func (s *Step) setNext(old, next *tensor.Tensor) {
	for i := range s.scan.Carry {
		if c := &s.scan.Carry[i]; c.Param == old.Factors[0].Val {
			c.Next = s.e.ValueOver(next, nil)
		}
	}
}

// addFinalState makes the final value of a state that addCarryState made a result.
func (s *Step) addFinalState(in *ir.Instr, c *ir.ScanState) {
	f := s.outer.Func
	c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".next"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
	f.Results = append(f.Results, ir.Result{Name: c.Init.Name, Val: c.Final, State: true})
	s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
}
