package tensor

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
	"slices"
)

// An Affine is a sum of loop variables, a constant and possibly an integer
// tensor's entry.
type Affine struct {
	Terms []Term
	Const shape.Poly
	Via   *Factor
}

type Term struct {
	Var  *LoopVar
	Coef int
}

// A LoopVar is a bound index. Guards are the conditions under which its points
// count; each is an affine that must be ≥ 0.
type LoopVar struct {
	Name   string
	Axis   *ir.Axis
	Seq    int
	Guards []Affine
}

func AffineOf(v *LoopVar) Affine { return Affine{Terms: []Term{{v, 1}}} }

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

// Var returns the variable when a is one variable and nothing else.
func (a Affine) Var() *LoopVar {
	if a.Via == nil && a.Const.IsZero() && len(a.Terms) == 1 && a.Terms[0].Coef == 1 {
		return a.Terms[0].Var
	}
	return nil
}

func (a Affine) EachVar(add func(*LoopVar)) {
	for _, t := range a.Terms {
		add(t.Var)
	}
	if a.Via != nil {
		a.Via.EachVar(add)
	}
}

func (f *Factor) EachVar(add func(*LoopVar)) {
	for _, s := range f.Sub {
		if s.Visible < 0 {
			s.Affine.EachVar(add)
		}
	}
}

func SortVars(vars []*LoopVar) {
	slices.SortFunc(vars, func(a, b *LoopVar) int { return a.Seq - b.Seq })
}

func AxesOf(vars []*LoopVar) []*ir.Axis {
	var out []*ir.Axis
	for _, v := range vars {
		out = append(out, v.Axis)
	}
	return out
}

// NewVar makes an index over an axis.
func (e *Emitter) NewVar(name string, axis *ir.Axis) *LoopVar {
	e.seq++
	return &LoopVar{Name: name, Axis: axis, Seq: e.seq}
}
