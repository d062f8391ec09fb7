package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Products of vectors and matrices, and stacks.

// juxt builds a row of factors. A chain that ends in a vector associates to
// the right, so that A B x is A (B x); any other to the left.
func (e *Builder) juxt(x *notation.Juxt) *tensor.Tensor {
	items := make([]*tensor.Tensor, len(x.Items))
	for i, it := range x.Items {
		if items[i] = e.OpenValue(it); items[i] == nil {
			for _, rest := range x.Items[i+1:] {
				e.OpenExpr(rest)
			}
			return nil
		}
	}
	last := items[len(items)-1]
	if len(last.Axes) == 1 && !last.Row {
		out := last
		for i := len(items) - 2; i >= 0; i-- {
			if out = e.product(x.Items[i], rowFrom(x, i+1), items[i], out); out == nil {
				return nil
			}
		}
		return out
	}
	out := items[0]
	for i := 1; i < len(items); i++ {
		if out = e.product(rowUpTo(x, i), x.Items[i], out, items[i]); out == nil {
			return nil
		}
	}
	return out
}

// rowFrom and head are the parts of a row as a message names them.
func rowFrom(x *notation.Juxt, i int) notation.Expr {
	if i == len(x.Items)-1 {
		return x.Items[i]
	}
	return &notation.Juxt{Span: x.Items[i].Where().To(x.Span), Items: x.Items[i:]}
}

func rowUpTo(x *notation.Juxt, i int) notation.Expr {
	if i == 1 {
		return x.Items[0]
	}
	return &notation.Juxt{Span: x.Items[0].Where().To(x.Items[i-1].Where()), Items: x.Items[:i]}
}

// product is the matrix product of two types, a scalar times anything, or a gate of each channel times
// the rows of an array.
func (e *Builder) product(xa, xb notation.Expr, a, b *tensor.Tensor) *tensor.Tensor {
	if len(a.Axes) == 0 || len(b.Axes) == 0 {
		out := tensor.Mul(a, b)
		out.Row = a.Row || b.Row
		return out
	}
	switch {
	case a.Eye && (len(b.Axes) == 2 || !b.Row):
		return tensor.Mul(b, a.Scalar())
	case b.Eye && (len(a.Axes) == 2 || a.Row):
		return tensor.Mul(a, b.Scalar())
	}
	switch m, n := len(a.Axes), len(b.Axes); {
	case a.Gate && !b.Row && b.Axes[0] == a.Axes[0]:
		out := tensor.ScaleRows(a, b, b.Axes)
		out.Gate = b.Gate
		return out
	case m == 2 && !a.Row && n <= 2 && !b.Row:
		return e.contract(xa, xb, a, b, 1, 0)
	case m == 1 && a.Row && n <= 2 && !b.Row:
		out := e.contract(xa, xb, a, b, 0, 0)
		if out != nil {
			out.Row = n == 2
		}
		return out
	case m == 1 && n == 1 && !a.Row && b.Row:
		return tensor.Outer(a, b)
	}
	e.Errorf(diag.NotAProduct, xb, "%s is %s and %s is %s: they have no product", Text(xa), e.Type(a), Text(xb), e.Type(b)).
		Labelf("%s", e.Type(b)).See(xa.Where(), "%s is %s", Text(xa), e.Type(a)).
		Hint("write a ⊙ b for the entries, a · b for the sum of their products, a bᵀ for the outer product")
	return nil
}

// contract sums the product of a and b over axis i of a and axis j of b.
func (e *Builder) contract(xa, xb notation.Expr, a, b *tensor.Tensor, i, j int) *tensor.Tensor {
	if a, b = e.fillContracted(xa, xb, a, b, i, j); a == nil {
		return nil
	}
	if a.Axes[i] != b.Axes[j] {
		e.Errorf(diag.ShapeMismatch, xb, "%s is %s, but %s is %s", Text(xb), e.Type(b), Text(xa), e.Type(a)).
			Labelf("%s", e.Type(b)).See(xa.Where(), "%s: its %s would have to be %s", e.Type(a), e.axisName(a.Axes[i]), e.axisName(b.Axes[j]))
		return nil
	}
	m := tensor.Instr{Op: ir.Prod, Coef: []float64{a.Coef * b.Coef}}
	as, bs := make([]int, len(a.Axes)), make([]int, len(b.Axes))
	for k, x := range a.Axes {
		if k != i {
			as[k] = len(m.Locals)
			m.Locals = append(m.Locals, x)
		}
	}
	for k, x := range b.Axes {
		if k != j {
			bs[k] = len(m.Locals)
			m.Locals = append(m.Locals, x)
		}
	}
	m.Out = len(m.Locals)
	as[i], bs[j] = m.Out, m.Out
	m.Locals = append(m.Locals, a.Axes[i])
	m.Args = append(a.Operands(as...), b.Operands(bs...)...)
	return e.Emit(m)
}

// fillContracted determines an open axis that is summed over from the other factor.
func (e *Builder) fillContracted(xa, xb notation.Expr, a, b *tensor.Tensor, i, j int) (*tensor.Tensor, *tensor.Tensor) {
	at := func(t *tensor.Tensor, k int, axis *ir.Axis) []*ir.Axis {
		axes := make([]*ir.Axis, len(t.Axes))
		axes[k] = axis
		return axes
	}
	b = e.Fill(xb, b, at(b, j, a.Axes[i]))
	a = e.Fill(xa, a, at(a, i, b.Axes[j]))
	if e.Closed(xa, a) == nil || e.Closed(xb, b) == nil {
		return nil, nil
	}
	return a, b
}

// dot builds a · b: the product of numbers, or the sum over the shared axis of
// two vectors.
func (e *Builder) dot(x *notation.Binary) *tensor.Tensor {
	a, b := e.OpenValue(x.X), e.OpenValue(x.Y)
	if a == nil || b == nil {
		return nil
	}
	switch {
	case len(a.Axes) == 0 || len(b.Axes) == 0:
		return tensor.Mul(a, b)
	case len(a.Axes) == 1 && len(b.Axes) == 1:
		return e.contract(x.X, x.Y, a, b, 0, 0)
	}
	e.Errorf(diag.NotAProduct, x.Y, "%s is %s and %s is %s: · is for vectors and numbers", Text(x.X), e.Type(a), Text(x.Y), e.Type(b)).
		Hint("⟨A, B⟩ is the sum of the products of all entries, A ⊙ B their array")
	return nil
}

// inner is ⟨A, B⟩: the sum of the products of all entries.
func (e *Builder) inner(x, xa, xb notation.Expr) *tensor.Tensor {
	a, b := e.Agree(xa, xb, e.OpenValue(xa), e.OpenValue(xb))
	if a == nil || b == nil || e.Closed(xa, a) == nil || e.Closed(xb, b) == nil || !e.Same(x, xa, xb, a, b) {
		return nil
	}
	return e.Emit(tensor.Instr{Op: ir.Prod, Coef: []float64{a.Coef * b.Coef}, Locals: a.Axes, Args: append(a.Operands(), b.Operands()...)})
}

// stack builds [a; b]: vectors or the rows of matrices, one after another.
func (e *Builder) stack(x *notation.Stack) *tensor.Tensor {
	var ts []*tensor.Tensor
	for _, it := range x.Items {
		t := e.Value(it)
		if t == nil {
			return nil
		}
		if len(t.Axes) == 0 && t.Elem == ir.Real {
			t = t.Clone()
			t.Axes = []*ir.Axis{e.SizedAxis(shape.Int(1))}
		}
		if len(t.Axes) == 0 || (len(ts) > 0 && !slices.Equal(t.Axes[1:], ts[0].Axes[1:])) {
			e.Errorf(diag.ShapeMismatch, it, "%s is %s and cannot be stacked here", Text(it), e.Type(t)).
				Hint("[a; b] stacks numbers and vectors, or matrices whose rows have the same axis")
			return nil
		}
		ts = append(ts, t)
	}
	return e.stackTensors(ts)
}

// stackTensors stacks tensors along the axis of their sizes' sum, so that [k; v]
// fits a vector declared in ℝ^{d_k+d_v}.
func (e *Builder) stackTensors(ts []*tensor.Tensor) *tensor.Tensor {
	size := ts[0].Axes[0].Size
	for _, t := range ts[1:] {
		size = size.Add(t.Axes[0].Size)
	}
	return e.Stack(e.SizedAxis(size), ts...)
}
