package irbuild

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A union range such as n_p ∪ window(t, w) is built part by part: what an
// index over it reads is built once for each part, with the index standing for
// that part alone, and the results are stacked or added. Values whose rows are
// indexed by a union stay apart as well, so that a stack [P; X] costs nothing.

// A unionIndex is an index over a union.
type unionIndex struct {
	name  string
	parts []span
	whole *loopVar // the index over the stacked axis, while no part is picked
	part  int      // the part that is being built, −1 for the stacked axis
	v     *loopVar // its index
	at    *affine  // its moment, for a window
}

// A unionVal is a value whose first visible axis is a union.
type unionVal struct {
	parts []*ten
}

func (e *builder) newUnion(b *notation.Binder, parts []span) *unionIndex {
	u := &unionIndex{name: b.Name.Text, parts: parts, part: -1}
	size := parts[0].axis.Size
	name := parts[0].axis.Name
	for _, p := range parts[1:] {
		size, name = size.Add(p.axis.Size), name+"+"+p.axis.Name
	}
	key := "∪" + name
	axis := e.sized[key]
	if axis == nil {
		axis = e.f.NewSizedAxis(name, size)
		e.sized[key] = axis
	}
	u.whole = e.newVar(u.name, axis)
	// On the stacked axis a window part counts as far as the context reaches
	// back; the parts before it always do, since their positions are smaller.
	offset := shape.Int(0)
	for _, p := range parts {
		if p.window {
			at := p.end.add(varAff(u.whole), -1)
			at.c = at.c.Add(offset)
			u.whole.guards = append(u.whole.guards, e.sinceStart(at, p.local))
		}
		offset = offset.Add(p.axis.Size)
	}
	e.bind(u.name, &binding{pick: u})
	return u
}

// eachPart builds f once for each part of the union, as an array over the part.
func (e *builder) eachPart(u *unionIndex, f func() *ten) []*ten {
	return e.partwise(u, func(v *loopVar) *ten {
		t := f()
		if t == nil {
			return nil
		}
		return e.lift(t, []*loopVar{v})
	})
}

// partwise builds f once for each part of the union, with the variable that
// runs over the part.
func (e *builder) partwise(u *unionIndex, f func(v *loopVar) *ten) []*ten {
	var out []*ten
	for k, p := range u.parts {
		e.push(&scope{})
		v := e.newVar(u.name, p.axis)
		pick := &unionIndex{name: u.name, parts: u.parts, whole: u.whole, part: k, v: v}
		if p.window {
			at := p.end.add(varAff(v), -1)
			pick.at = &at
			v.guards = append(v.guards, e.sinceStart(at, p.local))
		}
		e.bind(u.name, &binding{pick: pick})
		t := f(v)
		e.pop()
		if t == nil {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// overUnion builds a reduction over a union: a sum is the sum of its parts,
// anything else is built on the stacked axis.
func (e *builder) overUnion(x *notation.Reduce, vars []*loopVar, u *unionIndex) *ten {
	if x.Op == "Σ" {
		var out *ten
		for _, s := range e.partwise(u, func(v *loopVar) *ten {
			body := e.value(x.Body)
			if body == nil {
				return nil
			}
			return e.sumOver(body, append([]*loopVar{v}, vars...))
		}) {
			if out == nil {
				out = s
			} else {
				out = e.sum(nil, out, s, 1)
			}
		}
		return out
	}
	parts := e.eachPart(u, func() *ten { return e.value(x.Body) })
	if parts == nil {
		return nil
	}
	whole := e.stackTens(parts)
	whole.axes[0] = u.whole.axis
	body := at(whole, u.whole)
	e.relabel(body, u.whole.axis)
	return e.normal(x, body, []*loopVar{u.whole})
}

// relabel gives the stacked value the union's axis.
func (e *builder) relabel(t *ten, axis *ir.Axis) {
	v := t.fs[0].val
	for i, a := range v.Axes {
		if a.Size.Equal(axis.Size) && a != axis && v.Def.Op == ir.Stack && v.Def.Over[0] == i {
			v.Axes[i], v.Def.Loops[i] = axis, axis
		}
	}
}

// at reads the first visible axis of t at a variable.
func at(t *ten, v *loopVar) *ten { return atMoment(t, varAff(v)) }

// unionOf is the union value that an expression names, or nil.
func (e *builder) unionOf(x notation.Expr) *unionVal {
	id, ok := x.(*notation.Ident)
	if !ok {
		return nil
	}
	switch n := e.names.(type) {
	case *plainNames:
		return n.unions[id.Name.Text]
	case *plainClaim:
		return n.unions[id.Name.Text]
	}
	return nil
}

// unionAt reads a union value at a union index whose part is picked.
func (e *builder) unionAt(x *notation.Index, u *unionVal) *ten {
	id, ok := x.At[0].(*notation.Ident)
	if ok {
		if b := e.local(id.Name.Text); b != nil && b.pick != nil && b.pick.part >= 0 && b.pick.part < len(u.parts) {
			return e.readAt(x.X, u.parts[b.pick.part], x.At)
		}
	}
	e.errorf(diag.BadIndex, x.At[0], "%s is indexed by a union", text(x.X)).Hint("bind the index to the same union")
	return nil
}

// pickAt is the index of a union's part on axis number i of t: on the part's
// own axis the index itself, on the stacked axis moved by the parts before it.
func (e *builder) pickAt(a, x notation.Expr, t *ten, i int, u *unionIndex) (affine, *ten, bool) {
	axis := t.axes[i]
	switch {
	case axis == u.whole.axis && u.part < 0:
		return varAff(u.whole), nil, true
	case axis == u.whole.axis:
		offset := shape.Int(0)
		for _, p := range u.parts[:u.part] {
			offset = offset.Add(p.axis.Size)
		}
		aff := varAff(u.v)
		aff.c = offset
		return aff, nil, true
	case u.part >= 0 && u.parts[u.part].window && axis == e.timeAxis():
		if u.parts[u.part].local || e.blk.Unit.Kind == notation.OpUnit {
			return *u.at, nil, true
		}
		w, base := e.extend(t, i, u.parts[u.part].axis)
		return u.at.add(affine{c: base}, 1), w, true
	case u.part >= 0 && u.parts[u.part].axis == axis:
		return varAff(u.v), nil, true
	}
	e.errorf(diag.BadIndex, a, "%s runs over a union that axis %d of %s is no part of", u.name, i+1, text(x))
	return affine{}, nil, false
}

type extKey struct {
	val    *ir.Value
	window *ir.Axis
}

// seriesName is the name that a tail gets: that of the series, in whatever
// shape it is read, or else that of the equation that reads it. It is stored in
// checkpoints, so the order in which equations are built must not show.
func (e *builder) seriesName(v *ir.Value) string {
	for v.Def != nil && v.Name[0] == '%' {
		if v.Def.Op != ir.Reshape {
			return e.eqName() + ".series"
		}
		v = v.Def.Args[0].Val
	}
	return v.Name
}

// eqName is the name of the equation at hand.
func (e *builder) eqName() string { return e.eq[strings.LastIndexByte(e.eq, '.')+1:] }

// extend puts what the context kept of a series before this chunk in front of
// it: the last w−1 entries, which the call returns as part of the context. The
// result's time axis starts at moment −(w−1).
func (e *builder) extend(t *ten, i int, window *ir.Axis) (*ten, shape.Poly) {
	base := window.Size.Sub(shape.Int(1))
	t = e.one(t)
	v := e.pack(t, e.lanes())
	n := len(e.lanes())
	key := extKey{v, window}
	ext := e.exts[key]
	if ext == nil {
		series := e.seriesName(v)
		name := series
		for n := 2; slices.ContainsFunc(e.tails, func(t keptTail) bool { return t.series == name && t.window == window }); n++ {
			name = series + "." + strconv.Itoa(n) // in the order of the equation's text
		}
		past := e.sizedAxis(base)
		axes := append([]*ir.Axis{}, v.Axes...)
		axes[n+i] = past
		tail := e.f.AddParam(name+".tail", ir.State, ir.Real, axes...)
		e.tails = append(e.tails, keptTail{name, window, e.eqName(), tail})
		long := append([]*ir.Axis{}, v.Axes...)
		long[n+i] = e.sizedAxis(base.Add(v.Axes[n+i].Size))
		e.b.Eq, e.b.Span = e.eq, e.span
		ext = e.b.Stack(long, n+i, tail, v)
		e.exts[key] = ext
		// The last w−1 moments of what was read are the context's new tail.
		sub := ir.Ls(len(axes))
		sub[n+i].Const = v.Axes[n+i].Size
		next := e.b.Prod(axes, axes, ir.Ls(len(axes)), 1, ir.Arg{Val: ext, Sub: sub})
		e.f.Results = append(e.f.Results, ir.Result{Name: tail.Name, Val: next, State: true})
	}
	axes := append([]*ir.Axis{}, t.axes...)
	axes[i] = ext.Axes[n+i]
	return e.ofValue(ext, e.lanes(), axes), base
}

// lanes is the lane variable, where there is one.
func (e *builder) lanes() []*loopVar {
	if e.lane == nil {
		return nil
	}
	return []*loopVar{e.lane}
}
