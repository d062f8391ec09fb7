package expr

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Arrays whose axes follow from their context: the identity I, and 1ᵀ, a row of ones. An axis
// that is not known yet is nil. The other operand of a sum or a product, or the declared type of
// the left-hand side, determines it; an array whose entries are needed while an axis is open is
// refused.
//
// A diagonal matrix is an instruction over one loop that writes at [i,i], so it computes no more
// entries than its vector has, and autodiff reads it as that vector.

// isIdentity reports whether a name that nothing declares is I.
func isIdentity(x *notation.Ident) bool { return x.Name.Text == "I" && x.Time == nil && !x.Bar }

// Fill replaces open axes of t by the axes at the same positions in axes; an identity gets
// both where one is known. t stays open where these are open too. nil means that an error
// was reported.
func (e *Builder) Fill(x notation.Expr, t *tensor.Tensor, axes []*ir.Axis) *tensor.Tensor {
	if t == nil || !t.HasOpenAxes() || len(t.Axes) != len(axes) {
		return t
	}
	u := t.Clone()
	for i, a := range axes {
		if u.Axes[i] == nil {
			u.Axes[i] = a
		}
	}
	if !t.Eye {
		return u
	}
	for i, a := range u.Axes {
		if a == nil {
			u.Axes[i] = u.Axes[1-i]
		}
	}
	if u.HasOpenAxes() {
		return u
	}
	if u.Axes[0] != u.Axes[1] {
		e.Errorf(diag.ShapeMismatch, x, "the identity has the same axis twice, and here it would be %s", e.ArrayType(u.Axes)).
			Hint("a matrix from one axis to another is a declared one")
		return nil
	}
	u.Axes, u.Eye = u.Axes[:1], false
	return e.Diagonal(u)
}

// Closed refuses an array whose axes are not known where they must be.
func (e *Builder) Closed(x notation.Expr, t *tensor.Tensor) *tensor.Tensor {
	if t == nil || !t.HasOpenAxes() {
		return t
	}
	d := e.Errorf(diag.OpenAxes, x, "the axes of %s do not follow from its context", Text(x))
	if t.Eye {
		d.Hint("I takes its axes from a matrix that is added to it or multiplied with it, or from the type of the state that it is assigned to")
	} else {
		d.Hint("1ᵀ takes its axis from what it is multiplied with: a 1ᵀ ⊙ S, 1ᵀ A")
	}
	return nil
}

// Agree replaces the open axes of two operands by those of the other one.
func (e *Builder) Agree(xa, xb notation.Expr, a, b *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
	if a == nil || b == nil {
		return a, b
	}
	u := e.Fill(xa, a, b.Axes)
	if u == nil {
		return nil, nil
	}
	return u, e.Fill(xb, b, u.Axes)
}

// openBinary builds a sum, a product entry by entry or a quotient of operands with open
// axes: sums of identities are identities, and a scalar is a factor.
func (e *Builder) openBinary(x *notation.Binary, a, b *tensor.Tensor) *tensor.Tensor {
	plain := func(t *tensor.Tensor) bool { return len(t.Axes) == 0 }
	switch {
	case (x.Op == "+" || x.Op == "−") && a.Eye && b.Eye:
		sign := 1.0
		if x.Op == "−" {
			sign = -1
		}
		return tensor.Mul(tensor.Eye(), e.Add(a.Scalar(), b.Scalar(), sign))
	case x.Op == "⊙" && a.Eye && b.Eye:
		return tensor.Mul(a, b.Scalar())
	case x.Op == "⊙" && (plain(a) || plain(b) || tensor.SameAxes(a, b) && !a.Eye && !b.Eye):
		return tensor.Mul(a, b)
	case x.Op == "/" && plain(b) && b.IsNumber():
		return a.Scale(1 / b.Coef)
	case x.Op == "/" && plain(b):
		return tensor.Mul(a, e.Entrywise(ir.Div, tensor.Number(1), e.guarded(b)))
	}
	if e.Closed(x.X, a) != nil {
		e.Closed(x.Y, b)
	}
	return nil
}

// diag builds diag(a).
func (e *Builder) diag(x *notation.Call) *tensor.Tensor {
	ts := e.values(x)
	if ts == nil || !e.arity(x, len(ts), 1) {
		return nil
	}
	t := ts[0]
	if len(t.Axes) == 1 && !t.Row {
		return e.Diagonal(t)
	}
	d := e.Errorf(diag.NotAProduct, x.Args[0], "diag takes a vector, and %s is %s", Text(x.Args[0]), e.Type(t)).Labelf("%s", e.Type(t))
	switch {
	case len(t.Axes) == 0:
		d.Hint("write %s I", Text(x.Args[0]))
	case len(t.Axes) == 2:
		d.Hint("the diagonal of a matrix is read entry by entry: A[i,i]")
	}
	return nil
}
