package expr

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Indices over a union such as n_p ∪ window(t, w). An expression at such an index is built once for
// each part of the union, and the results are stacked or added. Values whose rows are indexed by a
// union are kept by parts too, so that a stack [P; X] costs nothing.

// A unionIndex is an index over a union.
type unionIndex struct {
	name    string
	parts   []Range
	whole   *tensor.LoopVar // the index over the stacked axis, while no part is picked
	part    int             // the part that is being built, −1 for the stacked axis
	partVar *tensor.LoopVar // its index
	at      *tensor.Affine  // its time step, for a window
}

// A UnionValue is a value whose first visible axis is a union.
type UnionValue struct {
	Parts []*tensor.Tensor
}

// NewUnion binds an index over a union of ranges.
func (e *Builder) NewUnion(b *notation.Binder, parts []Range) *unionIndex {
	u := &unionIndex{name: b.Name.Text, parts: parts, part: -1}
	size := parts[0].Axis.Size
	name := parts[0].Axis.Name
	for _, p := range parts[1:] {
		size, name = size.Add(p.Axis.Size), name+"+"+p.Axis.Name
	}
	key := "∪" + name
	axis := e.Sized[key]
	if axis == nil {
		axis = e.Func.NewSizedAxis(name, size)
		e.Sized[key] = axis
	}
	u.whole = e.NewVar(u.name, axis)
	// On the stacked axis a window part counts as far as the context reaches
	// back; the parts before it always do, since their positions are smaller.
	offset := shape.Int(0)
	for _, p := range parts {
		if p.Window {
			at := p.end.Add(tensor.AffineOf(u.whole), -1)
			at.Const = at.Const.Add(offset)
			u.whole.Guards = append(u.whole.Guards, e.sinceStart(at, p.perCall))
		}
		offset = offset.Add(p.Axis.Size)
	}
	e.Bind(u.name, &Binding{Union: u})
	return u
}

// EachPart builds f once for each part of the union, as an array over the part.
func (e *Builder) EachPart(u *unionIndex, f func() *tensor.Tensor) []*tensor.Tensor {
	return e.partwise(u, func(v *tensor.LoopVar) *tensor.Tensor {
		t := f()
		if t == nil {
			return nil
		}
		return e.Tabulate(t, []*tensor.LoopVar{v})
	})
}

// partwise builds f once for each part of the union, with the variable that
// runs over the part.
func (e *Builder) partwise(u *unionIndex, f func(v *tensor.LoopVar) *tensor.Tensor) []*tensor.Tensor {
	var out []*tensor.Tensor
	for k, p := range u.parts {
		e.Push(&Scope{})
		v := e.NewVar(u.name, p.Axis)
		pick := &unionIndex{name: u.name, parts: u.parts, whole: u.whole, part: k, partVar: v}
		if p.Window {
			at := p.end.Add(tensor.AffineOf(v), -1)
			pick.at = &at
			v.Guards = append(v.Guards, e.sinceStart(at, p.perCall))
		}
		e.Bind(u.name, &Binding{Union: pick})
		t := f(v)
		e.Pop()
		if t == nil {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// overUnion builds a reduction over a union: a sum is the sum of its parts,
// anything else is built on the stacked axis.
func (e *Builder) overUnion(x *notation.Reduce, vars []*tensor.LoopVar, u *unionIndex) *tensor.Tensor {
	if x.Op == "Σ" {
		var out *tensor.Tensor
		for _, s := range e.partwise(u, func(v *tensor.LoopVar) *tensor.Tensor {
			body := e.Value(x.Body)
			if body == nil {
				return nil
			}
			return e.SumOver(body, append([]*tensor.LoopVar{v}, vars...))
		}) {
			if out == nil {
				out = s
			} else {
				out = e.Add(out, s, 1)
			}
		}
		return out
	}
	parts := e.EachPart(u, func() *tensor.Tensor { return e.Value(x.Body) })
	if parts == nil {
		return nil
	}
	whole := e.stackTensors(parts)
	whole.Axes[0] = u.whole.Axis
	body := tensor.AtVar(whole, u.whole)
	e.Relabel(body, u.whole.Axis)
	return e.normalise(x, body, []*tensor.LoopVar{u.whole})
}

// unionOf is the union value that an expression names, or nil.
func (e *Builder) unionOf(x notation.Expr) *UnionValue {
	id, ok := x.(*notation.Ident)
	if !ok {
		return nil
	}
	if n, ok := e.Names.(unionResolver); ok {
		return n.Union(id.Name.Text)
	}
	return nil
}

// readUnion reads a union value at a union index whose part is picked.
func (e *Builder) readUnion(x *notation.Index, u *UnionValue) *tensor.Tensor {
	id, ok := x.At[0].(*notation.Ident)
	if ok {
		if b := e.Local(id.Name.Text); b != nil && b.Union != nil && b.Union.part >= 0 && b.Union.part < len(u.Parts) {
			return e.readAt(x.X, u.Parts[b.Union.part], x.At)
		}
	}
	e.Errorf(diag.BadIndex, x.At[0], "%s is indexed by a union", Text(x.X)).Hint("bind the index to the same union")
	return nil
}

// unionIndexAt is the index of a union's part on axis number i of t: the index itself on
// the part's own axis, and shifted by the parts before it on the stacked axis.
func (e *Builder) unionIndexAt(a, x notation.Expr, t *tensor.Tensor, i int, u *unionIndex) (tensor.Affine, *tensor.Tensor, bool) {
	axis := t.Axes[i]
	switch {
	case axis == u.whole.Axis && u.part < 0:
		return tensor.AffineOf(u.whole), nil, true
	case axis == u.whole.Axis:
		offset := shape.Int(0)
		for _, p := range u.parts[:u.part] {
			offset = offset.Add(p.Axis.Size)
		}
		aff := tensor.AffineOf(u.partVar)
		aff.Const = offset
		return aff, nil, true
	case u.part >= 0 && u.parts[u.part].Window && axis == e.TimeAxis():
		if u.parts[u.part].perCall || e.Block.Unit.Kind == notation.OpUnit {
			return *u.at, nil, true
		}
		w, base := e.WithHistory(t, i, u.parts[u.part].Axis)
		return u.at.Add(tensor.Affine{Const: base}, 1), w, true
	case u.part >= 0 && u.parts[u.part].Axis == axis:
		return tensor.AffineOf(u.partVar), nil, true
	}
	e.Errorf(diag.BadIndex, a, "%s runs over a union that axis %d of %s is no part of", u.name, i+1, Text(x))
	return tensor.Affine{}, nil, false
}
