package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/units"
)

// Sizes and the ranges of numbers. A size is a polynomial over axes (package shape). A number
// that is used as a size, a window, a chunk or a number of rounds is an integer that a loop
// can count to; any other number is one that float32 holds, since kernels compute in it.

// AxisOf returns the axis of a name. An option that is a count is an axis too: of its value
// if a case reads it, otherwise of a free size whose default is the value.
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
	a := &Axis{Name: name, Size: shape.Sym(name), Free: true, Default: int(n), fromOption: true}
	if o.Static {
		a.Size, a.Free = shape.Int(int64(n)), false
	}
	b.Axes[name] = a
	b.AxisSeq = append(b.AxisSeq, a)
	return a
}

// AxisFor returns the axis of a name in a signature on the page of a unit, or nil if the
// signature introduces the name. The scope of a knob has the axes of its own page and no
// others, and the options of a knob are in the scope of its page only.
func (b *Block) AxisFor(u *notation.Unit, name string) *Axis {
	o, a := b.Options[name], b.Axes[name]
	if (a == nil || a.fromOption) && o != nil && o.Unit != u && units.IsKnob(o.Unit) {
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

// SizeOf evaluates a size expression: sums, products, quotients by numbers and powers of
// axes.
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
		out := shape.Int(1)
		for _, it := range e.Items {
			x, ok := b.SizeOf(it, axis)
			if !ok {
				return out, false
			}
			out = out.Mul(x)
		}
		return out, true
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

// AddFreeAxis adds a free axis that the signature of an operation introduces.
func (b *Block) AddFreeAxis(name string) *Axis {
	a := &Axis{Name: name, Size: shape.Sym(name), Free: true}
	b.Axes[name] = a
	b.AxisSeq = append(b.AxisSeq, a)
	return a
}

const (
	// MaxSize is the largest size of an axis: an index has 32 bits.
	MaxSize = math.MaxInt32
	// MaxRounds is the largest number of rounds of an iteration, which is unrolled.
	MaxRounds = 64
	// MaxChunk is the largest number of tokens of a chunk. A strategy has arrays over pairs
	// of tokens of a chunk, and a test vector several dozens of them: some gigabytes at
	// this length.
	MaxChunk = 512
	// maxPower is the largest power of a size.
	maxPower = 16
)

// SizeHint is the hint for an expression that is not a size.
func SizeHint(e notation.Expr) string {
	if id, ok := e.(*notation.Ident); ok {
		return "declare it: dims " + id.Name.Text
	}
	if notation.Mentions(e, func(*notation.Ident) bool { return true }) {
		return fmt.Sprintf("a size is made of names that dims declares, integers up to %d, sums, products, quotients by an integer and powers up to %d", MaxSize, maxPower)
	}
	return fmt.Sprintf("a size is an integer between 1 and %d", MaxSize)
}

// checkCounts refuses an option that a statement uses as a size or a number of rounds and
// that is not an integer in range.
func (r *resolver) checkCounts(st notation.Stmt) {
	size := func(e any) {
		for id := range notation.Idents(e) {
			r.checkCount(id, "a size", MaxSize)
		}
	}
	switch s := st.(type) {
	case *notation.Dims:
		for _, it := range s.Items {
			if it.Size != nil {
				size(it.Size)
			}
		}
	case *notation.Iterate:
		if s.Index == nil {
			if id, ok := s.Count.(*notation.Ident); ok {
				r.checkCount(id, "a number of rounds", MaxRounds)
			}
		}
	}
	notation.Inspect(st, func(n any) bool {
		switch n := n.(type) {
		case *notation.Type:
			for _, s := range n.Shape {
				size(s)
			}
			if n.Kind == notation.IntType {
				r.checkEnds(n)
			}
		case *notation.Call:
			if n.Fun.Text == "window" && len(n.Args) == 2 {
				size(n.Args[1])
			}
		case *notation.Binder:
			if id, ok := n.Range.(*notation.Ident); ok {
				size(id)
			}
		}
		return true
	})
}

// checkEnds refuses a range of integers with an end that is not a possible integer.
func (r *resolver) checkEnds(t *notation.Type) {
	for _, e := range []notation.Expr{t.Lo, t.Hi} {
		if x, ok := notation.Constant(e); ok && !(x == math.Trunc(x) && math.Abs(x) <= MaxSize) {
			r.ds.Errorf(diag.BadType, e.Where(), "%s is not an end of a range of integers", notation.Print(e, notation.Unicode)).
				Hint("it is an integer of at most %d, or a size", MaxSize)
		}
	}
}

// checkCount refuses an option that is used as a count and is not one.
func (r *resolver) checkCount(id *notation.Ident, what string, most int) {
	o := r.b.Options[id.Name.Text]
	if o == nil || slices.Contains(r.badCounts, o) {
		return
	}
	x, known := notation.Constant(o.Value)
	if !known || x == math.Trunc(x) && 0 <= x && x <= float64(most) {
		return
	}
	r.badCounts = append(r.badCounts, o)
	r.ds.Errorf(diag.BadOption, o.Value.Where(), "option %s is used as %s, and %s is not an integer between 0 and %d", o.PageName(), what, notation.Print(o.Value, notation.Unicode), most).
		See(id.Span, "used here")
}

// checkFloat32 refuses the value of an option that is NaN or beyond float32. ∞ is allowed.
func (r *resolver) checkFloat32(name string, v notation.Expr) bool {
	x, known := notation.Constant(v)
	switch {
	case !known || math.IsInf(x, 0) && isInfinity(v) || math.Abs(x) <= math.MaxFloat32:
		return true
	case math.IsNaN(x):
		r.ds.Errorf(diag.BadOption, v.Where(), "option %s is not a number: %s is undefined", name, notation.Print(v, notation.Unicode))
	default:
		r.ds.Errorf(diag.BadOption, v.Where(), "option %s is beyond float32: %s is larger than 3.4e38", name, notation.Print(v, notation.Unicode)).
			Hint("kernels compute in float32; write ∞ where there is no bound")
	}
	return false
}

// isInfinity reports whether an expression is ∞ or −∞ itself.
func isInfinity(e notation.Expr) bool {
	if u, ok := e.(*notation.Unary); ok {
		return isInfinity(u.X)
	}
	n, ok := e.(*notation.Number)
	return ok && math.IsInf(n.Value, 0)
}
