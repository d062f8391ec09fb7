package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The equations of a strategy, built for all tokens of one chunk at once: the
// body of a scan over chunks. Here the token is a loop over the chunk, and an
// index over the chunk's axis is a moment of it, so that k_i is the key of
// another token. A state of the rule is known where the chunk began, M°, and its
// equation is needed at the chunk's last token only. A state per chunk has a
// value at every token, and its first value before them.

// chunkNames serves the names inside a chunk.
type chunkNames struct {
	outer   *builder
	series  *ruleNames
	cut     *chunking
	e       *builder
	scan    *ir.Scan
	now     affine          // the token that is built: any, or the last
	vals    map[string]*ten // equations, with the token as a loop
	prev    map[string]*ten // the same one token before
	carry   map[string]*ten
	outside *outside
	busy    map[string]bool
	opened  map[string]*ir.Value // states before each token, while their equations are built
	openAt  []notation.Span      // where they are read

	unknowns []*ir.Value // states in the rule's equation while inputs are found in it
	misfit   bool        // a form has no type with the axes of the rule: said
}

// sequential prepares what the tokens behind the last whole chunk read: the
// rule's own names mean the same axes, and its series are built with the others.
func (n *ruleNames) sequential(e *builder) {
	whole, rule := e.blk, e.blk.Strategy.Rule
	for name, a := range rule.Axes {
		if b := whole.Axes[name]; b != nil {
			e.axes[a] = e.axis(b)
		}
	}
	e.blk = rule
	for _, eq := range rule.Eqs {
		if eq.Class != check.Recurrent && n.vals[eq.Name] == nil {
			n.equation(e, eq)
		}
	}
	e.blk = whole
}

// inChunks builds the scans of a rule that a strategy computes.
func (n *ruleNames) inChunks(e *builder) {
	c := newChunking(e)
	s := n.newChunk(e, c)
	if s.matches(); e.ds.HasErrors() {
		return
	}
	for _, eq := range e.blk.Eqs {
		if eq.Class == check.Recurrent && eq.Name == "y" {
			s.value(eq, e.blk.Unit.Name.Span)
		}
	}
	if e.ds.HasErrors() {
		return
	}
	if s.vals["y"] == nil {
		panic("irbuild: BUG: " + e.blk.ID + " has no answer in chunks, and nothing was said about it")
	}
	y := s.close()
	if e.ds.HasErrors() {
		return
	}
	if c.rest != nil {
		whole := e.blk
		e.blk = whole.Strategy.Rule
		t := newStepAfter(e, n, c)
		for _, eq := range e.blk.Eqs {
			if eq.Class == check.Recurrent {
				t.equation(eq)
			}
		}
		if e.ds.HasErrors() {
			return
		}
		y = c.join(e, y, t.close())
		e.blk = whole
	} else {
		y = c.join(e, y, nil)
		for _, sym := range e.blk.SymSeq {
			if v := c.end[sym.Name]; v != nil {
				e.f.Results = append(e.f.Results, ir.Result{Name: n.states[sym.Name].Name, Val: v, State: true})
			}
		}
	}
	e.f.Results = append([]ir.Result{{Name: "y", Val: y}}, e.f.Results...)
}

func (n *ruleNames) newChunk(outer *builder, c *chunking) *chunkNames {
	e := newBuilder(outer.blk, outer.blk.ID+".chunk", outer.ds)
	e.axes, e.sized, e.trace = outer.axes, outer.sized, outer.trace
	e.token = e.newVar("t", c.token)
	s := &chunkNames{outer: outer, series: n, cut: c, e: e, now: varAff(e.token), vals: map[string]*ten{}, prev: map[string]*ten{},
		carry: map[string]*ten{}, busy: map[string]bool{}, opened: map[string]*ir.Value{},
		scan: &ir.Scan{Batch: outer.lane.axis, Time: c.chunks, Body: e.f}}
	s.outside = &outside{outer: outer, series: n, e: e, scan: s.scan, cut: c.cut, loops: []*loopVar{e.token}, tokens: map[string]*ten{}, shared: map[string]*ten{}}
	e.names, e.chunk = s, s
	for _, sym := range outer.blk.SymSeq {
		if sym.Kind != check.State || sym.PerChunk() || outer.blk.Equation(sym.Name) == nil {
			continue
		}
		axes, _, ok := e.declared(sym)
		init := n.begin(outer, sym)
		if !ok || init == nil {
			continue
		}
		p := e.f.AddParam(ident.ASCII(sym.Name), ir.Carry, ir.Real, axes...)
		s.carry[sym.Name] = e.ofValue(p, nil, axes)
		s.scan.Carry = append(s.scan.Carry, ir.ScanState{Param: p, Init: init})
	}
	return s
}

// close adds the scan over chunks to the rule's program and returns its answers.
func (s *chunkNames) close() *ir.Value {
	f := s.outer.f
	in := &ir.Instr{Op: ir.ScanOp, Scan: s.scan, Eq: s.outer.blk.ID, Span: s.outer.blk.Unit.Name.Span}
	val := s.e.pack(s.vals["y"], []*loopVar{s.e.token})
	y := &ir.Value{Name: f.Fresh("y"), Elem: ir.Real, Def: in, Axes: append([]*ir.Axis{s.outer.lane.axis, s.cut.chunks}, val.Axes...)}
	s.scan.Outs = append(s.scan.Outs, ir.ScanOutput{Val: val, Out: y})
	s.e.f.Results = append(s.e.f.Results, ir.Result{Name: "y", Val: val})
	i := 0
	for _, sym := range s.outer.blk.SymSeq {
		if s.carry[sym.Name] == nil {
			continue
		}
		next := s.last(s.outer.blk.Equation(sym.Name))
		if next == nil {
			return nil
		}
		c := &s.scan.Carry[i]
		c.Next = next
		c.Final = &ir.Value{Name: f.Fresh(c.Init.Name + ".chunks"), Elem: ir.Real, Axes: c.Init.Axes, Def: in}
		s.e.f.Results = append(s.e.f.Results, ir.Result{Name: c.Param.Name, Val: c.Next, State: true})
		s.cut.end[sym.Name] = c.Final
		i++
	}
	if !s.closed() {
		return nil
	}
	f.Body = append(f.Body, in)
	return y
}

// last is the equation of a state at the last token of the chunk.
func (s *chunkNames) last(eq *check.Equation) *ir.Value {
	at := affine{c: shape.Int(int64(s.cut.size - 1))}
	if s.vals[eq.Name] != nil || s.busy[eq.Name] || s.e.blk.IsRecurrent(eq) {
		t := s.read(s.value(eq, eq.Span()), at)
		if t == nil {
			return nil
		}
		return s.e.pack(t, nil)
	}
	old := s.now
	s.now = at
	defer func() { s.now = old }()
	t := s.build(eq, func() *ten { return s.e.equationValue(eq) })
	if t == nil || !s.fits(eq, t) {
		return nil
	}
	return s.e.named(s.e.pack(t, nil), eq.Name)
}

// fits refuses a value that does not have the type of its state.
func (s *chunkNames) fits(eq *check.Equation, t *ten) bool {
	sym := s.e.blk.Symbols[eq.Name]
	if sym.Kind != check.State {
		return true
	}
	axes, _, ok := s.e.declared(sym)
	if ok && (!slices.Equal(t.axes, axes) || t.row) {
		s.e.ds.Errorf(diag.WrongResult, eq.Value().Where(), "state %s is %s, but this is %s", sym.Name, s.e.typ(&ten{axes: axes, elem: ir.Real}), s.e.typ(t)).
			Labelf("%s", s.e.typ(t)).See(sym.Span, "declared here")
		return false
	}
	return ok
}

// build builds something that belongs to an equation, apart from its reader.
func (s *chunkNames) build(eq *check.Equation, build func() *ten) *ten {
	e := s.e
	id, at := e.eq, e.span
	defer func() { e.eq, e.span = id, at }()
	e.eq, e.span = eq.ID, eq.Span()
	return e.apart(func() *ten {
		e.push(&scope{})
		defer e.pop()
		e.bind(e.blk.Time, &binding{idx: s.now.single(), time: &s.now})
		return build()
	})
}

// value is an equation at all tokens of the chunk.
func (s *chunkNames) value(eq *check.Equation, reader notation.Span) *ten {
	if t := s.vals[eq.Name]; t != nil {
		return t
	}
	if eq.Matched {
		return nil // what was not found was reported
	}
	if s.busy[eq.Name] {
		s.e.ds.Errorf(diag.Cycle, reader, "%s needs itself at the same moment", eq.Name).See(eq.Span(), "the equation of %s", eq.Name)
		return nil
	}
	s.busy[eq.Name] = true
	old := s.now
	s.now = varAff(s.e.token)
	defer func() { s.now, s.busy[eq.Name] = old, false }()
	before := s.e.ds.Len()
	r := s.e.blk.SplitRecurrence(eq, s.e.ds)
	if s.e.ds.Len() > before {
		return nil
	}
	t := s.build(eq, func() *ten {
		if r != nil {
			return s.triangular(eq, r)
		}
		return s.e.equationValue(eq)
	})
	if t == nil || !s.fits(eq, t) {
		return nil
	}
	vars := []*loopVar{s.e.token}
	s.vals[eq.Name] = s.e.ofValue(s.e.named(s.e.pack(t, vars), eq.Name), vars, t.axes)
	return s.vals[eq.Name]
}

// read is a value of all tokens at one of them.
func (s *chunkNames) read(t *ten, at affine) *ten {
	if t == nil {
		return nil
	}
	u := t.clone()
	if len(u.fs) > 0 { // an input that is a number is the same at all tokens
		u.fs[0].sub[0] = vsub{-1, at}
	}
	return u
}

func (s *chunkNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	eq := e.blk.Equation(sym.Name)
	switch {
	case sym.Kind == check.Snap:
		return e.timeless(sym, when, span, s.carry[sym.Of])
	case sym.Kind == check.Anchor:
		e.ds.Errorf(diag.NotSupported, span, "a strategy cannot read anchor %s", sym.Name).Hint("it knows the state where the chunk began: snap %s°", sym.Of)
		return nil
	case eq == nil || eq.Class != check.Recurrent:
		return s.fromOutside(sym, when, span)
	case when.now:
		return s.read(s.value(eq, span), s.now)
	case when.at != nil:
		return s.read(s.value(eq, span), *when.at.time)
	case when.before && sym.Kind == check.State:
		return s.read(s.before(sym, eq, span), s.now)
	}
	e.ds.Errorf(diag.TimeSuffix, span, "%s has no value at this moment", sym.Name).
		Hint("in a chunk it is read at %s, at an index over the chunk, or, where it is a state per chunk, at %s−1; a state of the rule where the chunk began is %s°", e.blk.Time, e.blk.Time, sym.Name)
	return nil
}

// before is a state per chunk one token before each.
func (s *chunkNames) before(sym *check.Symbol, eq *check.Equation, span notation.Span) *ten {
	if t := s.prev[sym.Name]; t != nil {
		return t
	}
	if s.busy[eq.Name] {
		return s.open(sym, span)
	}
	x := s.value(eq, span)
	if x == nil {
		return nil
	}
	e := s.e
	t := s.build(eq, func() *ten {
		token := varAff(e.token)
		one := affine{c: shape.Int(1)}
		u := s.read(x, token.add(one, -1))
		u = e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: u.axes, out: len(u.axes), keep: []*loopVar{e.token},
			args: u.place(upTo(len(u.axes))), guards: []affine{token.add(one, -1)}})
		first, ok := s.first(sym)
		if !ok || first.isLiteral() && first.coef == 0 {
			return u
		}
		return e.sum(nil, u, s.atFirst(sym, product(literal(1), first, u.axes)), 1)
	})
	if t == nil {
		return nil
	}
	vars := []*loopVar{e.token}
	s.prev[sym.Name] = e.ofValue(e.pack(t, vars), vars, t.axes)
	return s.prev[sym.Name]
}

// open stands for a state before each token while its own equation is built:
// what reads it may turn out to make no difference, as a slope that does not
// depend on the prediction.
func (s *chunkNames) open(sym *check.Symbol, span notation.Span) *ten {
	axes, _, ok := s.e.declared(sym)
	if !ok {
		return nil
	}
	p := s.opened[sym.Name]
	if p == nil {
		p = s.e.f.AddParam(ident.ASCII(sym.Name)+".before", ir.Token, ir.Real, append([]*ir.Axis{s.e.token.axis}, axes...)...)
		s.opened[sym.Name] = p
		s.openAt = append(s.openAt, span)
	}
	return s.read(s.e.ofValue(p, []*loopVar{s.e.token}, axes), s.now)
}

// closed refuses a rule whose states do make a difference to what they add.
func (s *chunkNames) closed() bool {
	f := s.e.f
	f.Sweep()
	used := f.Uses()
	for name, p := range s.opened {
		if used[p] > 0 {
			eq := s.e.blk.Equation(name)
			s.e.ds.Errorf(diag.NotSupported, s.openAt[0], "what %s adds to itself depends on it by more than a number", name).
				See(eq.Span(), "the equation of %s", name).See(s.outer.blk.Unit.Name.Span, "%s computes it in chunks", s.outer.blk.Name).Hint("such a rule has no scan; a strategy with equations of its own may compute it in chunks")
			return false
		}
	}
	f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return slices.Contains(s.unknowns, q) })
	for _, p := range s.opened {
		f.Params = slices.DeleteFunc(f.Params, func(q *ir.Value) bool { return q == p })
	}
	return true
}

// first is what a state has before the first token of a chunk: a number where it
// begins anew with each, else what the chunk before left.
func (s *chunkNames) first(sym *check.Symbol) (*ten, bool) {
	switch {
	case !sym.PerChunk():
		return s.carry[sym.Name], true
	case sym.Decl == nil || sym.Decl.Init == nil:
		return literal(0), true
	}
	n, ok := check.Number(sym.Decl.Init)
	if !ok {
		s.e.ds.Errorf(diag.NotSupported, sym.Decl.Init.Where(), "a state of a chunk starts from a number")
	}
	return literal(n), ok
}

// atFirst is t, the share of the first value of a state, at the first token of the
// chunk, and zero at the others.
func (s *chunkNames) atFirst(sym *check.Symbol, t *ten) *ten {
	e := s.e
	id := e.eq
	defer func() { e.eq = id }()
	if sym.PerChunk() {
		e.eq = e.blk.ID + "." + ident.ASCII(sym.Name) + ".start"
	}
	return e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: []*loopVar{e.token},
		args: t.place(upTo(len(t.axes))), guards: []affine{affine{}.add(varAff(e.token), -1)}})
}

// fromOutside is a value without a state behind it: the chunk's part of a
// series, at one of its tokens, or something that is the same for all of them.
func (s *chunkNames) fromOutside(sym *check.Symbol, when moment, span notation.Span) *ten {
	at := s.now
	if when.at != nil && when.at.time != nil && when.at.wide == nil {
		at, when = *when.at.time, moment{now: true}
	}
	t := s.outside.value(sym, when, span)
	if t != nil && t == s.outside.tokens[sym.Name] {
		return s.read(t, at)
	}
	return t
}
