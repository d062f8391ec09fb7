package expr

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Binders: the indices that Σ, softmax and left-hand sides bind, their ranges and conditions.

// Binders binds indices; conditions between indices become guards, conditions
// on data are returned.
func (e *Builder) Binders(bs []*notation.Binder) (vars []*tensor.LoopVar, unions []*unionIndex, conds []*tensor.Tensor, ok bool) {
	for _, b := range bs {
		if b.Range == nil {
			if b.PerChunk && !e.PerChunk(b, nil) {
				return nil, nil, nil, false
			}
			v, u := e.boundIndex(b)
			if v == nil && u == nil {
				return nil, nil, nil, false
			}
			if u != nil {
				unions = append(unions, u)
			} else {
				vars = append(vars, v)
			}
			continue
		}
		r, okr := e.RangeOf(b.Range)
		if !okr || b.PerChunk && !e.PerChunk(b, r) {
			return nil, nil, nil, false
		}
		if len(r) > 1 {
			u := e.NewUnion(b, r)
			unions = append(unions, u)
			continue
		}
		v := e.bindRange(b.Name.Text, r[0])
		vars = append(vars, v)
	}
	for _, b := range bs {
		if b.Cond == nil {
			continue
		}
		cs, okc := e.guardsOrConditions(b.Cond, vars)
		if !okc {
			return nil, nil, nil, false
		}
		conds = append(conds, cs...)
	}
	return vars, unions, conds, true
}

// boundIndex is an index that the left-hand side has bound.
func (e *Builder) boundIndex(b *notation.Binder) (*tensor.LoopVar, *unionIndex) {
	old := e.Local(b.Name.Text)
	switch {
	case old != nil && old.Union != nil:
		return nil, old.Union
	case old != nil && old.Index != nil:
		return old.Index, nil
	case old != nil && old.loop != nil:
		return old.loop, nil
	case old != nil && old.Time != nil:
		if v := old.Time.Var(); v != nil {
			return v, nil
		}
	}
	e.Diags.Errorf(diag.UnknownName, b.Span, "index %s is not bound", b.Name.Text).Hint("give its range: %s∈…", b.Name.Text)
	return nil, nil
}

// A Range of an index: a whole axis, or a window that ends at a time step.
type Range struct {
	Axis    *ir.Axis
	Window  bool
	end     tensor.Affine // window: the time step at which it ends
	perCall bool          // window: it ends at the start of the call
}

// PerChunk cuts the window of a range at the start of the call. Earlier tokens are absent,
// and no window state is kept.
func (e *Builder) PerChunk(b *notation.Binder, r []Range) bool {
	found := false
	for i := range r {
		r[i].perCall = r[i].Window
		found = found || r[i].Window
	}
	switch {
	case !found:
		e.Diags.Errorf(diag.NotSupported, b.Span, "per chunk has no meaning for a range that is not a window").Hint("take it away")
	case e.timeIsAxis():
		e.Diags.Errorf(diag.NotSupported, b.Span, "an operation has no context: its windows begin where its input begins").Hint("take per chunk away")
	case e.Counter != nil:
		e.Diags.Errorf(diag.NotSupported, b.Span, "a window per chunk cannot occur in an equation that depends on a state, nor in a claim").
			Hint("give it an equation of its own: u_t = Σ_{%s∈window(t, w) per chunk} …", b.Name.Text)
	default:
		return true
	}
	return false
}

// RangeOf reads the right-hand side of ∈: an axis, window(t, w), or a union.
func (e *Builder) RangeOf(x notation.Expr) ([]Range, bool) {
	switch x := x.(type) {
	case *notation.Binary:
		if x.Op == "∪" {
			a, ok := e.RangeOf(x.X)
			b, okb := e.RangeOf(x.Y)
			return append(a, b...), ok && okb
		}
	case *notation.Call:
		if x.Fun.Text == "window" && len(x.Args) == 2 {
			end, ok := e.affine(x.Args[0])
			w := e.AxisExpr(x.Args[1], e.generic())
			ok = ok && w != nil && e.endsNow(x.Args[0], end)
			return []Range{{Axis: w, Window: true, end: end}}, ok
		}
	}
	a := e.AxisExpr(x, e.generic())
	return []Range{{Axis: a}}, a != nil
}

// bindRange binds one index to a range. In a window the index is a time step:
// s = t − j for j = 0 … w−1, as far as the context reaches back.
func (e *Builder) bindRange(name string, r Range) *tensor.LoopVar {
	v := e.NewVar(name, r.Axis)
	if !r.Window {
		b := &Binding{Index: v}
		if e.Chunked && r.Axis == e.Token.Axis { // a token of the chunk is a time step
			at := tensor.AffineOf(v)
			b.Time = &at
		}
		e.Bind(name, b)
		return v
	}
	at := r.end.Add(tensor.AffineOf(v), -1)
	v.Guards = append(v.Guards, e.sinceStart(at, r.perCall))
	b := &Binding{Time: &at, loop: v}
	if !e.timeIsAxis() && !r.perCall {
		b.Window = r.Axis
	}
	e.Bind(name, b)
	return v
}

// guardsOrConditions turns conditions between indices into guards of the variables
// they bound, and returns the others.
func (e *Builder) guardsOrConditions(x notation.Expr, vars []*tensor.LoopVar) ([]*tensor.Tensor, bool) {
	if and, ok := x.(*notation.And); ok {
		a, oka := e.guardsOrConditions(and.X, vars)
		b, okb := e.guardsOrConditions(and.Y, vars)
		return append(a, b...), oka && okb
	}
	if r, ok := x.(*notation.Relation); ok && len(vars) > 0 {
		if gs := e.indexGuards(r); gs != nil {
			last := vars[len(vars)-1]
			last.Guards = append(last.Guards, gs...)
			return nil, true
		}
	}
	c := e.condition(x)
	if c == nil {
		return nil, false
	}
	return []*tensor.Tensor{c}, true
}

// indexGuards are the affine conditions ≥ 0 of a relation between indices, or nil for a
// relation between values.
func (e *Builder) indexGuards(r *notation.Relation) []tensor.Affine {
	a, ok := e.indexAffine(r.X)
	b, okb := e.indexAffine(r.Y)
	if !ok || !okb {
		return nil
	}
	one := tensor.Const(1)
	switch r.Op {
	case "≤":
		return []tensor.Affine{b.Add(a, -1)}
	case "<":
		return []tensor.Affine{b.Add(a, -1).Add(one, -1)}
	case "≥":
		return []tensor.Affine{a.Add(b, -1)}
	case ">":
		return []tensor.Affine{a.Add(b, -1).Add(one, -1)}
	case "=":
		return []tensor.Affine{a.Add(b, -1), b.Add(a, -1)}
	}
	return nil
}

func (e *Builder) indexAffine(x notation.Expr) (tensor.Affine, bool) {
	switch x := x.(type) {
	case *notation.Ident:
		if b := e.Local(x.Name.Text); b != nil && (b.Index != nil || b.Time != nil) {
			return e.affine(x)
		}
	case *notation.Number:
		return e.affine(x)
	case *notation.Binary:
		if x.Op == "+" || x.Op == "−" {
			return affineSum(x, e.indexAffine)
		}
	}
	return tensor.Affine{}, false
}
