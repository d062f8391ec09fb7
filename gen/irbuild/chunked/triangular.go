package chunked

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Triangular systems. An equation of a chunk that reads itself at earlier tokens,
// X_t = b_t − Σ_{i<t} A_t[i] X_i, is the system (I + A) X = B with A strictly lower
// triangular. A is built from the terms that read X and B from the others; the
// solution is one instruction, a forward substitution. Where only the previous token
// is read, A has entries on its subdiagonal only, and the system is a linear
// recurrence, computed by recursive doubling (Hillis and Steele, Data parallel
// algorithms, 1986). Nothing is divided by a gate, and no product of gates is written
// in logarithms: a gate of zero is a zero in A.

// triangular builds an equation that reads itself.
func (s *chunk) triangular(eq *check.Equation, r *check.Recurrence) *tensor.Tensor {
	e := s.e
	e.Push(&expr.Scope{})
	defer e.Pop()
	vars, _, ok := e.TargetIndex(eq.Def.Target.Index)
	if !ok || !e.With(eq.Def.With) {
		return nil
	}
	b, step := s.sumTerms(r.Rest), s.lagCoefficient(eq, r)
	if b == nil || step == nil {
		return nil
	}
	axes := s.typeOf(eq, b, vars)
	if b.IsNumber() {
		b = b.Over(axes[len(vars):])
	}
	if len(vars) > 0 {
		b = e.Tabulate(b, vars)
	}
	if len(step.Axes) > 0 && len(r.Sums) > 0 {
		e.Errorf(diag.NotScalar, r.Lagged[0].Expr, "in an equation with a sum over earlier tokens the factor of the previous token is one number for all entries, and this is %s", e.Type(step))
		return nil
	}
	if step.DependsOn(vars) {
		if len(r.Sums) > 0 {
			e.Errorf(diag.NotScalar, r.Lagged[0].Expr, "in an equation with a sum over earlier tokens the factor of the previous token is one number for all entries, and this one has indices")
			return nil
		}
		step = e.Tabulate(step, vars)
	}
	if len(r.Lagged) > 0 {
		sym := e.Block.Symbols[eq.Name]
		first, ok := s.initial(sym)
		if !ok {
			return nil
		}
		if first != nil && !first.IsZero() {
			b = s.add(b, s.atFirstToken(sym, tensor.ScaleRows(step, first, axes)))
		}
	}
	if len(r.Sums) == 0 {
		return s.recursiveDoubling(step, b)
	}
	a := s.coefficients(r, vars)
	if a == nil {
		return nil
	}
	if len(r.Lagged) > 0 {
		a = s.add(a, s.subdiagonal(step.Scale(-1)))
	}
	token := []*tensor.LoopVar{e.Token}
	x := s.solve(e.ValueOver(a, token), e.ValueOver(b, token))
	return e.FromValue(x, token, b.Axes)
}

// lagCoefficient is the factor of the name one token before.
func (s *chunk) lagCoefficient(eq *check.Equation, r *check.Recurrence) *tensor.Tensor {
	out := tensor.Number(0)
	sym := s.e.Block.Symbols[eq.Name]
	for _, t := range r.Lagged {
		if sym.Kind != check.State {
			s.e.Diags.Errorf(diag.TimeSuffix, t.Expr.Where(), "%s has no value before the chunk", eq.Name).Hint("declare it: state %s = 0 per chunk", eq.Name)
			return nil
		}
		c := s.e.Quietly(func() *tensor.Tensor { return s.e.Expr(t.Expr) })
		if c == nil || len(c.Axes) > 0 {
			c = s.elementwiseCoefficient(sym, t)
		}
		if c == nil {
			return nil
		}
		if t.Minus {
			c = c.Scale(-1)
		}
		switch n := max(len(out.Axes), len(c.Axes)); {
		case out.IsZero():
		case len(out.Axes) < n:
			out = tensor.ScaleRows(out, tensor.Number(1), c.Axes)
		case len(c.Axes) < n:
			c = tensor.ScaleRows(c, tensor.Number(1), out.Axes)
		}
		out = s.add(out, c)
	}
	return out
}

// elementwiseCoefficient is the array that a term multiplies its name with, entry by
// entry: the product without the name.
func (s *chunk) elementwiseCoefficient(sym *check.Symbol, t check.SignedTerm) *tensor.Tensor {
	e := s.e
	x := e.Expr(t.Whole)
	if x == nil {
		return nil
	}
	if i := slices.IndexFunc(x.Factors, func(f tensor.Factor) bool { return f.Val == s.placeholders[sym.Name] }); i >= 0 && readsOwnEntry(x.Factors[i], len(x.Axes)) {
		x = x.Clone()
		x.Factors = slices.Delete(x.Factors, i, i+1)
		reach := e.Func.DependsOn(s.placeholders[sym.Name])
		if !slices.ContainsFunc(x.Factors, func(f tensor.Factor) bool { return reach[f.Val] }) {
			return x
		}
	}
	e.Errorf(diag.NotScalar, t.Whole, "the factor of the name in its own equation is a number, or is multiplied entry by entry").
		Hint("a ⊙ %s_{%s−1} has a number for each entry; a matrix that multiplies it needs a strategy with equations of its own", sym.Name, e.Block.Time)
	return nil
}

// readsOwnEntry reports whether a factor of a value with n axes, whose first subscript is
// the token, is read at the value's own entry.
func readsOwnEntry(f tensor.Factor, n int) bool {
	if len(f.Sub) != n+1 {
		return false
	}
	for k, s := range f.Sub[1:] {
		if s.Visible != k {
			return false
		}
	}
	return true
}

// recursiveDoubling solves x_t = a_t x_{t−1} + b_t, where a is a scalar or has one entry
// for each of the first axes of b, and b contains the contribution of x before the chunk.
// Round r adds to each token what the token r before it has accumulated, for r = 1, 2, 4,
// … below the length of a chunk.
func (s *chunk) recursiveDoubling(a, b *tensor.Tensor) *tensor.Tensor {
	e := s.e
	token := []*tensor.LoopVar{e.Token}
	if len(a.Axes) == 0 {
		a = e.Broadcast(a, token)
	}
	av, bv := e.ValueOver(a, token), e.ValueOver(b, token)
	for r := 1; r < s.tiling.size; r *= 2 {
		back := tensor.AffineOf(e.Token).Add(tensor.Const(r), -1)
		at, bt := e.FromValue(av, token, a.Axes), e.FromValue(bv, token, b.Axes)
		far := e.Where(tensor.ScaleRows(at, s.read(bt, back), b.Axes), back)
		bv = e.ValueOver(e.Add(bt, far, 1), token)
		if 2*r < s.tiling.size {
			av = e.ValueOver(e.Where(tensor.ScaleRows(at, s.read(at, back), a.Axes), back), token)
		}
	}
	return e.FromValue(bv, token, b.Axes)
}

// solve is X of (I + A) X = B; a, over two tokens, is A, and b is B.
func (s *chunk) solve(a, b *ir.Value) *ir.Value {
	n := len(b.Axes)
	in := &ir.Instr{Op: ir.TriSolve, Loops: append(slices.Clone(b.Axes), s.tiling.token), Over: []int{0, n}, To: ir.Ls(n),
		Args: []ir.Arg{ir.At(a, ir.L(0), ir.L(n)), ir.All(b)}, Eq: s.e.Eq, Span: s.e.Span}
	in.Out = &ir.Value{Name: s.e.Func.Fresh("%"), Elem: ir.Real, Axes: b.Axes}
	return s.e.IR.Add(in)
}

// typeOf is the axes of the value of an equation: those of its terms, or those of its
// state.
func (s *chunk) typeOf(eq *check.Equation, b *tensor.Tensor, vars []*tensor.LoopVar) []*ir.Axis {
	if !b.IsNumber() {
		return append(tensor.AxesOf(vars), b.Axes...)
	}
	if sym := s.e.Block.Symbols[eq.Name]; sym.Kind == check.State {
		axes, _, _ := s.e.Declared(sym)
		return axes
	}
	return tensor.AxesOf(vars)
}

func (s *chunk) add(a, b *tensor.Tensor) *tensor.Tensor {
	if a.IsZero() {
		return b
	}
	return s.e.Add(a, b, 1)
}

// sumTerms is the sum of terms without the name.
func (s *chunk) sumTerms(ts []check.SignedTerm) *tensor.Tensor {
	out := tensor.Number(0)
	for _, t := range ts {
		x := s.e.Expr(t.Expr)
		if x == nil {
			return nil
		}
		if t.Minus {
			x = x.Scale(-1)
		}
		if !out.IsNumber() && !x.IsNumber() && !s.e.Same(t.Expr, ts[0].Expr, t.Expr, out, x) {
			return nil
		}
		out = s.add(out, x)
	}
	return out
}

// subdiagonal is A for a factor of the previous token.
func (s *chunk) subdiagonal(c *tensor.Tensor) *tensor.Tensor {
	e := s.e
	i := e.NewVar("i", e.Token.Axis)
	gap := tensor.AffineOf(e.Token).Add(tensor.AffineOf(i), -1).Add(tensor.Const(1), -1)
	i.Guards = []tensor.Affine{gap, tensor.Affine{}.Add(gap, -1)}
	return s.matrixRow(c, i)
}

// coefficients is A for the terms that sum over earlier tokens.
func (s *chunk) coefficients(r *check.Recurrence, left []*tensor.LoopVar) *tensor.Tensor {
	e := s.e
	out := tensor.Number(0)
	for _, t := range r.Sums {
		x := t.Expr.(*notation.Reduce)
		e.Push(&expr.Scope{})
		vars, _, conds, ok := e.Binders(x.Binders)
		if !ok || len(vars) != 1 || vars[0].Axis != e.Token.Axis || len(conds) > 0 {
			e.Pop()
			if ok {
				e.Errorf(diag.NotSupported, x, "a chunk's equation sums itself over the chunk alone").Hint("write Σ_{i∈%s, i<t}", s.tiling.token.Name)
			}
			return nil
		}
		c := s.coefficient(check.SignedTerm{Minus: t.Minus, Expr: x.Body})
		e.Pop()
		if c != nil && c.DependsOn(left) {
			e.Errorf(diag.NotScalar, x, "the factor of the name in a sum over earlier tokens is one number for all entries, and this one has indices")
			return nil
		}
		if c == nil {
			return nil
		}
		out = s.add(out, s.matrixRow(c, vars[0]))
	}
	return out
}

// coefficient is a factor of the name, with the sign that it has in A.
func (s *chunk) coefficient(t check.SignedTerm) *tensor.Tensor {
	c := s.e.Expr(t.Expr)
	if c == nil {
		return nil
	}
	if len(c.Axes) > 0 {
		s.e.Errorf(diag.NotScalar, t.Expr, "the factor of the name in its own equation is a number, and this is %s", s.e.Type(c))
		return nil
	}
	if !t.Minus {
		c = c.Scale(-1)
	}
	return c
}

// matrixRow is a number that depends on two tokens as a vector over the earlier one.
func (s *chunk) matrixRow(c *tensor.Tensor, i *tensor.LoopVar) *tensor.Tensor {
	e := s.e
	m := tensor.Product(c)
	m.Keep = []*tensor.LoopVar{e.Token, i}
	return e.Tabulate(e.Emit(m), []*tensor.LoopVar{i})
}
