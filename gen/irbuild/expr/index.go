package expr

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Indices: A[i, j+1], k[(h, i)], and indices that are entries of integer tensors.

// index builds X[i, j]: the leading axes are read at the indices, the others
// stay visible.
func (e *Builder) index(x *notation.Index) *tensor.Tensor {
	if u := e.unionOf(x.X); u != nil {
		return e.readUnion(x, u)
	}
	t := e.OpenExpr(x.X)
	if t == nil {
		return nil
	}
	if t = e.Closed(x.X, e.Fill(x.X, t, e.axesAt(x.At, len(t.Axes)))); t == nil {
		return nil
	}
	if len(x.At) > len(t.Axes) {
		e.Errorf(diag.BadIndex, x.At[len(t.Axes)], "%s has %s and is read at %d indices", Text(x.X), count(len(t.Axes), "axis", "axes"), len(x.At))
		return nil
	}
	return e.readAt(x.X, t, x.At)
}

// axesAt are the axes that plain indices run over, as far as there are such.
func (e *Builder) axesAt(at []notation.Expr, rank int) []*ir.Axis {
	axes := make([]*ir.Axis, rank)
	for i, a := range at {
		if id, ok := a.(*notation.Ident); ok && i < rank {
			if b := e.Local(id.Name.Text); b != nil && b.Index != nil {
				axes[i] = b.Index.Axis
			}
		}
	}
	return axes
}

// readAt replaces the leading visible axes of t by indices.
func (e *Builder) readAt(x notation.Expr, t *tensor.Tensor, at []notation.Expr) *tensor.Tensor {
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
	affs := make([]tensor.Affine, len(flat))
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
	u := tensor.At(t, affs...)
	u.Row = false
	e.recordShift(u, flat)
	return u
}

// recordShift remembers the indices that may leave their axis.
func (e *Builder) recordShift(t *tensor.Tensor, at []notation.Expr) {
	for _, a := range at {
		if _, plain := a.(*notation.Ident); plain {
			continue
		}
		for _, f := range t.Factors {
			e.Shifts[f.Val] = append(e.Shifts[f.Val], a.Where())
		}
	}
}

// indexAt builds one index and checks it against axis number i of t. An index that reaches
// back beyond the start of the call returns t with the history of the context in front.
func (e *Builder) indexAt(a, x notation.Expr, t *tensor.Tensor, i int) (tensor.Affine, *tensor.Tensor, bool) {
	if id, ok := a.(*notation.Ident); ok {
		if b := e.Local(id.Name.Text); b != nil {
			wrongAxis := func(axis *ir.Axis) (tensor.Affine, *tensor.Tensor, bool) {
				e.Errorf(diag.BadIndex, a, "%s runs over %s, but axis %d of %s is %s", id.Name.Text, e.axisName(axis), i+1, Text(x), e.axisName(t.Axes[i])).
					Labelf("%s", e.axisName(axis)).Hint("axes are nominal: an index reads only the axis it was bound to")
				return tensor.Affine{}, nil, false
			}
			switch {
			case b.Union != nil:
				return e.unionIndexAt(a, x, t, i, b.Union)
			case b.Round != nil && b.Round.axis != t.Axes[i]:
				return wrongAxis(b.Round.axis)
			case b.Time != nil && b.Window != nil && t.Axes[i] == e.TimeAxis():
				u, base := e.WithHistory(t, i, b.Window)
				return b.Time.Add(tensor.Affine{Const: base}, 1), u, true
			case b.Time != nil && t.Axes[i] == e.TimeAxis():
				return *b.Time, nil, true
			case b.Time != nil && !e.timeIsAxis(), b.loop != nil && b.loop.Axis == t.Axes[i]:
				e.refuseTime(a, x, t, i)
				return tensor.Affine{}, nil, false
			case b.Index != nil && b.Index.Axis != t.Axes[i]:
				return wrongAxis(b.Index.Axis)
			}
		}
	}
	aff, ok := e.affine(a)
	if ok && e.Counter != nil && slices.ContainsFunc(aff.Terms, func(t tensor.Term) bool { return t.Var == e.Token }) {
		e.refuseTime(a, x, t, i)
		return tensor.Affine{}, nil, false
	}
	return aff, nil, ok
}

// refuseTime refuses a time step as an index of another axis.
func (e *Builder) refuseTime(a, x notation.Expr, t *tensor.Tensor, i int) {
	d := e.Errorf(diag.BadIndex, a, "%s is a time step, and axis %d of %s is %s", Text(a), i+1, Text(x), t.Axes[i].Name)
	if id, ok := a.(*notation.Ident); ok && id.Name.Text != "t" {
		d.Hint("write t−%s for the distance, which counts from 0", Text(a))
		return
	}
	d.Hint("a distance is a position: t−s for an index s that a window binds")
}

// affine builds an index expression: indices, their sums and differences,
// constants, sizes, and the entry of an integer tensor.
func (e *Builder) affine(x notation.Expr) (tensor.Affine, bool) {
	switch x := x.(type) {
	case *notation.Ident:
		if b := e.Local(x.Name.Text); b != nil {
			switch {
			case b.Index != nil:
				return tensor.AffineOf(b.Index), true
			case b.Round != nil:
				return tensor.Const(b.Round.number), true
			case b.Time != nil:
				return *b.Time, true
			}
		} else if x.Name.Text == "t" && e.Token != nil && !e.timeIsAxis() {
			return tensor.AffineOf(e.Token), true
		} else if a := e.Block.Axes[x.Name.Text]; a != nil {
			return tensor.Affine{Const: a.Size.Rename(ident.ASCII)}, true
		}
	case *notation.Number:
		if x.Value != math.Trunc(x.Value) || math.Abs(x.Value) > check.MaxSize {
			e.Errorf(diag.BadIndex, x, "%s is not an index", Text(x)).Hint("a position is an integer, counted from 0, of at most %d", check.MaxSize)
			return tensor.Affine{}, false
		}
		return tensor.Const(int(x.Value)), true
	case *notation.Binary:
		if x.Op == "+" || x.Op == "−" {
			return affineSum(x, e.affine)
		}
	}
	t := e.Expr(x)
	if t == nil {
		return tensor.Affine{}, false
	}
	if t.Elem == ir.Int && len(t.Axes) == 0 {
		t = e.Materialize(t)
		return tensor.Affine{Via: &t.Factors[0]}, true
	}
	e.Errorf(diag.BadIndex, x, "%s is %s, not an index", Text(x), e.Type(t)).Hint("an index is bound by Σ, by a left-hand side, or is an integer input")
	return tensor.Affine{}, false
}

// affineSum is the sum or the difference of two indices.
func affineSum(x *notation.Binary, index func(notation.Expr) (tensor.Affine, bool)) (tensor.Affine, bool) {
	a, ok := index(x.X)
	b, okb := index(x.Y)
	return a.Add(b, map[string]int{"+": 1, "−": -1}[x.Op]), ok && okb
}

// split views an axis d = H × d_h as its two factors where a pair (h, i)
// reads it.
func (e *Builder) split(x notation.Expr, t *tensor.Tensor, at []notation.Expr) *tensor.Tensor {
	for k, a := range at {
		tup, ok := a.(*notation.Tuple)
		if !ok {
			continue
		}
		parts := e.factorsOf(t.Axes[k])
		if len(parts) != len(tup.Items) {
			e.Errorf(diag.BadIndex, a, "axis %s of %s is not a product of %d axes", e.axisName(t.Axes[k]), Text(x), len(tup.Items)).
				Hint("declare it: dims %s = H × …", t.Axes[k].Name)
			return nil
		}
		t = e.Reshape(t, k, 1, parts...)
	}
	return t
}
