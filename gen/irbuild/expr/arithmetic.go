package expr

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Sums, products and quotients entry by entry, powers, norms and transposes.

// binary builds a + b, a − b, a · b, a ⊙ b, a / b and a mod b.
func (e *Builder) binary(x *notation.Binary) *tensor.Tensor {
	if x.Op == "·" {
		return e.dot(x)
	}
	a, b := e.Agree(x.X, x.Y, e.OpenValue(x.X), e.OpenValue(x.Y))
	if a == nil || b == nil {
		return nil
	}
	if a.Eye || b.Eye || a.HasOpenAxes() || b.HasOpenAxes() {
		return e.openBinary(x, a, b)
	}
	switch x.Op {
	case "+":
		return e.sum(x, a, b, 1)
	case "−":
		return e.sum(x, a, b, -1)
	case "⊙":
		if !e.Same(x, x.X, x.Y, a, b) {
			return nil
		}
		return tensor.Mul(a, b)
	case "/":
		return e.divide(x, a, b)
	case "mod":
		if !e.Same(x, x.X, x.Y, a, b) {
			return nil
		}
		return e.Entrywise(ir.Mod, a, b)
	}
	e.Errorf(diag.NotSupported, x, "%s cannot occur in an equation", x.Op)
	return nil
}

// Same checks that two operands have the same axes; a literal number fits any axes.
func (e *Builder) Same(x, xa, xb notation.Expr, a, b *tensor.Tensor) bool {
	if a.IsNumber() || b.IsNumber() || tensor.SameAxes(a, b) && a.Row == b.Row {
		return true
	}
	e.Errorf(diag.ShapeMismatch, xb, "%s is %s, but %s is %s", Text(xb), e.Type(b), Text(xa), e.Type(a)).
		Labelf("%s", e.Type(b)).See(xa.Where(), "%s is %s", Text(xa), e.Type(a)).
		Hint("both sides need the same axes; equal size is not enough")
	return false
}

// sum builds a ± b for a sum or a difference that the page writes.
func (e *Builder) sum(x *notation.Binary, a, b *tensor.Tensor, sign float64) *tensor.Tensor {
	if !e.Same(x, x.X, x.Y, a, b) {
		return nil
	}
	out := e.Add(a, b, sign)
	out.Gate = a.Gate && b.IsNumber() || b.Gate && a.IsNumber()
	return out
}

// divide builds a / b with b a number or of a's own axes.
func (e *Builder) divide(x *notation.Binary, a, b *tensor.Tensor) *tensor.Tensor {
	if b.IsNumber() {
		return a.Scale(1 / b.Coef)
	}
	if len(b.Axes) != 0 && !e.Same(x, x.X, x.Y, a, b) {
		return nil
	}
	return e.Entrywise(ir.Div, a, e.guarded(b))
}

// unary applies a function entry by entry; functions that are not defined
// everywhere see 1 instead where their branch is not taken.
func (e *Builder) unary(op ir.Op, t *tensor.Tensor) *tensor.Tensor {
	switch op {
	case ir.Log, ir.Log1p, ir.Sqrt, ir.Exp, ir.Expm1:
		t = e.guarded(t)
	}
	return e.Entrywise(op, t)
}

// guarded replaces an argument by 1 where the branch under construction is not taken, so
// that neither the branch nor its adjoint is NaN where it is not selected.
func (e *Builder) guarded(t *tensor.Tensor) *tensor.Tensor {
	for _, c := range e.Branches {
		yes, no := t, tensor.Number(1)
		if !c.Taken {
			yes, no = no, yes
		}
		t = e.Select(c.cond, yes, no)
	}
	return t
}

// power builds x^n for scalars.
func (e *Builder) power(x *notation.Power) *tensor.Tensor {
	n, isNum := e.constantValue(x.Exp)
	if norm, ok := x.X.(*notation.Norm); ok && isNum && n == 2 {
		if t := e.Value(norm.X); t != nil {
			return e.SumSquares(t)
		}
		return nil
	}
	t := e.Value(x.X)
	if t == nil {
		return nil
	}
	if len(t.Axes) != 0 {
		e.Errorf(diag.NotScalar, x, "a power of %s, which is %s", Text(x.X), e.Type(t)).
			Hint("powers are of numbers; write %s ⊙ %s for the entries", Text(x.X), Text(x.X))
		return nil
	}
	if isNum && n == math.Trunc(n) && n >= 1 && n <= 4 {
		t = e.Materialize(t)
		out := t
		for range int(n) - 1 {
			out = tensor.Mul(out, t)
		}
		return out
	}
	exp := e.Value(x.Exp)
	if exp == nil {
		return nil
	}
	if len(exp.Axes) != 0 {
		e.Errorf(diag.NotScalar, x.Exp, "the exponent is %s", e.Type(exp))
		return nil
	}
	return e.Entrywise(ir.Pow, e.guarded(t), exp)
}

// constantValue evaluates a constant, options included.
func (e *Builder) constantValue(x notation.Expr) (float64, bool) {
	if id, ok := x.(*notation.Ident); ok && e.Local(id.Name.Text) == nil {
		if o := e.Block.Options[id.Name.Text]; o != nil {
			return notation.Constant(o.Value)
		}
	}
	return notation.Constant(x)
}

func (e *Builder) transpose(x *notation.Transpose) *tensor.Tensor {
	if n, ok := x.X.(*notation.Number); ok && n.Value == 1 {
		return tensor.OnesRow()
	}
	t := e.OpenExpr(x.X)
	if t == nil {
		return nil
	}
	switch len(t.Axes) {
	case 0:
		return t.Clone()
	case 1:
		u := t.Clone()
		u.Row = !t.Row
		return u
	case 2:
		return tensor.Transposed(t)
	default:
		e.Errorf(diag.NotSupported, x, "%s has %d axes; write its transpose with indices", Text(x.X), len(t.Axes))
		return nil
	}
}

// Unlike says that two sides have different types.
func (e *Builder) Unlike(xl, xr notation.Expr, left, right *tensor.Tensor) {
	e.Errorf(diag.ShapeMismatch, xr, "%s is %s, but %s is %s", Text(xr), e.Type(right), Text(xl), e.Type(left)).
		Labelf("%s", e.Type(right)).See(xl.Where(), "%s is %s", Text(xl), e.Type(left))
}
