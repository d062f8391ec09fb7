package irbuild

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// index builds X[i, j]: the leading axes are read at the indices, the others
// stay visible.
func (e *builder) index(x *notation.Index) *ten {
	if u := e.unionOf(x.X); u != nil {
		return e.unionAt(x, u)
	}
	t := e.any(x.X)
	if t == nil {
		return nil
	}
	if t = e.closed(x.X, e.fill(x.X, t, e.axesAt(x.At, len(t.axes)))); t == nil {
		return nil
	}
	if len(x.At) > len(t.axes) {
		e.errorf(diag.BadIndex, x.At[len(t.axes)], "%s has %s and is read at %d indices", text(x.X), count(len(t.axes), "axis", "axes"), len(x.At))
		return nil
	}
	return e.readAt(x.X, t, x.At)
}

// axesAt are the axes that plain indices run over, as far as there are such.
func (e *builder) axesAt(at []notation.Expr, rank int) []*ir.Axis {
	axes := make([]*ir.Axis, rank)
	for i, a := range at {
		if id, ok := a.(*notation.Ident); ok && i < rank {
			if b := e.local(id.Name.Text); b != nil && b.idx != nil {
				axes[i] = b.idx.axis
			}
		}
	}
	return axes
}

// readAt replaces the leading visible axes of t by indices.
func (e *builder) readAt(x notation.Expr, t *ten, at []notation.Expr) *ten {
	t = e.split(x, t, at)
	if t == nil {
		return nil
	}
	var flat []notation.Expr
	for _, a := range at {
		if tup, ok := a.(*notation.Tuple); ok {
			flat = append(flat, tup.Items...)
			continue
		}
		flat = append(flat, a)
	}
	affs := make([]affine, len(flat))
	for i, a := range flat {
		aff, u, ok := e.indexAt(a, x, t, i)
		if !ok {
			return nil
		}
		if u != nil {
			t = u
		}
		affs[i] = aff
	}
	u := t.clone()
	u.axes = u.axes[len(flat):]
	u.row = false
	e.shifted(u, flat)
	for _, f := range u.fs {
		for i, s := range f.sub {
			switch {
			case s.slot >= len(flat):
				f.sub[i].slot -= len(flat)
			case s.slot >= 0:
				f.sub[i] = vsub{-1, affs[s.slot]}
			}
		}
	}
	return u
}

// shifted remembers the indices that may leave their axis.
func (e *builder) shifted(t *ten, at []notation.Expr) {
	for _, a := range at {
		if _, plain := a.(*notation.Ident); plain {
			continue
		}
		for _, f := range t.fs {
			e.shifts[f.val] = append(e.shifts[f.val], a.Where())
		}
	}
}

// shiftOf is the one index of the equation at hand that may leave an axis of
// v, or the equation.
func (e *builder) shiftOf(v *ir.Value) notation.Span {
	var found []notation.Span
	for _, s := range e.shifts[v] {
		if s.File == e.span.File && s.Start >= e.span.Start && s.End <= e.span.End {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return e.span
}

// indexAt builds one index and checks it against axis number i of t. A
// position that reaches back over the chunk's edge gives back t extended by
// what came before.
func (e *builder) indexAt(a, x notation.Expr, t *ten, i int) (affine, *ten, bool) {
	if id, ok := a.(*notation.Ident); ok {
		if b := e.local(id.Name.Text); b != nil {
			switch {
			case b.pick != nil:
				return e.pickAt(a, x, t, i, b.pick)
			case b.turn != nil && b.turn.axis != t.axes[i]:
				e.errorf(diag.BadIndex, a, "%s runs over %s, but axis %d of %s is %s", id.Name.Text, e.axisName(b.turn.axis), i+1, text(x), e.axisName(t.axes[i])).
					Labelf("%s", e.axisName(b.turn.axis)).Hint("axes are nominal: an index reads only the axis it was bound to")
				return affine{}, nil, false
			case b.time != nil && b.wide != nil && t.axes[i] == e.timeAxis():
				u, base := e.extend(t, i, b.wide)
				return b.time.add(affine{c: base}, 1), u, true
			case b.time != nil && t.axes[i] == e.timeAxis():
				return *b.time, nil, true
			case b.time != nil && !e.plainTime(), b.loop != nil && b.loop.axis == t.axes[i]:
				e.notAMoment(a, x, t, i)
				return affine{}, nil, false
			case b.idx != nil && b.idx.axis != t.axes[i]:
				e.errorf(diag.BadIndex, a, "%s runs over %s, but axis %d of %s is %s", id.Name.Text, e.axisName(b.idx.axis), i+1, text(x), e.axisName(t.axes[i])).
					Labelf("%s", e.axisName(b.idx.axis)).Hint("axes are nominal: an index reads only the axis it was bound to")
				return affine{}, nil, false
			}
		}
	}
	aff, ok := e.affine(a)
	if ok && e.step != nil && slices.ContainsFunc(aff.terms, func(t aterm) bool { return t.v == e.token }) {
		e.notAMoment(a, x, t, i)
		return affine{}, nil, false
	}
	return aff, nil, ok
}

// notAMoment refuses a moment as a position on an axis that is not time.
func (e *builder) notAMoment(a, x notation.Expr, t *ten, i int) {
	d := e.errorf(diag.BadIndex, a, "%s is a moment, and axis %d of %s is %s", text(a), i+1, text(x), t.axes[i].Name)
	if id, ok := a.(*notation.Ident); ok && id.Name.Text != "t" {
		d.Hint("write t−%s for the distance, which counts from 0", text(a))
		return
	}
	d.Hint("a distance is a position: t−s of a moment s that a window has bound")
}

// affine builds an index expression: indices, their sums and differences,
// constants, sizes, and the entry of an integer tensor.
func (e *builder) affine(x notation.Expr) (affine, bool) {
	switch x := x.(type) {
	case *notation.Ident:
		if b := e.local(x.Name.Text); b != nil {
			switch {
			case b.idx != nil:
				return varAff(b.idx), true
			case b.turn != nil:
				return affine{c: shape.Int(int64(b.turn.round))}, true
			case b.time != nil:
				return *b.time, true
			}
		} else if x.Name.Text == "t" && e.token != nil && !e.plainTime() {
			return varAff(e.token), true
		} else if a := e.blk.Axes[x.Name.Text]; a != nil {
			return affine{c: renamed(a.Size)}, true
		}
	case *notation.Number:
		if x.Value != math.Trunc(x.Value) || math.Abs(x.Value) > check.MaxSize {
			e.errorf(diag.BadIndex, x, "%s is not an index", text(x)).Hint("a position is an integer, counted from 0, of at most %d", check.MaxSize)
			return affine{}, false
		}
		return affine{c: shape.Int(int64(x.Value))}, true
	case *notation.Binary:
		if x.Op == "+" || x.Op == "−" {
			a, ok := e.affine(x.X)
			b, okb := e.affine(x.Y)
			if !ok || !okb {
				return affine{}, false
			}
			if x.Op == "−" {
				return a.add(b, -1), true
			}
			return a.add(b, 1), true
		}
	}
	t := e.expr(x)
	if t == nil {
		return affine{}, false
	}
	if t.elem == ir.Int && len(t.axes) == 0 {
		t = e.one(t)
		return affine{via: &t.fs[0]}, true
	}
	e.errorf(diag.BadIndex, x, "%s is %s, not an index", text(x), e.typ(t)).Hint("an index is bound by Σ, by a left-hand side, or is an integer input")
	return affine{}, false
}

// split views an axis d = H × d_h as its two factors where a pair (h, i)
// reads it.
func (e *builder) split(x notation.Expr, t *ten, at []notation.Expr) *ten {
	for k, a := range at {
		tup, ok := a.(*notation.Tuple)
		if !ok {
			continue
		}
		parts := e.factorsOf(t.axes[k])
		if len(parts) != len(tup.Items) {
			e.errorf(diag.BadIndex, a, "axis %s of %s is not a product of %d axes", e.axisName(t.axes[k]), text(x), len(tup.Items)).
				Hint("declare it: dims %s = H × …", t.axes[k].Name)
			return nil
		}
		t = e.reshape(t, k, parts)
	}
	return t
}

// factorsOf are the factors of an axis declared as a product.
func (e *builder) factorsOf(a *ir.Axis) []*ir.Axis {
	for _, c := range e.blk.AxisSeq {
		if len(c.Factors) > 0 && e.axis(c) == a {
			var out []*ir.Axis
			for _, f := range c.Factors {
				out = append(out, e.axis(e.blk.Axes[f]))
			}
			return out
		}
	}
	return nil
}

// reshape replaces visible axis k by parts.
func (e *builder) reshape(t *ten, k int, parts []*ir.Axis) *ten {
	t = e.one(t)
	var vars []*loopVar
	seen := map[*loopVar]bool{}
	t.fs[0].vars(func(v *loopVar) {
		if !seen[v] {
			seen[v] = true
			vars = append(vars, v)
		}
	})
	sortVars(vars)
	v := e.pack(t, vars)
	axes := append([]*ir.Axis{}, t.axes[:k]...)
	axes = append(axes, parts...)
	axes = append(axes, t.axes[k+1:]...)
	e.b.Eq, e.b.Span = e.eq, e.span
	return e.ofValue(e.b.Reshape(v, append(axesOf(vars), axes...)...), vars, axes)
}

// merge is the inverse of split: visible axes k … k+n−1 become one axis.
func (e *builder) merge(t *ten, k, n int, whole *ir.Axis) *ten {
	axes := append([]*ir.Axis{}, t.axes[:k]...)
	axes = append(axes, whole)
	axes = append(axes, t.axes[k+n:]...)
	t = e.one(t)
	var vars []*loopVar
	seen := map[*loopVar]bool{}
	t.fs[0].vars(func(v *loopVar) {
		if !seen[v] {
			seen[v] = true
			vars = append(vars, v)
		}
	})
	sortVars(vars)
	e.b.Eq, e.b.Span = e.eq, e.span
	return e.ofValue(e.b.Reshape(e.pack(t, vars), append(axesOf(vars), axes...)...), vars, axes)
}

func axesOf(vars []*loopVar) []*ir.Axis {
	var out []*ir.Axis
	for _, v := range vars {
		out = append(out, v.axis)
	}
	return out
}

// ofValue reads a value whose axes are the variables, then the visible axes.
func (e *builder) ofValue(v *ir.Value, vars []*loopVar, axes []*ir.Axis) *ten {
	t := &ten{axes: axes, elem: v.Elem, coef: 1, fs: []factor{{val: v}}}
	for _, x := range vars {
		t.fs[0].sub = append(t.fs[0].sub, vsub{-1, varAff(x)})
	}
	for i := range axes {
		t.fs[0].sub = append(t.fs[0].sub, vsub{slot: i})
	}
	return t
}
