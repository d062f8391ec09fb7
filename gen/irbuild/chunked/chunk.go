// Package chunked builds a rule as a strategy computes it: all tokens of a chunk at
// once, in a scan over chunks, and the rest of a call token by token.
package chunked

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The body of a scan over chunks. Here the token is a loop over the chunk, and an
// index over the chunk's axis is a time step, so that k_i is the key of another
// token. A state of the rule is known where the chunk began, M°, and its equation is
// needed at the last token of the chunk only. A state per chunk has a value at every
// token, and its initial value before the first.

// A chunk serves the names inside the body of the scan over chunks.
type chunk struct {
	outer            *expr.Builder
	series           *scan.Names
	tiling           *tiling
	e                *expr.Builder
	scan             *ir.Scan
	now              tensor.Affine             // the token that is built: any, or the last
	vals             map[string]*tensor.Tensor // equations, with the token as a loop
	previous         map[string]*tensor.Tensor // the same one token before
	carry            map[string]*tensor.Tensor
	inputs           *scan.Inputs
	busy             map[string]bool
	placeholders     map[string]*ir.Value // states before each token, while their equations are built
	placeholderSpans []notation.Span      // where they are read

	unknowns     []*ir.Value // states in the rule's equation while inputs are found in it
	formMismatch bool        // a form has no type with the axes of the rule: said
}

func newChunk(n *scan.Names, outer *expr.Builder, c *tiling) *chunk {
	e := outer.Body(outer.Block.ID + ".chunk")
	e.Token = e.NewVar("t", c.token)
	s := &chunk{outer: outer, series: n, tiling: c, e: e, now: tensor.AffineOf(e.Token), vals: map[string]*tensor.Tensor{}, previous: map[string]*tensor.Tensor{},
		carry: map[string]*tensor.Tensor{}, busy: map[string]bool{}, placeholders: map[string]*ir.Value{},
		scan: &ir.Scan{Batch: outer.Batch.Axis, Time: c.chunks, Body: e.Func}}
	s.inputs = &scan.Inputs{Outer: outer, Series: n, Body: e, Scan: s.scan, Slice: c.intoChunks, Loops: []*tensor.LoopVar{e.Token}, Tokens: map[string]*tensor.Tensor{}, Shared: map[string]*tensor.Tensor{}}
	e.Names, e.Chunked = s, true
	for _, sym := range outer.Block.SymSeq {
		if sym.Kind != check.State || sym.PerChunk() || outer.Block.Equation(sym.Name) == nil {
			continue
		}
		axes, _, ok := e.Declared(sym)
		init := n.StateAtStart(outer, sym)
		if !ok || init == nil {
			continue
		}
		p := e.Func.AddParam(ident.ASCII(sym.Name), ir.Carry, ir.Real, axes...)
		s.carry[sym.Name] = e.FromValue(p, nil, axes)
		s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
	}
	return s
}

// close adds the scan over chunks to the rule's program and returns the series y.
func (s *chunk) close() *ir.Value {
	f := s.outer.Func
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.Block.ID, Span: s.outer.Block.Unit.Name.Span}
	val := s.e.ValueOver(s.vals["y"], []*tensor.LoopVar{s.e.Token})
	y := &ir.Value{Name: f.Fresh("y"), Elem: ir.Real, Def: in, Axes: append([]*ir.Axis{s.outer.Batch.Axis, s.tiling.chunks}, val.Axes...)}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: val, Out: y})
	s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: "y", Val: val})
	i := 0
	for _, sym := range s.outer.Block.SymSeq {
		if s.carry[sym.Name] == nil {
			continue
		}
		next := s.lastToken(s.outer.Block.Equation(sym.Name))
		if next == nil {
			return nil
		}
		c := &s.scan.Carry[i]
		c.Next = next
		c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".chunks"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
		s.e.Func.Results = append(s.e.Func.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
		s.tiling.final[sym.Name] = c.Final
		i++
	}
	if !s.removePlaceholders() {
		return nil
	}
	f.Body = append(f.Body, in)
	return y
}

// lastToken is the equation of a state at the last token of the chunk.
func (s *chunk) lastToken(eq *check.Equation) *ir.Value {
	at := tensor.Const(s.tiling.size - 1)
	if s.vals[eq.Name] != nil || s.busy[eq.Name] || s.e.Block.IsRecurrent(eq) {
		t := s.read(s.value(eq, eq.Span()), at)
		if t == nil {
			return nil
		}
		return s.e.ValueOver(t, nil)
	}
	old := s.now
	s.now = at
	defer func() { s.now = old }()
	t := s.build(eq, func() *tensor.Tensor { return s.e.Equation(eq) })
	if t == nil || !s.checkType(eq, t) {
		return nil
	}
	return s.e.Named(s.e.ValueOver(t, nil), eq.Name)
}

// checkType refuses a value that does not have the type of its state.
func (s *chunk) checkType(eq *check.Equation, t *tensor.Tensor) bool {
	sym := s.e.Block.Symbols[eq.Name]
	if sym.Kind != check.State {
		return true
	}
	axes, _, ok := s.e.Declared(sym)
	return ok && scan.FitsState(s.e, sym, eq, axes, t)
}

// build builds a value of an equation in its own scope.
func (s *chunk) build(eq *check.Equation, build func() *tensor.Tensor) *tensor.Tensor {
	e := s.e
	defer e.SaveOrigin()()
	e.Eq, e.Span = eq.ID, eq.Span()
	return e.Isolated(func() *tensor.Tensor {
		e.Push(&expr.Scope{})
		defer e.Pop()
		e.Bind(e.Block.Time, &expr.Binding{Index: s.now.Var(), Time: &s.now})
		return build()
	})
}

// value is an equation at all tokens of the chunk.
func (s *chunk) value(eq *check.Equation, reader notation.Span) *tensor.Tensor {
	if t := s.vals[eq.Name]; t != nil {
		return t
	}
	if eq.Matched {
		return nil // what was not found was reported
	}
	if s.busy[eq.Name] {
		s.e.Diags.Errorf(diag.Cycle, reader, "%s needs itself at the same time", eq.Name).See(eq.Span(), "the equation of %s", eq.Name)
		return nil
	}
	s.busy[eq.Name] = true
	old := s.now
	s.now = tensor.AffineOf(s.e.Token)
	defer func() { s.now, s.busy[eq.Name] = old, false }()
	before := s.e.Diags.Len()
	r := s.e.Block.SplitRecurrence(eq, s.e.Diags)
	if s.e.Diags.Len() > before {
		return nil
	}
	t := s.build(eq, func() *tensor.Tensor {
		if r != nil {
			return s.triangular(eq, r)
		}
		return s.e.Equation(eq)
	})
	if t == nil || !s.checkType(eq, t) {
		return nil
	}
	vars := []*tensor.LoopVar{s.e.Token}
	s.vals[eq.Name] = s.e.FromValue(s.e.Named(s.e.ValueOver(t, vars), eq.Name), vars, t.Axes)
	return s.vals[eq.Name]
}

// read is a value of all tokens at one of them.
func (s *chunk) read(t *tensor.Tensor, at tensor.Affine) *tensor.Tensor {
	if t == nil {
		return nil
	}
	u := t.Clone()
	if len(u.Factors) > 0 { // an input that is a number is the same at all tokens
		u.Factors[0].Sub[0] = tensor.Subscript{Visible: -1, Affine: at}
	}
	return u
}

// Resolve finds the value of a name at the tokens of the chunk.
func (s *chunk) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := e.Block.Equation(sym.Name)
	switch {
	case sym.Kind == check.Snap:
		return e.Timeless(sym, when, span, s.carry[sym.Of])
	case sym.Kind == check.Anchor:
		e.Diags.Errorf(diag.NotSupported, span, "a strategy cannot read anchor %s", sym.Name).Hint("it can read the state where the chunk began: snap %s°", sym.Of)
		return nil
	case eq == nil || eq.Class != check.Recurrent:
		return s.input(sym, when, span)
	case when.Now:
		return s.read(s.value(eq, span), s.now)
	case when.At != nil:
		return s.read(s.value(eq, span), *when.At.Time)
	case when.Before && sym.Kind == check.State:
		return s.read(s.previousToken(sym, eq, span), s.now)
	}
	e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value at this time step", sym.Name).
		Hint("in a chunk it is read at %s, at an index over the chunk, or, where it is a state per chunk, at %s−1; a state of the rule where the chunk began is %s°", e.Block.Time, e.Block.Time, sym.Name)
	return nil
}

// input is a value that depends on no state: the chunk's slice of a series, at one of its
// tokens, or a value that all tokens share.
func (s *chunk) input(sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	at := s.now
	if when.At != nil && when.At.Window != nil {
		s.e.Diags.Errorf(diag.NotSupported, span, "%s is read in a window, by an equation that is computed in chunks", sym.Name).
			Hint("compute the rule token by token")
		return nil
	}
	if when.At != nil && when.At.Time != nil {
		at, when = *when.At.Time, expr.Time{Now: true}
	}
	t := s.inputs.Value(sym, when, span)
	if t != nil && t == s.inputs.Tokens[sym.Name] {
		return s.read(t, at)
	}
	return t
}
