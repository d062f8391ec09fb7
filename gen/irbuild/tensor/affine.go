package tensor

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Indices: affine combinations of loop variables.

// An Affine is an index: a sum of loop variables and a constant. Via is an entry
// of an integer tensor that is added to it, nil for none.
type Affine struct {
	Terms []Term
	Const shape.Poly
	Via   *Factor
}

// A Term is an integer times a loop variable.
type Term struct {
	Var  *LoopVar
	Coef int
}

// A LoopVar is a bound index over an axis. A point of it counts where all guards
// are ≥ 0. Seq grows in the order in which variables are made.
type LoopVar struct {
	Name   string
	Axis   *ir.Axis
	Seq    int
	Guards []Affine
}

// NewVar makes an index over an axis.
func (e *Emitter) NewVar(name string, axis *ir.Axis) *LoopVar {
	e.seq++
	return &LoopVar{Name: name, Axis: axis, Seq: e.seq}
}

// AffineOf is the index v.
func AffineOf(v *LoopVar) Affine { return Affine{Terms: []Term{{v, 1}}} }

// Const is a constant index.
func Const(n int) Affine { return Affine{Const: shape.Int(int64(n))} }

// Add is a + b for a sign of 1 and a − b for −1.
func (a Affine) Add(b Affine, sign int) Affine {
	out := Affine{Terms: slices.Clone(a.Terms), Const: a.Const, Via: a.Via}
	for _, t := range b.Terms {
		out.AddTerm(t.Var, sign*t.Coef)
	}
	if sign > 0 {
		out.Const = out.Const.Add(b.Const)
	} else {
		out.Const = out.Const.Sub(b.Const)
	}
	if b.Via != nil && sign > 0 && out.Via == nil {
		out.Via = b.Via
	}
	return out
}

// AddTerm adds c v to a.
func (a *Affine) AddTerm(v *LoopVar, c int) {
	for i := range a.Terms {
		if a.Terms[i].Var == v {
			a.Terms[i].Coef += c
			if a.Terms[i].Coef == 0 {
				a.Terms = slices.Delete(a.Terms, i, i+1)
			}
			return
		}
	}
	a.Terms = append(a.Terms, Term{v, c})
}

// Var returns the variable that a is, or nil where a is anything else.
func (a Affine) Var() *LoopVar {
	if a.Via == nil && a.Const.IsZero() && len(a.Terms) == 1 && a.Terms[0].Coef == 1 {
		return a.Terms[0].Var
	}
	return nil
}

// EachVar calls f with every variable that a reads.
func (a Affine) EachVar(f func(*LoopVar)) {
	for _, t := range a.Terms {
		f(t.Var)
	}
	if a.Via != nil {
		a.Via.eachVar(f)
	}
}

func (f *Factor) eachVar(add func(*LoopVar)) {
	for _, s := range f.Sub {
		if s.Visible < 0 {
			s.Affine.EachVar(add)
		}
	}
}

// VarsOf are the loop variables that tensors read, in the order in which they
// were bound.
func VarsOf(ts ...*Tensor) []*LoopVar {
	var s varSet
	for _, t := range ts {
		for i := range t.Factors {
			t.Factors[i].eachVar(s.add)
		}
	}
	return s.sorted()
}

// A varSet is a list of different variables.
type varSet struct{ vars []*LoopVar }

func (s *varSet) add(v *LoopVar) {
	if !slices.Contains(s.vars, v) {
		s.vars = append(s.vars, v)
	}
}

func (s *varSet) sorted() []*LoopVar {
	SortVars(s.vars)
	return s.vars
}

// SortVars sorts variables in the order in which they were bound.
func SortVars(vars []*LoopVar) {
	slices.SortFunc(vars, func(a, b *LoopVar) int { return a.Seq - b.Seq })
}

// AxesOf are the axes of variables.
func AxesOf(vars []*LoopVar) []*ir.Axis {
	var out []*ir.Axis
	for _, v := range vars {
		out = append(out, v.Axis)
	}
	return out
}
