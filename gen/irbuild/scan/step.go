package scan

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The body of a scan: one token of one sequence. A state is a parameter of the body
// and one of its results.

// A Step serves the names inside the body of a scan: one token of one sequence.
type Step struct {
	outer        *expr.Builder
	series       *Names
	e            *expr.Builder
	scan         *ir.Scan
	vals         map[string]*tensor.Tensor // equations of this step
	carry        map[string]*tensor.Tensor // states before the token
	carried      map[*ir.Value]*check.Symbol
	inputs       *Inputs
	sharedValues map[string]*tensor.Tensor
	past         windows    // series as windows see them
	readAt       expr.Time  // when equations of states are read, where not now
	probes       []probeVal // values that a proof reads
	afterWrite   bool       // a probe is built: a bare state is the one after the write
	remainder    *Remainder // the tokens after the last whole chunk, where a strategy computes the others
}

// A Remainder is the end of a call that is cut into chunks: the tokens after the
// last whole chunk.
type Remainder struct {
	Tokens *ir.Axis
	Slice  func(*expr.Builder, *ir.Value) *ir.Value // the part of a series that belongs to these tokens
	States map[string]*ir.Value                     // after the last whole chunk
}

// newStep begins the scan over all tokens of a call.
func newStep(outer *expr.Builder, series *Names) *Step { return NewStepAfter(outer, series, nil) }

// NewStepAfter begins the scan over all tokens of the call, or over those after the last
// whole chunk.
func NewStepAfter(outer *expr.Builder, series *Names, after *Remainder) *Step {
	e := outer.Body(outer.Block.ID + ".step")
	time := outer.Token.Axis
	if after != nil {
		time = after.Tokens
	}
	e.Token = e.NewVar("t", time)
	s := &Step{outer: outer, series: series, e: e, vals: map[string]*tensor.Tensor{}, carry: map[string]*tensor.Tensor{}, carried: map[*ir.Value]*check.Symbol{},
		sharedValues: map[string]*tensor.Tensor{}, remainder: after, scan: &ir.Scan{Batch: outer.Batch.Axis, Time: time, Body: e.Func}}
	s.inputs = &Inputs{Outer: outer, Series: series, Body: e, Scan: s.scan, Tokens: map[string]*tensor.Tensor{}, Shared: map[string]*tensor.Tensor{}}
	if after != nil {
		s.inputs.Slice = after.Slice
	}
	e.Names, e.Counter = s, s
	for _, sym := range outer.Block.SymSeq {
		if sym.Kind == check.State && outer.Block.Equation(sym.Name) != nil {
			s.addCarry(sym)
		}
	}
	return s
}

func (s *Step) addCarry(sym *check.Symbol) {
	axes, _, ok := s.e.Declared(sym)
	if !ok {
		return
	}
	p := s.e.Func.AddParam(ident.ASCII(sym.Name), ir.Carry, ir.Real, axes...)
	s.carry[sym.Name], s.carried[p] = s.e.FromValue(p, nil, axes), sym
	init := s.series.StateAtStart(s.outer, sym)
	if init == nil {
		return
	}
	if s.remainder != nil && s.remainder.States[sym.Name] != nil {
		init = s.remainder.States[sym.Name]
	}
	s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
}

// Equation builds an equation of the token.
func (s *Step) Equation(eq *check.Equation) {
	t := s.e.Equation(eq)
	if t == nil {
		return
	}
	sym := s.e.Block.Symbols[eq.Name]
	if sym.Kind == check.State {
		axes, _, _ := s.e.Declared(sym)
		if t.IsNumber() {
			t = t.Over(axes)
		}
		if !FitsState(s.e, sym, eq, axes, t) {
			return
		}
	}
	constant := len(t.Factors) == 0
	t = s.e.Materialize(t)
	if v := t.Factors[0].Val; s.series.Distinct && (v.Def == nil || s.owned(v)) {
		t = s.e.Copy(t)
	}
	if !constant {
		s.e.Named(t.Factors[0].Val, eq.Name)
	}
	s.vals[eq.Name] = t
}

// owned reports whether a value is that of an equation of this step.
func (s *Step) owned(v *ir.Value) bool {
	for _, t := range s.vals {
		if len(t.Factors) > 0 && t.Factors[0].Val == v {
			return true
		}
	}
	return false
}

// FitsState refuses a value of an equation that does not have the axes of the
// state that the equation is of.
func FitsState(e *expr.Builder, sym *check.Symbol, eq *check.Equation, axes []*ir.Axis, t *tensor.Tensor) bool {
	if slices.Equal(t.Axes, axes) && !t.Row {
		return true
	}
	e.Diags.Errorf(diag.WrongResult, eq.Value().Where(), "state %s is %s, but this is %s", sym.Name, e.ArrayType(axes), e.Type(t)).
		Labelf("%s", e.Type(t)).See(sym.Span, "declared here")
	return false
}

// Resolve finds the value of a name inside the body of the scan.
func (s *Step) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := e.Block.Equation(sym.Name)
	switch {
	case sym.Kind == check.State:
		return s.state(sym, when, span)
	case eq != nil && eq.Class == check.Recurrent && when.At != nil:
		RefuseWindow(s.e, sym, span)
		return nil
	case sym.Kind == check.Snap && e.Block.Strategy != nil:
		return e.Timeless(sym, when, span, s.stateAtChunkStart(sym))
	case sym.Kind == check.Anchor, sym.Kind == check.Snap:
		return e.Timeless(sym, when, span, s.shared(sym))
	case eq != nil && eq.Class == check.Recurrent && (when.Before || when.Initial || s.readAt != expr.Time{}):
		return s.rebuildAt(eq, when, span)
	case eq != nil && eq.Class == check.Recurrent && when.Now:
		return s.vals[sym.Name]
	case eq != nil && eq.Class == check.Recurrent:
		e.Diags.Errorf(diag.TimeSuffix, span, "%s changes with every token", sym.Name).Hint("write %s_t", sym.Name)
		return nil
	case when.At != nil:
		return s.inWindow(sym, when, span)
	}
	return s.inputs.Value(sym, when, span)
}

// state is a state before this token's write, after it, or where the context
// began.
func (s *Step) state(sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	when, ok := TimeAt(s.e, sym, when, s.readAt, span)
	switch {
	case !ok:
		return nil
	case when.At != nil:
		RefuseWindow(s.e, sym, span)
		return nil
	case when.Initial && s.e.Block.AnchorOf(sym.Name) == nil && !sym.PerChunk():
		s.e.Diags.Errorf(diag.NotSupported, span, "no equation reads %s_0, so the memory does not keep it", sym.Name).
			Hint("an invariant is about values that the rule has")
		return nil
	case when.Initial:
		return s.shared(sym)
	case when.Before:
		return s.carry[sym.Name]
	case when.Now, s.afterWrite:
		return s.vals[sym.Name]
	}
	s.e.Diags.Errorf(diag.TimeSuffix, span, "state %s changes with every token", sym.Name).
		Hint("write %s before the write or %s after it", notation.At(sym.Name, "_{t−1}"), notation.At(sym.Name, "_t"))
	return nil
}

// rebuildAt is an equation of states alone, built from the states before the
// token, or from those where the context began.
func (s *Step) rebuildAt(eq *check.Equation, when expr.Time, span notation.Span) *tensor.Tensor {
	sym := s.e.Block.Symbols[eq.Name]
	when, ok := TimeAt(s.e, sym, when, s.readAt, span)
	if !ok || !CanShift(s.e, eq, when, span) {
		return nil
	}
	old := s.readAt
	s.readAt = when
	defer func() { s.readAt = old }()
	return s.e.Rebuild(eq)
}

// addToRule adds the scan to the rule's program.
func (s *Step) addToRule() {
	y := s.Close()
	if y == nil {
		y = s.outer.ValueOver(s.series.Values["y"], []*tensor.LoopVar{s.outer.Batch, s.outer.Token})
	}
	s.outer.Func.Results = append([]ir.Result{{Name: "y", Val: y}}, s.outer.Func.Results...)
}

// Close adds the scan to the rule's program, with its states as results, and returns the
// series y, or nil where y depends on no state.
func (s *Step) Close() *ir.Value {
	f := s.outer.Func
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.Block.ID, Span: s.outer.Block.Unit.Name.Span}
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
			s.addFinalState(in, c)
			continue
		}
		sym := s.carried[c.Param]
		c.Next = s.e.ValueOver(s.vals[sym.Name], nil)
		s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
		if sym.PerChunk() {
			continue
		}
		name := s.series.States[sym.Name].Name
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
func (s *Step) emitSeries(y *tensor.Tensor) *ir.Value {
	val := s.e.ValueOver(y, nil)
	axes := append([]*ir.Axis{s.outer.Batch.Axis, s.scan.Time}, val.Axes...)
	out := &ir.Value{Name: s.outer.Func.Fresh("y"), Elem: ir.Real, Axes: axes}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: val, Out: out})
	s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: "y", Val: val})
	return out
}
