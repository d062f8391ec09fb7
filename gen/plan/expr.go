package plan

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A Var is an integer variable, of a loop or set by a Gather.
type Var struct {
	Name     string
	Gathered bool // set by a Gather: may be outside the axis that it indexes
}

// A Local is a scalar.
type Local struct {
	Name string
	Elem ir.Elem
}

// An Index is Σ Coef·Var + Const.
type Index struct {
	Terms []Term
	Const shape.Poly
}

// A Term is a variable times a size.
type Term struct {
	Var  *Var
	Coef shape.Poly
}

// At is the index that is v itself.
func At(v *Var) Index { return Index{Terms: []Term{{v, shape.Int(1)}}} }

// Fixed is a constant index.
func Fixed(p shape.Poly) Index { return Index{Const: p} }

// Var returns the variable when x is one variable and nothing else.
func (x Index) Var() *Var {
	if len(x.Terms) == 1 && x.Const.IsZero() && x.Terms[0].Coef.Equal(shape.Int(1)) {
		return x.Terms[0].Var
	}
	return nil
}

// Add returns x + c·y.
func (x Index) Add(y Index, c shape.Poly) Index {
	out := Index{Const: x.Const.Add(y.Const.Mul(c))}
	out.Terms = append(out.Terms, x.Terms...)
	for _, t := range y.Terms {
		out.Terms = addTerm(out.Terms, t.Var, t.Coef.Mul(c))
	}
	return out
}

func addTerm(ts []Term, v *Var, c shape.Poly) []Term {
	for i := range ts {
		if ts[i].Var == v {
			sum := ts[i].Coef.Add(c)
			if sum.IsZero() {
				return append(ts[:i:i], ts[i+1:]...)
			}
			ts = append(ts[:i:i], append([]Term{{v, sum}}, ts[i+1:]...)...)
			return ts
		}
	}
	if c.IsZero() {
		return ts
	}
	return append(ts, Term{v, c})
}

// Coef returns the coefficient of v.
func (x Index) Coef(v *Var) shape.Poly {
	for _, t := range x.Terms {
		if t.Var == v {
			return t.Coef
		}
	}
	return shape.Poly{}
}

// Subst returns x with v replaced by y.
func (x Index) Subst(v *Var, y Index) Index {
	c := x.Coef(v)
	if c.IsZero() {
		return x
	}
	out := Index{Const: x.Const}
	for _, t := range x.Terms {
		if t.Var != v {
			out.Terms = append(out.Terms, t)
		}
	}
	return out.Add(y, c)
}

// Equal reports whether x and y are the same index.
func (x Index) Equal(y Index) bool {
	d := x.Add(y, shape.Int(-1))
	return len(d.Terms) == 0 && d.Const.IsZero()
}

// An Access is an entry of a buffer, one index for each of its dims.
type Access struct {
	Buf   *Buffer
	Index []Index
}

// Flat is the row-major address of an access.
func (a Access) Flat() Index {
	out, mul := Index{}, shape.Int(1)
	for i := len(a.Index) - 1; i >= 0; i-- {
		out = out.Add(a.Index[i], mul)
		if i > 0 {
			mul = mul.Mul(a.Buf.Dims[i])
		}
	}
	return out
}

// Gathered returns the gathered variables of an access with the size of the
// axis that they index: outside of it a load is zero and a store is dropped.
func (a Access) Gathered() []BoundedIndex {
	var out []BoundedIndex
	for i, x := range a.Index {
		for _, t := range x.Terms {
			if t.Var.Gathered {
				out = append(out, BoundedIndex{x, a.Buf.Dims[i]})
				break
			}
		}
	}
	return out
}

// A BoundedIndex is an index that may be outside [0, Bound).
type BoundedIndex struct {
	Index Index
	Bound shape.Poly
}

// An Expr is a scalar expression.
type Expr interface{ expr() }

// Load reads an entry.
type Load struct{ Access }

// Ref reads a scalar.
type Ref struct{ To *Local }

// Num is a real constant.
type Num struct{ V float64 }

// IndexExpr is an index as a real number.
type IndexExpr struct{ Index }

// Prod is Coef times its arguments, multiplied from left to right, each
// product rounded. A coefficient of −1 negates the result.
type Prod struct {
	Coef float64
	Args []Expr
}

// Lin is Σ Coef_i·Arg_i + Const, added from left to right, each product and
// each sum rounded.
type Lin struct {
	Coef  []float64
	Args  []Expr
	Const float64
}

// Fma is A·B + C with one rounding, or C − A·B when Neg is set. Only the fused
// arithmetic has it; see package fuse.
type Fma struct {
	Neg     bool
	A, B, C Expr
}

// Call is a primitive that works entry by entry.
type Call struct {
	Op   ir.Op
	Args []Expr
}

// ElemOf is the element type of an expression's value.
func ElemOf(x Expr) ir.Elem {
	switch x := x.(type) {
	case Load:
		return x.Buf.Elem
	case Ref:
		return x.To.Elem
	case Call:
		if x.Op == ir.Select {
			return ElemOf(x.Args[1])
		}
		if out := x.Op.Info().Out; out != 0 {
			return out
		}
	}
	return ir.Real
}

func (Load) expr()      {}
func (Ref) expr()       {}
func (Num) expr()       {}
func (IndexExpr) expr() {}
func (Prod) expr()      {}
func (Lin) expr()       {}
func (Fma) expr()       {}
func (Call) expr()      {}
