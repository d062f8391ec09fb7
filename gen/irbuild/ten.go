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
package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A ten is the value of an expression: a tensor over its visible axes.
type ten struct {
	axes []*ir.Axis
	row  bool // a transposed vector
	eye  bool // an identity whose axes are open
	elem ir.Elem
	coef float64
	fs   []factor
}

// A factor reads val; slot subscripts are visible axes of the ten.
type factor struct {
	val *ir.Value
	sub []vsub
}

// A vsub is one subscript: visible axis number slot, or aff when slot is −1.
type vsub struct {
	slot int
	aff  affine
}

// An affine is a sum of loop variables, a constant and possibly an integer
// tensor's entry.
type affine struct {
	terms []aterm
	c     shape.Poly
	via   *factor
}

type aterm struct {
	v *loopVar
	c int
}

// A loopVar is a bound index. Guards are the conditions under which its points
// count; each is an affine that must be ≥ 0.
type loopVar struct {
	name   string
	axis   *ir.Axis
	seq    int
	guards []affine
}

func literal(c float64) *ten { return &ten{elem: ir.Real, coef: c} }

func (t *ten) isLiteral() bool { return len(t.fs) == 0 && len(t.axes) == 0 && t.elem == ir.Real }

func (t *ten) clone() *ten {
	u := *t
	u.axes = slices.Clone(t.axes)
	u.fs = make([]factor, len(t.fs))
	for i, f := range t.fs {
		u.fs[i] = factor{f.val, slices.Clone(f.sub)}
	}
	return &u
}

func (t *ten) scale(c float64) *ten {
	u := t.clone()
	u.coef *= c
	return u
}

func varAff(v *loopVar) affine { return affine{terms: []aterm{{v, 1}}} }

func (a affine) add(b affine, sign int) affine {
	out := affine{terms: slices.Clone(a.terms), c: a.c, via: a.via}
	for _, t := range b.terms {
		out.addTerm(t.v, sign*t.c)
	}
	if sign > 0 {
		out.c = out.c.Add(b.c)
	} else {
		out.c = out.c.Sub(b.c)
	}
	if b.via != nil && sign > 0 && out.via == nil {
		out.via = b.via
	}
	return out
}

func (a *affine) addTerm(v *loopVar, c int) {
	for i := range a.terms {
		if a.terms[i].v == v {
			a.terms[i].c += c
			if a.terms[i].c == 0 {
				a.terms = slices.Delete(a.terms, i, i+1)
			}
			return
		}
	}
	a.terms = append(a.terms, aterm{v, c})
}

// single returns the variable when a is one variable and nothing else.
func (a affine) single() *loopVar {
	if a.via == nil && a.c.IsZero() && len(a.terms) == 1 && a.terms[0].c == 1 {
		return a.terms[0].v
	}
	return nil
}

func (a affine) vars(add func(*loopVar)) {
	for _, t := range a.terms {
		add(t.v)
	}
	if a.via != nil {
		a.via.vars(add)
	}
}

func (f *factor) vars(add func(*loopVar)) {
	for _, s := range f.sub {
		if s.slot < 0 {
			s.aff.vars(add)
		}
	}
}

// one turns t into a single factor with coefficient 1.
func (e *builder) one(t *ten) *ten {
	if len(t.fs) == 1 && t.coef == 1 && t.full() {
		return t
	}
	if len(t.fs) == 0 {
		c := e.emit(emission{op: ir.Const, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes)})
		return c
	}
	out := e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), args: t.place(upTo(len(t.axes)))})
	out.row = t.row
	return out
}

// full reports whether a single factor has every visible axis exactly once.
func (t *ten) full() bool {
	seen := make([]bool, len(t.axes))
	for _, s := range t.fs[0].sub {
		if s.slot >= 0 {
			if seen[s.slot] {
				return false
			}
			seen[s.slot] = true
		}
	}
	return !slices.Contains(seen, false)
}

// pack turns t into a value whose axes are the given variables, then t's
// visible axes, in order; it copies only when it must.
func (e *builder) pack(t *ten, vars []*loopVar) *ir.Value {
	t = e.one(t)
	f := t.fs[0]
	if len(f.sub) == len(vars)+len(t.axes) {
		same := true
		for i, s := range f.sub {
			if i < len(vars) {
				same = same && s.slot < 0 && s.aff.single() == vars[i]
			} else {
				same = same && s.slot == i-len(vars)
			}
		}
		if same {
			return f.val
		}
	}
	out := e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: t.axes, out: len(t.axes), keep: vars, args: t.place(upTo(len(t.axes))), elem: t.elem})
	return out.fs[0].val
}

// lift makes loop variables visible axes, in the given order before or among
// the axes that are visible already: `out[i∈r] = e` and softmax_{j∈c}(e).
func (e *builder) lift(t *ten, vars []*loopVar) *ten {
	if len(t.fs) == 0 {
		t = e.spread(t, vars)
	}
	t = e.one(t)
	plain := map[*loopVar]int{}
	for _, s := range t.fs[0].sub {
		if s.slot < 0 {
			if v := s.aff.single(); v != nil {
				plain[v]++
			} else {
				s.aff.vars(func(v *loopVar) { plain[v] += 2 })
			}
		}
	}
	for _, v := range vars {
		if plain[v] != 1 {
			t = e.spread(t, vars)
			break
		}
	}
	u := t.clone()
	u.axes = nil
	for _, v := range vars {
		u.axes = append(u.axes, v.axis)
	}
	u.axes = append(u.axes, t.axes...)
	for i, s := range u.fs[0].sub {
		if s.slot >= 0 {
			u.fs[0].sub[i].slot += len(vars)
			continue
		}
		if v := s.aff.single(); v != nil {
			if k := slices.Index(vars, v); k >= 0 {
				u.fs[0].sub[i] = vsub{slot: k}
			}
		}
	}
	return u
}

// spread copies t so that the variables are loops of it.
func (e *builder) spread(t *ten, vars []*loopVar) *ten {
	if len(t.fs) == 0 {
		return e.emit(emission{op: ir.Const, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: vars})
	}
	return e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: vars,
		args: t.place(upTo(len(t.axes))), elem: t.elem})
}
