// Package tensor has the values of expressions while they are translated, and
// the instructions that they become.
//
// A Tensor is a lazy product of factors, in index notation. Each factor reads a
// value at subscripts; a subscript is either a visible axis of the tensor or
// affine in the loop variables in scope: the batch, the token, and the indices
// that Σ and left-hand sides bind. So A[i] of a matrix is a vector whose factor
// has i in one subscript and the visible axis in the other, and k_t is a factor
// with batch and token in its first two. A product becomes an instruction only
// when its entries are needed: by a sum, a function, or a name. The loops of an
// instruction follow from the variables that its factors read, so slicing,
// transposing, outer products and broadcasting cost no instruction.
package tensor

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A Tensor is the value of an expression over its visible axes: Coef times the
// product of the factors.
type Tensor struct {
	Axes    []*ir.Axis // nil stands for an axis that is not known yet
	Row     bool       // a transposed vector
	Eye     bool       // an identity matrix whose axes are not known yet
	Gate    bool       // a gate of each channel: before an array it is its diagonal matrix
	Elem    ir.Elem
	Coef    float64
	Factors []Factor
}

// A Factor reads a value at one subscript for each of its axes.
type Factor struct {
	Val *ir.Value
	Sub []Subscript
}

// A Subscript is a visible axis of the tensor by its number, or Affine where
// Visible is −1.
type Subscript struct {
	Visible int
	Affine  Affine
}

// Number is a constant.
func Number(c float64) *Tensor { return &Tensor{Elem: ir.Real, Coef: c} }

// Eye is the identity matrix I; its axes are open.
func Eye() *Tensor {
	return &Tensor{Axes: []*ir.Axis{nil, nil}, Eye: true, Elem: ir.Real, Coef: 1}
}

// OnesRow is 1ᵀ; its axis is open.
func OnesRow() *Tensor { return &Tensor{Axes: []*ir.Axis{nil}, Row: true, Elem: ir.Real, Coef: 1} }

// IsNumber reports whether t is a constant.
func (t *Tensor) IsNumber() bool { return len(t.Factors) == 0 && len(t.Axes) == 0 && t.Elem == ir.Real }

// IsZero reports whether t is the constant zero.
func (t *Tensor) IsZero() bool { return t.IsNumber() && t.Coef == 0 }

// HasOpenAxes reports whether an axis is not known.
func (t *Tensor) HasOpenAxes() bool { return slices.Contains(t.Axes, nil) }

// Clone returns a copy that shares only values and loop variables with t.
func (t *Tensor) Clone() *Tensor {
	u := *t
	u.Axes = slices.Clone(t.Axes)
	u.Factors = make([]Factor, len(t.Factors))
	for i, f := range t.Factors {
		u.Factors[i] = Factor{f.Val, slices.Clone(f.Sub)}
	}
	return &u
}

// Scale is c t.
func (t *Tensor) Scale(c float64) *Tensor {
	u := t.Clone()
	u.Coef *= c
	return u
}

// Scalar is the factor of a tensor with open axes: a of a I.
func (t *Tensor) Scalar() *Tensor { return &Tensor{Elem: ir.Real, Coef: t.Coef, Factors: t.Factors} }

// Over is t, a number or a value of all entries, as a tensor over axes.
func (t *Tensor) Over(axes []*ir.Axis) *Tensor {
	return &Tensor{Axes: axes, Elem: ir.Real, Coef: t.Coef, Factors: t.Factors}
}

// DependsOn reports whether t reads one of the variables.
func (t *Tensor) DependsOn(vars []*LoopVar) bool {
	return slices.ContainsFunc(VarsOf(t), func(v *LoopVar) bool { return slices.Contains(vars, v) })
}

// Operands are the factors of t, its visible axes on the local loops of the
// same numbers, or on those that at lists.
func (t *Tensor) Operands(at ...int) []Operand {
	if at == nil {
		for i := range t.Axes {
			at = append(at, i)
		}
	}
	out := make([]Operand, len(t.Factors))
	for i, f := range t.Factors {
		out[i] = Operand{f, at}
	}
	return out
}

// readsAllAxes reports whether a single factor has every visible axis exactly once.
func (t *Tensor) readsAllAxes() bool {
	seen := make([]bool, len(t.Axes))
	for _, s := range t.Factors[0].Sub {
		if s.Visible >= 0 {
			if seen[s.Visible] {
				return false
			}
			seen[s.Visible] = true
		}
	}
	return !slices.Contains(seen, false)
}

// SameAxes reports whether a and b have the same axes in the same order.
func SameAxes(a, b *Tensor) bool { return slices.Equal(a.Axes, b.Axes) }

// Mul is the product entry by entry, or of a scalar and a tensor.
func Mul(a, b *Tensor) *Tensor {
	if len(a.Axes) < len(b.Axes) {
		a, b = b, a
	}
	u, v := a.Clone(), b.Clone()
	u.Coef *= v.Coef
	u.Factors = append(u.Factors, v.Factors...)
	return u
}

// ScaleRows is x, over axes, times c: a scalar, or one number for each entry of
// the first of these axes.
func ScaleRows(c, x *Tensor, axes []*ir.Axis) *Tensor {
	u := x.Clone()
	u.Axes, u.Coef, u.Factors = axes, c.Coef*x.Coef, append(slices.Clone(c.Factors), u.Factors...)
	return u
}

// Outer is a bᵀ.
func Outer(a, b *Tensor) *Tensor {
	u, v := a.Clone(), b.Clone()
	for _, f := range v.Factors {
		for i := range f.Sub {
			if f.Sub[i].Visible >= 0 {
				f.Sub[i].Visible++
			}
		}
	}
	return &Tensor{Axes: append(u.Axes, v.Axes...), Elem: ir.Real, Coef: u.Coef * v.Coef, Factors: append(u.Factors, v.Factors...)}
}

// Transposed exchanges the two axes of a matrix.
func Transposed(t *Tensor) *Tensor {
	u := t.Clone()
	u.Axes[0], u.Axes[1] = u.Axes[1], u.Axes[0]
	for _, f := range u.Factors {
		for i := range f.Sub {
			if f.Sub[i].Visible >= 0 {
				f.Sub[i].Visible = 1 - f.Sub[i].Visible
			}
		}
	}
	return u
}

// At reads the first visible axes of t at subscripts, one for each.
func At(t *Tensor, to ...Affine) *Tensor {
	u := t.Clone()
	u.Axes = u.Axes[len(to):]
	for _, f := range u.Factors {
		for i, s := range f.Sub {
			switch {
			case s.Visible >= len(to):
				f.Sub[i].Visible -= len(to)
			case s.Visible >= 0:
				f.Sub[i] = Subscript{-1, to[s.Visible]}
			}
		}
	}
	return u
}

// AtVar reads the first visible axis of t at a variable.
func AtVar(t *Tensor, v *LoopVar) *Tensor { return At(t, AffineOf(v)) }
