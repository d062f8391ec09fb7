package tensor

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Tensors as values and back: which loops a value has, and reshapes, stacks and copies.

// Materialize turns t into a single factor with coefficient 1.
func (e *Emitter) Materialize(t *Tensor) *Tensor {
	if len(t.Factors) == 1 && t.Coef == 1 && t.readsAllAxes() {
		return t
	}
	if len(t.Factors) == 0 {
		return e.Broadcast(t, nil)
	}
	out := e.Emit(Product(t))
	out.Row = t.Row
	return out
}

// ValueOver turns t into a value whose axes are the given variables, then t's
// visible axes, in order; it copies only when it must.
func (e *Emitter) ValueOver(t *Tensor, vars []*LoopVar) *ir.Value {
	t = e.Materialize(t)
	f := t.Factors[0]
	if len(f.Sub) == len(vars)+len(t.Axes) {
		same := true
		for i, s := range f.Sub {
			if i < len(vars) {
				same = same && s.Visible < 0 && s.Affine.Var() == vars[i]
			} else {
				same = same && s.Visible == i-len(vars)
			}
		}
		if same {
			return f.Val
		}
	}
	return e.Broadcast(t, vars).Factors[0].Val
}

// Tabulate makes loop variables visible axes, in the given order before or among
// the axes that are visible already: `out[i∈r] = e` and softmax_{j∈c}(e).
func (e *Emitter) Tabulate(t *Tensor, vars []*LoopVar) *Tensor {
	if len(t.Factors) == 0 {
		t = e.Broadcast(t, vars)
	}
	t = e.Materialize(t)
	plain := map[*LoopVar]int{}
	for _, s := range t.Factors[0].Sub {
		if s.Visible < 0 {
			if v := s.Affine.Var(); v != nil {
				plain[v]++
			} else {
				s.Affine.EachVar(func(v *LoopVar) { plain[v] += 2 })
			}
		}
	}
	for _, v := range vars {
		if plain[v] != 1 {
			t = e.Broadcast(t, vars)
			break
		}
	}
	u := t.Clone()
	u.Axes = nil
	for _, v := range vars {
		u.Axes = append(u.Axes, v.Axis)
	}
	u.Axes = append(u.Axes, t.Axes...)
	for i, s := range u.Factors[0].Sub {
		if s.Visible >= 0 {
			u.Factors[0].Sub[i].Visible += len(vars)
			continue
		}
		if v := s.Affine.Var(); v != nil {
			if k := slices.Index(vars, v); k >= 0 {
				u.Factors[0].Sub[i] = Subscript{Visible: k}
			}
		}
	}
	return u
}

// Broadcast copies t so that the variables are loops of it.
func (e *Emitter) Broadcast(t *Tensor, vars []*LoopVar) *Tensor {
	if len(t.Factors) == 0 {
		return e.Emit(Instr{Op: ir.Const, Coef: []float64{t.Coef}, Locals: t.Axes, Out: len(t.Axes), Keep: vars})
	}
	m := Product(t)
	m.Keep, m.elem = vars, t.Elem
	return e.Emit(m)
}

// FromValue reads a value whose axes are the variables, then the visible axes.
func (e *Emitter) FromValue(v *ir.Value, vars []*LoopVar, axes []*ir.Axis) *Tensor {
	t := &Tensor{Axes: axes, Elem: v.Elem, Coef: 1, Factors: []Factor{{Val: v}}}
	for _, x := range vars {
		t.Factors[0].Sub = append(t.Factors[0].Sub, Subscript{-1, AffineOf(x)})
	}
	for i := range axes {
		t.Factors[0].Sub = append(t.Factors[0].Sub, Subscript{Visible: i})
	}
	return t
}

// Copy is a new value equal to t.
func (e *Emitter) Copy(t *Tensor) *Tensor {
	out := e.Broadcast(t, nil)
	out.Row = t.Row
	return out
}

// Reshape replaces the n visible axes of t from axis k on by others of the same
// number of entries: it splits an axis into its factors, or merges them.
func (e *Emitter) Reshape(t *Tensor, k, n int, by ...*ir.Axis) *Tensor {
	t = e.Materialize(t)
	vars := VarsOf(t)
	axes := slices.Concat(t.Axes[:k], by, t.Axes[k+n:])
	v := e.ValueOver(t, vars)
	return e.FromValue(e.Build().Reshape(v, append(AxesOf(vars), axes...)...), vars, axes)
}

// Stack puts tensors one after another along their first visible axis, which
// becomes the given one.
func (e *Emitter) Stack(axis *ir.Axis, ts ...*Tensor) *Tensor {
	for i, t := range ts {
		ts[i] = e.Materialize(t)
	}
	vars := VarsOf(ts...)
	axes := append([]*ir.Axis{axis}, ts[0].Axes[1:]...)
	vals := make([]*ir.Value, len(ts))
	for i, t := range ts {
		vals[i] = e.ValueOver(t, vars)
	}
	return e.FromValue(e.Build().Stack(append(AxesOf(vars), axes...), len(vars), vals...), vars, axes)
}

// Diagonal is the matrix with the entries of t, a value over one axis, on its
// diagonal.
func (e *Emitter) Diagonal(t *Tensor) *Tensor {
	out := e.Emit(Product(t))
	f := &out.Factors[0]
	in := f.Val.Def
	f.Val.Axes = append(slices.Clip(f.Val.Axes), t.Axes[0])
	in.To = append(slices.Clip(in.To), in.To[len(in.To)-1])
	f.Sub = append(f.Sub, Subscript{Visible: 1})
	out.Axes = []*ir.Axis{t.Axes[0], t.Axes[0]}
	return out
}

// Relabel replaces the axis of a stacked value by the axis of the union that indexes it.
func (e *Emitter) Relabel(t *Tensor, axis *ir.Axis) {
	v := t.Factors[0].Val
	for i, a := range v.Axes {
		if a.Size.Equal(axis.Size) && a != axis && v.Def.Op == ir.Stack && v.Def.Over[0] == i {
			v.Axes[i], v.Def.Loops[i] = axis, axis
		}
	}
}
