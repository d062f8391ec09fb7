package chunked

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The equations of a strategy, built for all tokens of one chunk at once: the
// body of a scan over chunks. Here the token is a loop over the chunk, and an
// index over the chunk's axis is a moment of it, so that k_i is the key of
// another token. A state of the rule is known where the chunk began, M°, and its
// equation is needed at the chunk's last token only. A state per chunk has a
// value at every token, and its first value before them.

// chunk serves the names inside a chunk.
type chunk struct {
	outer            *expr.Builder
	series           *scan.Names
	cut              *cut
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

// Program writes the program of a rule that a strategy computes: what has
// no state is built for all tokens, then one scan over chunks and one over the rest.
func Program(e *expr.Builder, n *scan.Names) *ir.Func {
	before := e.Diags.Len()
	for _, eq := range e.Block.Eqs {
		if eq.Class != check.Recurrent {
			n.Equation(e, eq)
		}
	}
	if e.Diags.Len() > before && e.Diags.HasErrors() {
		return nil
	}
	buildSeriesOfRule(n, e)
	buildScans(n, e)
	if e.Diags.Len() > before && e.Diags.HasErrors() {
		return nil
	}
	e.NameWindowStates()
	program.ListAxes(e.Func)
	return e.Func
}

// buildSeriesOfRule prepares what the tokens behind the last whole chunk read: the
// rule's own names mean the same axes, and its series are built with the others.
func buildSeriesOfRule(n *scan.Names, e *expr.Builder) {
	whole, rule := e.Block, e.Block.Strategy.Rule
	for name, a := range rule.Axes {
		if b := whole.Axes[name]; b != nil {
			e.Axes[a] = e.Axis(b)
		}
	}
	e.Block = rule
	for _, eq := range rule.Eqs {
		if eq.Class != check.Recurrent && n.Values[eq.Name] == nil {
			n.Equation(e, eq)
		}
	}
	e.Block = whole
}

// buildScans builds the scans of a rule that a strategy computes.
func buildScans(n *scan.Names, e *expr.Builder) {
	c := newCut(e)
	s := newChunk(n, e, c)
	if s.matchForms(); e.Diags.HasErrors() {
		return
	}
	for _, eq := range e.Block.Eqs {
		if eq.Class == check.Recurrent && eq.Name == "y" {
			s.value(eq, e.Block.Unit.Name.Span)
		}
	}
	if e.Diags.HasErrors() {
		return
	}
	if s.vals["y"] == nil {
		panic("irbuild: BUG: " + e.Block.ID + " has no answer in chunks, and nothing was said about it")
	}
	y := s.close()
	if e.Diags.HasErrors() {
		return
	}
	if c.rest != nil {
		whole := e.Block
		e.Block = whole.Strategy.Rule
		t := scan.NewStepAfter(e, n, &scan.Remainder{Tokens: c.rest, Cut: c.remainder, States: c.final})
		for _, eq := range e.Block.Eqs {
			if eq.Class == check.Recurrent {
				t.Equation(eq)
			}
		}
		if e.Diags.HasErrors() {
			return
		}
		y = c.join(e, y, t.Close())
		e.Block = whole
	} else {
		y = c.join(e, y, nil)
		for _, sym := range e.Block.SymSeq {
			if v := c.final[sym.Name]; v != nil {
				e.Func.Results = append(e.Func.Results, ir.Result{Name: n.States[sym.Name].Name, Val: v, State: true})
			}
		}
	}
	e.Func.Results = append([]ir.Result{{Name: "y", Val: y}}, e.Func.Results...)
}

func newChunk(n *scan.Names, outer *expr.Builder, c *cut) *chunk {
	e := outer.Body(outer.Block.ID + ".chunk")
	e.Token = e.NewVar("t", c.token)
	s := &chunk{outer: outer, series: n, cut: c, e: e, now: tensor.AffineOf(e.Token), vals: map[string]*tensor.Tensor{}, previous: map[string]*tensor.Tensor{},
		carry: map[string]*tensor.Tensor{}, busy: map[string]bool{}, placeholders: map[string]*ir.Value{},
		scan: &ir.Scan{Batch: outer.Batch.Axis, Time: c.chunks, Body: e.Func}}
	s.inputs = &scan.Inputs{Outer: outer, Series: n, E: e, Scan: s.scan, Cut: c.intoChunks, Loops: []*tensor.LoopVar{e.Token}, Tokens: map[string]*tensor.Tensor{}, Shared: map[string]*tensor.Tensor{}}
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

// close adds the scan over chunks to the rule's program and returns its answers.
func (s *chunk) close() *ir.Value {
	f := s.outer.Func
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.Block.ID, Span: s.outer.Block.Unit.Name.Span}
	val := s.e.ValueOver(s.vals["y"], []*tensor.LoopVar{s.e.Token})
	y := &ir.Value{Name: f.Fresh("y"), Elem: ir.Real, Def: in, Axes: append([]*ir.Axis{s.outer.Batch.Axis, s.cut.chunks}, val.Axes...)}
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
		s.cut.final[sym.Name] = c.Final
		i++
	}
	if !s.removePlaceholders() {
		return nil
	}
	f.Body = append(f.Body, in)
	return y
}

// lastToken is the equation of a state at the lastToken token of the chunk.
func (s *chunk) lastToken(eq *check.Equation) *ir.Value {
	at := tensor.Const(s.cut.size - 1)
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

// build builds something that belongs to an equation, apart from its reader.
func (s *chunk) build(eq *check.Equation, build func() *tensor.Tensor) *tensor.Tensor {
	e := s.e
	id, at := e.Eq, e.Span
	defer func() { e.Eq, e.Span = id, at }()
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
		s.e.Diags.Errorf(diag.Cycle, reader, "%s needs itself at the same moment", eq.Name).See(eq.Span(), "the equation of %s", eq.Name)
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

func (s *chunk) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := e.Block.Equation(sym.Name)
	switch {
	case sym.Kind == check.Snap:
		return e.Timeless(sym, when, span, s.carry[sym.Of])
	case sym.Kind == check.Anchor:
		e.Diags.Errorf(diag.NotSupported, span, "a strategy cannot read anchor %s", sym.Name).Hint("it knows the state where the chunk began: snap %s°", sym.Of)
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
	e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value at this moment", sym.Name).
		Hint("in a chunk it is read at %s, at an index over the chunk, or, where it is a state per chunk, at %s−1; a state of the rule where the chunk began is %s°", e.Block.Time, e.Block.Time, sym.Name)
	return nil
}

// previousToken is a state per chunk one token previousToken each.
func (s *chunk) previousToken(sym *check.Symbol, eq *check.Equation, span notation.Span) *tensor.Tensor {
	if t := s.previous[sym.Name]; t != nil {
		return t
	}
	if s.busy[eq.Name] {
		return s.placeholder(sym, span)
	}
	x := s.value(eq, span)
	if x == nil {
		return nil
	}
	e := s.e
	t := s.build(eq, func() *tensor.Tensor {
		token := tensor.AffineOf(e.Token)
		before := token.Add(tensor.Const(1), -1)
		u := e.Where(s.read(x, before), before)
		first, ok := s.initial(sym)
		if !ok || first.IsZero() {
			return u
		}
		return e.Add(u, s.atFirstToken(sym, tensor.ScaleRows(tensor.Number(1), first, u.Axes)), 1)
	})
	if t == nil {
		return nil
	}
	vars := []*tensor.LoopVar{e.Token}
	s.previous[sym.Name] = e.FromValue(e.ValueOver(t, vars), vars, t.Axes)
	return s.previous[sym.Name]
}

// placeholder stands for a state before each token while its own equation is built:
// what reads it may turn out to make no difference, as a slope that does not
// depend on the prediction.
func (s *chunk) placeholder(sym *check.Symbol, span notation.Span) *tensor.Tensor {
	axes, _, ok := s.e.Declared(sym)
	if !ok {
		return nil
	}
	p := s.placeholders[sym.Name]
	if p == nil {
		p = s.e.Func.AddParam(ident.ASCII(sym.Name)+".before", ir.Token, ir.Real, append([]*ir.Axis{s.e.Token.Axis}, axes...)...)
		s.placeholders[sym.Name] = p
		s.placeholderSpans = append(s.placeholderSpans, span)
	}
	return s.read(s.e.FromValue(p, []*tensor.LoopVar{s.e.Token}, axes), s.now)
}

// removePlaceholders refuses a rule whose states do make a difference to what they add.
func (s *chunk) removePlaceholders() bool {
	f := s.e.Func
	f.Sweep()
	used := f.Uses()
	for name, p := range s.placeholders {
		if used[p] > 0 {
			eq := s.e.Block.Equation(name)
			s.e.Diags.Errorf(diag.NotSupported, s.placeholderSpans[0], "what %s adds to itself depends on it by more than a number", name).
				See(eq.Span(), "the equation of %s", name).See(s.outer.Block.Unit.Name.Span, "%s computes it in chunks", s.outer.Block.Name).Hint("such a rule has no scan; a strategy with equations of its own may compute it in chunks")
			return false
		}
	}
	f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return slices.Contains(s.unknowns, q) })
	for _, p := range s.placeholders {
		f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return q == p })
	}
	return true
}

// initial is what a state has before the initial token of a chunk: a number where it
// begins anew with each, else what the chunk before left.
func (s *chunk) initial(sym *check.Symbol) (*tensor.Tensor, bool) {
	switch {
	case !sym.PerChunk():
		return s.carry[sym.Name], true
	case sym.Decl == nil || sym.Decl.Init == nil:
		return tensor.Number(0), true
	}
	n, ok := notation.Constant(sym.Decl.Init)
	if !ok {
		s.e.Diags.Errorf(diag.NotSupported, sym.Decl.Init.Where(), "a state of a chunk starts from a number")
	}
	return tensor.Number(n), ok
}

// atFirstToken is t, the share of the first value of a state, at the first token of the
// chunk, and zero at the others.
func (s *chunk) atFirstToken(sym *check.Symbol, t *tensor.Tensor) *tensor.Tensor {
	e := s.e
	id := e.Eq
	defer func() { e.Eq = id }()
	if sym.PerChunk() {
		e.Eq = ir.InitialName(e.Block.ID + "." + ident.ASCII(sym.Name))
	}
	return e.Where(t, tensor.Affine{}.Add(tensor.AffineOf(e.Token), -1))
}

// input is a value without a state behind it: the chunk's part of a
// series, at one of its tokens, or something that is the same for all of them.
func (s *chunk) input(sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	at := s.now
	if when.At != nil && when.At.Time != nil && when.At.Window == nil {
		at, when = *when.At.Time, expr.Time{Now: true}
	}
	t := s.inputs.Value(sym, when, span)
	if t != nil && t == s.inputs.Tokens[sym.Name] {
		return s.read(t, at)
	}
	return t
}
