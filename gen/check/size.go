package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// AxisOf returns the axis of a name. An option that counts something is an
// axis too: with the value the formula fixes when a case reads it, else with a
// size of its own whose default is the option's value.
func (b *Block) AxisOf(name string) *Axis {
	if a := b.Axes[name]; a != nil {
		return a
	}
	o := b.Options[name]
	if o == nil {
		return nil
	}
	n, ok := notation.Constant(o.Value)
	if !ok || n != math.Trunc(n) || math.Abs(n) > MaxSize {
		return nil
	}
	a := &Axis{Name: name, Size: shape.Sym(name), Free: true, Default: int(n), option: true}
	if o.Static {
		a.Size, a.Free = shape.Int(int64(n)), false
	}
	b.Axes[name] = a
	b.AxisSeq = append(b.AxisSeq, a)
	return a
}

// AxisFor returns the axis that a signature on the page of a unit means by a
// name, or nil where the name is the signature's own. A knob knows the axes of
// its own page and no others, and no page knows the options of a knob: what
// those are called is no matter of anybody who writes ℝ^{n}.
func (b *Block) AxisFor(u *notation.Unit, name string) *Axis {
	o, a := b.Options[name], b.Axes[name]
	if (a == nil || a.option) && o != nil && o.Unit != u && units.IsKnob(o.Unit) {
		return nil
	}
	if o != nil && o.Unit == u && o.PageName() != name {
		return b.AxisOf(name)
	}
	if u != b.Unit && units.IsKnob(u) && u.Kind != notation.StructUnit && !slices.ContainsFunc(u.Body, func(st notation.Stmt) bool { return declaresAxis(st, name) }) {
		return nil
	}
	return b.AxisOf(name)
}

// declaresAxis reports whether a statement declares an axis: by dims, or as an option.
func declaresAxis(st notation.Stmt, axis string) bool {
	switch s := st.(type) {
	case *notation.Dims:
		return slices.ContainsFunc(s.Items, func(it *notation.DimsItem) bool { return it.Name.Text == axis })
	case *notation.Declare:
		return s.Keyword.Text == "option" && slices.ContainsFunc(s.Names, func(n *notation.DeclName) bool { return n.Name.Text == axis })
	}
	return false
}

// SizeOf reads a size expression: sums, products, quotients by numbers and
// powers of axes.
func (b *Block) SizeOf(e notation.Expr, axis func(*notation.Ident) *Axis) (shape.Poly, bool) {
	if axis == nil {
		axis = func(id *notation.Ident) *Axis { return b.AxisOf(id.Name.Text) }
	}
	switch e := e.(type) {
	case *notation.Number:
		if e.Value != math.Trunc(e.Value) || math.Abs(e.Value) > MaxSize {
			return shape.Poly{}, false
		}
		return shape.Int(int64(e.Value)), true
	case *notation.Ident:
		if a := axis(e); a != nil {
			return a.Size, true
		}
		return shape.Poly{}, false
	case *notation.Juxt:
		return b.sizeProduct(e.Items, axis)
	case *notation.Power:
		x, ok := b.SizeOf(e.X, axis)
		n, okn := notation.Constant(e.Exp)
		if !ok || !okn || n != math.Trunc(n) || n < 0 || n > maxPower {
			return x, false
		}
		out := shape.Int(1)
		for range int(n) {
			out = out.Mul(x)
		}
		return out, true
	case *notation.Binary:
		x, ok := b.SizeOf(e.X, axis)
		y, oky := b.SizeOf(e.Y, axis)
		if !ok || !oky {
			return x, false
		}
		switch e.Op {
		case "+", "∪":
			return x.Add(y), true
		case "−":
			return x.Sub(y), true
		case "·", "×":
			return x.Mul(y), true
		case "/":
			n, isInt := y.Const()
			return x.Mul(shape.Ratio(1, max(n, 1))), isInt && n > 0
		}
	}
	return shape.Poly{}, false
}

func (b *Block) sizeProduct(items []notation.Expr, axis func(*notation.Ident) *Axis) (shape.Poly, bool) {
	out := shape.Int(1)
	for _, it := range items {
		x, ok := b.SizeOf(it, axis)
		if !ok {
			return out, false
		}
		out = out.Mul(x)
	}
	return out, true
}
