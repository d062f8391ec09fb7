package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// An equation of a chunk that reads itself at earlier tokens, X_t = b_t −
// Σ_{i<t} A_t[i] X_i, is the system (I + A) X = B with A strictly lower
// triangular. A and B are built apart, from the terms that read the name and
// from those that do not; the solution is one instruction. Where only the token
// before is read, A has nothing but a number beside its diagonal, and the system
// is a scan. Nothing is divided by, and no product of gates is taken apart into
// logarithms: a gate of zero is a zero in A.

// triangular builds an equation that reads itself.
func (s *chunkNames) triangular(eq *check.Equation, r *check.Recurrence) *ten {
	e := s.e
	e.push(&scope{})
	defer e.pop()
	vars, _, ok := e.targetIndex(eq.Def.Target.Index)
	if !ok || !e.with(eq.Def.With) {
		return nil
	}
	b, step := s.terms(r.Rest), s.step(eq, r)
	if b == nil || step == nil {
		return nil
	}
	axes := s.typeOf(eq, b, vars)
	if b.isLiteral() {
		b = &ten{axes: axes[len(vars):], elem: ir.Real, coef: b.coef}
	}
	if len(vars) > 0 {
		b = e.lift(b, vars)
	}
	if len(step.axes) > 0 && len(r.Sums) > 0 {
		e.errorf(diag.NotScalar, r.Lagged[0].Expr, "beside a sum over earlier tokens stands one number for all entries, and this is %s", e.typ(step))
		return nil
	}
	if step.depends(vars) {
		if len(r.Sums) > 0 {
			e.errorf(diag.NotScalar, r.Lagged[0].Expr, "beside a sum over earlier tokens stands one number for all entries, and this one has indices")
			return nil
		}
		step = e.lift(step, vars)
	}
	if len(r.Lagged) > 0 {
		sym := e.blk.Symbols[eq.Name]
		first, ok := s.first(sym)
		if !ok {
			return nil
		}
		if first != nil && !(first.isLiteral() && first.coef == 0) {
			b = s.plus(b, s.atFirst(sym, product(step, first, axes)))
		}
	}
	if len(r.Sums) == 0 {
		return s.doubled(step, b)
	}
	a := s.sums(r, vars)
	if a == nil {
		return nil
	}
	if len(r.Lagged) > 0 {
		a = s.plus(a, s.beside(step.scale(-1)))
	}
	token := []*loopVar{e.token}
	x := s.solved(e.pack(a, token), e.pack(b, token))
	return e.ofValue(x, token, b.axes)
}

// depends reports whether a value reads one of these indices.
func (t *ten) depends(vars []*loopVar) bool {
	found := false
	for i := range t.fs {
		t.fs[i].vars(func(v *loopVar) { found = found || slices.Contains(vars, v) })
	}
	return found
}

// product is a number, or one for each of the first axes, times a value that has these axes.
func product(c, x *ten, axes []*ir.Axis) *ten {
	u := x.clone()
	u.axes, u.coef, u.fs = axes, c.coef*x.coef, append(slices.Clone(c.fs), u.fs...)
	return u
}

// step is the number that stands beside the name one token before.
func (s *chunkNames) step(eq *check.Equation, r *check.Recurrence) *ten {
	out := literal(0)
	sym := s.e.blk.Symbols[eq.Name]
	for _, t := range r.Lagged {
		if sym.Kind != check.State {
			s.e.ds.Errorf(diag.TimeSuffix, t.Expr.Where(), "%s has no value before the chunk", eq.Name).Hint("declare it: state %s = 0 per chunk", eq.Name)
			return nil
		}
		c := s.tried(t.Expr)
		if c == nil || len(c.axes) > 0 {
			c = s.entrywise(sym, t)
		}
		if c == nil {
			return nil
		}
		if t.Minus {
			c = c.scale(-1)
		}
		switch n := max(len(out.axes), len(c.axes)); {
		case out.isLiteral() && out.coef == 0:
		case len(out.axes) < n:
			out = product(out, literal(1), c.axes)
		case len(c.axes) < n:
			c = product(c, literal(1), out.axes)
		}
		out = s.plus(out, c)
	}
	return out
}

// tried is the value of an expression, or nil, without a message.
func (s *chunkNames) tried(x notation.Expr) *ten {
	said := s.e.ds
	defer func() { s.e.ds = said }()
	s.e.ds = &diag.List{}
	return s.e.expr(x)
}

// entrywise is the array that a term multiplies its name with, entry by entry: what is
// left of the product without the name.
func (s *chunkNames) entrywise(sym *check.Symbol, t check.SignedTerm) *ten {
	e := s.e
	x := e.expr(t.Whole)
	if x == nil {
		return nil
	}
	if i := slices.IndexFunc(x.fs, func(f factor) bool { return f.val == s.opened[sym.Name] }); i >= 0 && wholeEntry(x.fs[i], len(x.axes)) {
		x = x.clone()
		x.fs = slices.Delete(x.fs, i, i+1)
		reach := e.f.DependsOn(s.opened[sym.Name])
		if !slices.ContainsFunc(x.fs, func(f factor) bool { return reach[f.val] }) {
			return x
		}
	}
	e.errorf(diag.NotScalar, t.Whole, "what stands beside the name in its own equation is a number or is multiplied entry by entry").
		Hint("a ⊙ %s_{%s−1} has a number for each entry; a matrix that multiplies it needs a strategy with equations of its own", sym.Name, e.blk.Time)
	return nil
}

// wholeEntry reports whether a factor of a value with n axes, of which the first
// subscript is the token, is read at the value's own entry.
func wholeEntry(f factor, n int) bool {
	if len(f.sub) != n+1 {
		return false
	}
	for k, s := range f.sub[1:] {
		if s.slot != k {
			return false
		}
	}
	return true
}

// doubled is x_t = a_t x_{t−1} + b_t, with a number a or one for each of the first
// axes, and with what comes before the chunk in b already: an associative scan. In round r each token takes up what the token r
// before it has gathered, so the rounds are as many as r doubles inside a chunk.
func (s *chunkNames) doubled(a, b *ten) *ten {
	e := s.e
	token := []*loopVar{e.token}
	if len(a.axes) == 0 {
		a = e.spread(a, token)
	}
	av, bv := e.pack(a, token), e.pack(b, token)
	for r := 1; r < s.cut.size; r *= 2 {
		back := varAff(e.token).add(affine{c: shape.Int(int64(r))}, -1)
		at, bt := e.ofValue(av, token, a.axes), e.ofValue(bv, token, b.axes)
		far := product(at, s.read(bt, back), b.axes)
		bv = e.pack(e.sum(nil, bt, e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: b.axes, out: len(b.axes), keep: token,
			args: far.place(upTo(len(b.axes))), guards: []affine{back}}), 1), token)
		if 2*r < s.cut.size {
			both := product(at, s.read(at, back), a.axes)
			av = e.pack(e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: a.axes, out: len(a.axes), keep: token,
				args: both.place(upTo(len(a.axes))), guards: []affine{back}}), token)
		}
	}
	return e.ofValue(bv, token, b.axes)
}

// solved is X of (I + A) X = B; a, over two tokens, is A, and b is B.
func (s *chunkNames) solved(a, b *ir.Value) *ir.Value {
	n := len(b.Axes)
	in := &ir.Instr{Op: ir.TriSolve, Loops: append(slices.Clone(b.Axes), s.cut.token), Over: []int{0, n}, To: ir.Ls(n),
		Args: []ir.Arg{ir.At(a, ir.L(0), ir.L(n)), ir.All(b)}, Eq: s.e.eq, Span: s.e.span}
	in.Out = &ir.Value{Name: s.e.f.Fresh("%"), Elem: ir.Real, Axes: b.Axes}
	return s.e.b.Add(in)
}

// typeOf is the type of what an equation defines: that of its terms, or that of
// the state that it is of.
func (s *chunkNames) typeOf(eq *check.Equation, b *ten, vars []*loopVar) []*ir.Axis {
	if !b.isLiteral() {
		return append(axesOf(vars), b.axes...)
	}
	if sym := s.e.blk.Symbols[eq.Name]; sym.Kind == check.State {
		axes, _, _ := s.e.declared(sym)
		return axes
	}
	return axesOf(vars)
}

func (s *chunkNames) plus(a, b *ten) *ten {
	if a.isLiteral() && a.coef == 0 {
		return b
	}
	return s.e.sum(nil, a, b, 1)
}

// terms is the sum of the terms without the name.
func (s *chunkNames) terms(ts []check.SignedTerm) *ten {
	out := literal(0)
	for _, t := range ts {
		x := s.e.expr(t.Expr)
		if x == nil {
			return nil
		}
		if t.Minus {
			x = x.scale(-1)
		}
		if !out.isLiteral() && !x.isLiteral() && !s.e.same(t.Expr, ts[0].Expr, t.Expr, out, x) {
			return nil
		}
		out = s.plus(out, x)
	}
	return out
}

// beside is A with a number of each token beside its diagonal.
func (s *chunkNames) beside(c *ten) *ten {
	e := s.e
	i := e.newVar("i", e.token.axis)
	gap := varAff(e.token).add(varAff(i), -1).add(affine{c: shape.Int(1)}, -1)
	i.guards = []affine{gap, affine{}.add(gap, -1)}
	return s.table(c, i)
}

// sums is A of the terms that sum over earlier tokens.
func (s *chunkNames) sums(r *check.Recurrence, left []*loopVar) *ten {
	e := s.e
	out := literal(0)
	for _, t := range r.Sums {
		x := t.Expr.(*notation.Reduce)
		e.push(&scope{})
		vars, _, conds, ok := e.binders(x.Binders)
		if !ok || len(vars) != 1 || vars[0].axis != e.token.axis || len(conds) > 0 {
			e.pop()
			if ok {
				e.errorf(diag.NotSupported, x, "a chunk's equation sums itself over the chunk alone").Hint("write Σ_{i∈%s, i<t}", s.cut.token.Name)
			}
			return nil
		}
		c := s.number(check.SignedTerm{Minus: t.Minus, Expr: x.Body})
		e.pop()
		if c != nil && c.depends(left) {
			e.errorf(diag.NotScalar, x, "what stands beside the name under a sum over earlier tokens is one number for all entries, and this one has indices")
			return nil
		}
		if c == nil {
			return nil
		}
		out = s.plus(out, s.table(c, vars[0]))
	}
	return out
}

// number is a factor beside the name, with the sign that it has in A.
func (s *chunkNames) number(t check.SignedTerm) *ten {
	c := s.e.expr(t.Expr)
	if c == nil {
		return nil
	}
	if len(c.axes) > 0 {
		s.e.errorf(diag.NotScalar, t.Expr, "what stands beside the name in its own equation is a number, and this is %s", s.e.typ(c))
		return nil
	}
	if !t.Minus {
		c = c.scale(-1)
	}
	return c
}

// table is a number of two tokens as a vector over the earlier one.
func (s *chunkNames) table(c *ten, i *loopVar) *ten {
	e := s.e
	t := e.emit(emission{op: ir.Prod, coef: []float64{c.coef}, keep: []*loopVar{e.token, i}, args: c.place(nil)})
	return e.lift(t, []*loopVar{i})
}
