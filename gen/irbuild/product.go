package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// juxt builds a row of factors. A chain that ends in a vector associates to
// the right, so that A B x is A (B x); any other to the left.
func (e *builder) juxt(x *notation.Juxt) *ten {
	items := make([]*ten, len(x.Items))
	for i, it := range x.Items {
		if items[i] = e.operand(it); items[i] == nil {
			for _, rest := range x.Items[i+1:] {
				e.any(rest)
			}
			return nil
		}
	}
	last := items[len(items)-1]
	if len(last.axes) == 1 && !last.row {
		out := last
		for i := len(items) - 2; i >= 0; i-- {
			if out = e.product(x.Items[i], tail(x, i+1), items[i], out); out == nil {
				return nil
			}
		}
		return out
	}
	out := items[0]
	for i := 1; i < len(items); i++ {
		if out = e.product(head(x, i), x.Items[i], out, items[i]); out == nil {
			return nil
		}
	}
	return out
}

// tail and head are the parts of a row as a message names them.
func tail(x *notation.Juxt, i int) notation.Expr {
	if i == len(x.Items)-1 {
		return x.Items[i]
	}
	return &notation.Juxt{Span: x.Items[i].Where().To(x.Span), Items: x.Items[i:]}
}

func head(x *notation.Juxt, i int) notation.Expr {
	if i == 1 {
		return x.Items[0]
	}
	return &notation.Juxt{Span: x.Items[0].Where().To(x.Items[i-1].Where()), Items: x.Items[:i]}
}

// product is the matrix product of two types, or a scalar times anything.
func (e *builder) product(xa, xb notation.Expr, a, b *ten) *ten {
	if len(a.axes) == 0 || len(b.axes) == 0 {
		out := times(a, b)
		out.row = a.row || b.row
		return out
	}
	switch {
	case a.eye && (len(b.axes) == 2 || !b.row):
		return times(b, a.scalars())
	case b.eye && (len(a.axes) == 2 || a.row):
		return times(a, b.scalars())
	}
	type kind struct {
		rank int
		row  bool
	}
	switch struct{ a, b kind }{kind{len(a.axes), a.row}, kind{len(b.axes), b.row}} {
	case struct{ a, b kind }{kind{2, false}, kind{2, false}}:
		return e.contract(xa, xb, a, b, 1, 0)
	case struct{ a, b kind }{kind{2, false}, kind{1, false}}:
		return e.contract(xa, xb, a, b, 1, 0)
	case struct{ a, b kind }{kind{1, true}, kind{2, false}}:
		out := e.contract(xa, xb, a, b, 0, 0)
		if out != nil {
			out.row = true
		}
		return out
	case struct{ a, b kind }{kind{1, true}, kind{1, false}}:
		return e.contract(xa, xb, a, b, 0, 0)
	case struct{ a, b kind }{kind{1, false}, kind{1, true}}:
		return outer(a, b)
	}
	e.errorf(diag.NotAProduct, xb, "%s is %s and %s is %s: they have no product", text(xa), e.typ(a), text(xb), e.typ(b)).
		Labelf("%s", e.typ(b)).See(xa.Where(), "%s is %s", text(xa), e.typ(a)).
		Hint("write a ⊙ b for the entries, a · b for the sum of their products, a bᵀ for the outer product")
	return nil
}

// contract sums the product of a and b over axis i of a and axis j of b.
func (e *builder) contract(xa, xb notation.Expr, a, b *ten, i, j int) *ten {
	if a, b = e.inner1(xa, xb, a, b, i, j); a == nil {
		return nil
	}
	if a.axes[i] != b.axes[j] {
		e.errorf(diag.ShapeMismatch, xb, "%s is %s, but %s is %s", text(xb), e.typ(b), text(xa), e.typ(a)).
			Labelf("%s", e.typ(b)).See(xa.Where(), "%s: its %s would have to be %s", e.typ(a), e.axisName(a.axes[i]), e.axisName(b.axes[j]))
		return nil
	}
	m := emission{op: ir.Prod, coef: []float64{a.coef * b.coef}}
	as, bs := make([]int, len(a.axes)), make([]int, len(b.axes))
	for k, x := range a.axes {
		if k != i {
			as[k] = len(m.locals)
			m.locals = append(m.locals, x)
		}
	}
	for k, x := range b.axes {
		if k != j {
			bs[k] = len(m.locals)
			m.locals = append(m.locals, x)
		}
	}
	m.out = len(m.locals)
	as[i], bs[j] = m.out, m.out
	m.locals = append(m.locals, a.axes[i])
	m.args = append(a.place(as), b.place(bs)...)
	return e.emit(m)
}

// inner1 gives an open axis that is summed over that of the other factor.
func (e *builder) inner1(xa, xb notation.Expr, a, b *ten, i, j int) (*ten, *ten) {
	at := func(t *ten, k int, axis *ir.Axis) []*ir.Axis {
		axes := make([]*ir.Axis, len(t.axes))
		axes[k] = axis
		return axes
	}
	b = e.fill(xb, b, at(b, j, a.axes[i]))
	a = e.fill(xa, a, at(a, i, b.axes[j]))
	if e.closed(xa, a) == nil || e.closed(xb, b) == nil {
		return nil, nil
	}
	return a, b
}

// outer is a bᵀ; it stays lazy.
func outer(a, b *ten) *ten {
	u, v := a.clone(), b.clone()
	for _, f := range v.fs {
		for i := range f.sub {
			if f.sub[i].slot >= 0 {
				f.sub[i].slot++
			}
		}
	}
	return &ten{axes: append(u.axes, v.axes...), elem: ir.Real, coef: u.coef * v.coef, fs: append(u.fs, v.fs...)}
}

// dot builds a · b: the product of numbers, or the sum over the shared axis of
// two vectors.
func (e *builder) dot(x *notation.Binary) *ten {
	a, b := e.operand(x.X), e.operand(x.Y)
	if a == nil || b == nil {
		return nil
	}
	switch {
	case len(a.axes) == 0 || len(b.axes) == 0:
		return times(a, b)
	case len(a.axes) == 1 && len(b.axes) == 1:
		return e.contract(x.X, x.Y, a, b, 0, 0)
	}
	e.errorf(diag.NotAProduct, x.Y, "%s is %s and %s is %s: · is for vectors and numbers", text(x.X), e.typ(a), text(x.Y), e.typ(b)).
		Hint("⟨A, B⟩ is the sum of the products of all entries, A ⊙ B their array")
	return nil
}

// inner is ⟨A, B⟩: the sum of the products of all entries.
func (e *builder) inner(x, xa, xb notation.Expr) *ten {
	a, b := e.agree(xa, xb, e.operand(xa), e.operand(xb))
	if a == nil || b == nil || e.closed(xa, a) == nil || e.closed(xb, b) == nil || !e.same(x, xa, xb, a, b) {
		return nil
	}
	at := upTo(len(a.axes))
	return e.emit(emission{op: ir.Prod, coef: []float64{a.coef * b.coef}, locals: a.axes, args: append(a.place(at), b.place(at)...)})
}

// stack builds [a; b]: vectors or the rows of matrices, one after another.
func (e *builder) stack(x *notation.Stack) *ten {
	var ts []*ten
	for _, it := range x.Items {
		t := e.value(it)
		if t == nil {
			return nil
		}
		if len(t.axes) == 0 && t.elem == ir.Real {
			t = t.clone()
			t.axes = []*ir.Axis{e.sizedAxis(shape.Int(1))}
		}
		if len(t.axes) == 0 || (len(ts) > 0 && !slices.Equal(t.axes[1:], ts[0].axes[1:])) {
			e.errorf(diag.ShapeMismatch, it, "%s is %s and cannot be stacked here", text(it), e.typ(t)).
				Hint("[a; b] stacks numbers and vectors, or matrices whose rows have the same axis")
			return nil
		}
		ts = append(ts, t)
	}
	return e.stackTens(ts)
}

func (e *builder) stackTens(ts []*ten) *ten {
	var vars []*loopVar
	for i, t := range ts {
		ts[i] = e.one(t)
		ts[i].fs[0].vars(func(v *loopVar) {
			if !slices.Contains(vars, v) {
				vars = append(vars, v)
			}
		})
	}
	slices.SortFunc(vars, func(a, b *loopVar) int { return a.seq - b.seq })
	size := ts[0].axes[0].Size
	for _, t := range ts[1:] {
		size = size.Add(t.axes[0].Size)
	}
	axes := []*ir.Axis{}
	for _, v := range vars {
		axes = append(axes, v.axis)
	}
	whole := append([]*ir.Axis{e.stackAxis(ts, size.String())}, ts[0].axes[1:]...)
	axes = append(axes, whole...)
	vals := make([]*ir.Value, len(ts))
	for i, t := range ts {
		vals[i] = e.pack(t, vars)
	}
	e.b.Eq, e.b.Span = e.eq, e.span
	v := e.b.Stack(axes, len(vars), vals...)
	out := &ten{axes: whole, elem: ir.Real, coef: 1, fs: []factor{{val: v}}}
	for _, v := range vars {
		out.fs[0].sub = append(out.fs[0].sub, vsub{-1, varAff(v)})
	}
	for i := range whole {
		out.fs[0].sub = append(out.fs[0].sub, vsub{slot: i})
	}
	return out
}

// stackAxis is the axis of a stack: that of its size, so that [k; v] fits a
// vector declared in ℝ^{d_k+d_v}.
func (e *builder) stackAxis(ts []*ten, key string) *ir.Axis {
	if x := e.sized[key]; x != nil {
		return x
	}
	size := ts[0].axes[0].Size
	for _, t := range ts[1:] {
		size = size.Add(t.axes[0].Size)
	}
	return e.sizedAxis(size)
}
