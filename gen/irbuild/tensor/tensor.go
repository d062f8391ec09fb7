// Package irbuild turns a checked block into tensor programs.
//
// An expression is built as a lazy product of factors. Each factor reads a
// value at subscripts; a subscript is either a visible axis of the
// expression's type, or affine in the loop variables in scope: the lane, the
// token, the indices that Σ and left-hand sides bind. So A[i] of a matrix is a
// vector whose factor has i in one subscript and the visible axis in the
// other, k_t is a factor with lane and token in its first two, and a product
// becomes an instruction only when something needs its entries: a sum, a
// function, or a name. Which loops an instruction has then follows from the
// variables its factors mention.
package tensor

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"slices"
)

func Number(c float64) *Tensor { return &Tensor{Elem: ir.Real, Coef: c} }

func (t *Tensor) IsNumber() bool { return len(t.Factors) == 0 && len(t.Axes) == 0 && t.Elem == ir.Real }

func (t *Tensor) Clone() *Tensor {
	u := *t
	u.Axes = slices.Clone(t.Axes)
	u.Factors = make([]Factor, len(t.Factors))
	for i, f := range t.Factors {
		u.Factors[i] = Factor{f.Val, slices.Clone(f.Sub)}
	}
	return &u
}

func (t *Tensor) Scale(c float64) *Tensor {
	u := t.Clone()
	u.Coef *= c
	return u
}

// HasOpenAxes reports whether an axis is not known.
func (t *Tensor) HasOpenAxes() bool { return slices.Contains(t.Axes, nil) }

// Scalar are the numbers that an open array is multiplied by.
func (t *Tensor) Scalar() *Tensor { return &Tensor{Elem: ir.Real, Coef: t.Coef, Factors: t.Factors} }

// DependsOn reports whether a value reads one of these indices.
func (t *Tensor) DependsOn(vars []*LoopVar) bool {
	found := false
	for i := range t.Factors {
		t.Factors[i].EachVar(func(v *LoopVar) { found = found || slices.Contains(vars, v) })
	}
	return found
}

// Operands gives every factor of t an operand with the same slot placement.
func (t *Tensor) Operands(slots []int) []Operand {
	out := make([]Operand, len(t.Factors))
	for i, f := range t.Factors {
		out[i] = Operand{f, slots}
	}
	return out
}

// Eye is I, its axes open.
func Eye() *Tensor {
	return &Tensor{Axes: []*ir.Axis{nil, nil}, Eye: true, Elem: ir.Real, Coef: 1}
}

// OnesRow is 1ᵀ, its axis open.
func OnesRow() *Tensor { return &Tensor{Axes: []*ir.Axis{nil}, Row: true, Elem: ir.Real, Coef: 1} }

// Mul is the entry-by-entry product, or scalar times tensor.
func Mul(a, b *Tensor) *Tensor {
	if len(a.Axes) < len(b.Axes) {
		a, b = b, a
	}
	u, v := a.Clone(), b.Clone()
	u.Coef *= v.Coef
	u.Factors = append(u.Factors, v.Factors...)
	return u
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

// Outer is a bᵀ; it stays lazy.
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

// At reads the first visible axis of t at a subscript.
func At(t *Tensor, to Affine) *Tensor {
	u := t.Clone()
	u.Axes = u.Axes[1:]
	for _, f := range u.Factors {
		for i, s := range f.Sub {
			switch {
			case s.Visible > 0:
				f.Sub[i].Visible--
			case s.Visible == 0:
				f.Sub[i] = Subscript{-1, to}
			}
		}
	}
	return u
}

// AtVar reads the first visible axis of t at a variable.
func AtVar(t *Tensor, v *LoopVar) *Tensor { return At(t, AffineOf(v)) }

func SameAxes(a, b *Tensor) bool {
	if len(a.Axes) != len(b.Axes) {
		return false
	}
	for i := range a.Axes {
		if a.Axes[i] != b.Axes[i] {
			return false
		}
	}
	return true
}

func InOrder(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// ScaleRows is a number, or one for each of the first axes, times a value that has these axes.
func ScaleRows(c, x *Tensor, axes []*ir.Axis) *Tensor {
	u := x.Clone()
	u.Axes, u.Coef, u.Factors = axes, c.Coef*x.Coef, append(slices.Clone(c.Factors), u.Factors...)
	return u
}

// A Tensor is the value of an expression: a tensor over its visible axes.
type Tensor struct {
	Axes    []*ir.Axis
	Row     bool // a transposed vector
	Eye     bool // an identity whose axes are open
	Elem    ir.Elem
	Coef    float64
	Factors []Factor
}

// A Factor reads val; slot subscripts are visible axes of the ten.
type Factor struct {
	Val *ir.Value
	Sub []Subscript
}

// A Subscript is one subscript: visible axis number slot, or aff when slot is −1.
type Subscript struct {
	Visible int
	Affine  Affine
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
