package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Arrays whose axes follow from where they stand: the identity I, and 1ᵀ, a row of
// ones. An axis that is not known yet is nil. An operand beside such an array, a
// matrix that it is multiplied with, or the declared type of what it is assigned to
// says what the axis is; whoever needs the entries of an array without axes refuses it.
//
// A diagonal matrix is an instruction over one loop that writes at [i,i], so it has
// no more entries to compute than its vector, and autodiff reads it as that vector.

// identity is I, its axes open.
func identity() *ten {
	return &ten{axes: []*ir.Axis{nil, nil}, eye: true, elem: ir.Real, coef: 1}
}

// isIdentity reports whether a name that nothing declares is I.
func isIdentity(x *notation.Ident) bool { return x.Name.Text == "I" && x.Time == nil && !x.Bar }

// onesRow is 1ᵀ, its axis open.
func onesRow() *ten { return &ten{axes: []*ir.Axis{nil}, row: true, elem: ir.Real, coef: 1} }

// open reports whether an axis is not known.
func (t *ten) open() bool { return slices.Contains(t.axes, nil) }

// scalars are the numbers that an open array is multiplied by.
func (t *ten) scalars() *ten { return &ten{elem: ir.Real, coef: t.coef, fs: t.fs} }

// fill gives the open axes of t those of the same places in axes, and an identity both
// where one is known; t stays open where these are open too, and nil stands for a message.
func (e *builder) fill(x notation.Expr, t *ten, axes []*ir.Axis) *ten {
	if t == nil || !t.open() || len(t.axes) != len(axes) {
		return t
	}
	u := t.clone()
	for i, a := range axes {
		if u.axes[i] == nil {
			u.axes[i] = a
		}
	}
	if !t.eye {
		return u
	}
	for i, a := range u.axes {
		if a == nil {
			u.axes[i] = u.axes[1-i]
		}
	}
	if u.open() {
		return u
	}
	if u.axes[0] != u.axes[1] {
		e.errorf(diag.ShapeMismatch, x, "the identity has the same axis twice, and here it would be %s", e.typ(&ten{axes: u.axes, elem: ir.Real})).
			Hint("a matrix from one axis to another is a declared one")
		return nil
	}
	u.axes, u.eye = u.axes[:1], false
	return e.diagonal(u)
}

// closed refuses an array whose axes are not known where they must be.
func (e *builder) closed(x notation.Expr, t *ten) *ten {
	if t == nil || !t.open() {
		return t
	}
	d := e.errorf(diag.OpenAxes, x, "nothing says which axes %s has here", text(x))
	if t.eye {
		d.Hint("I takes its axes from a matrix that is added to it or multiplied with it, or from the type of the state that it is assigned to")
	} else {
		d.Hint("1ᵀ takes its axis from what it is multiplied with: a 1ᵀ ⊙ S, 1ᵀ A")
	}
	return nil
}

// agree gives the open axes of two operands those of the other one.
func (e *builder) agree(xa, xb notation.Expr, a, b *ten) (*ten, *ten) {
	if a == nil || b == nil {
		return a, b
	}
	u := e.fill(xa, a, b.axes)
	if u == nil {
		return nil, nil
	}
	return u, e.fill(xb, b, u.axes)
}

// openBinary builds a sum, an entry-by-entry product or a quotient whose axes are
// still open: sums of identities are identities, and a number beside an open array
// is one of its factors.
func (e *builder) openBinary(x *notation.Binary, a, b *ten) *ten {
	plain := func(t *ten) bool { return len(t.axes) == 0 }
	switch {
	case (x.Op == "+" || x.Op == "−") && a.eye && b.eye:
		sign := 1.0
		if x.Op == "−" {
			sign = -1
		}
		return times(identity(), e.sum(nil, a.scalars(), b.scalars(), sign))
	case x.Op == "⊙" && a.eye && b.eye:
		return times(a, b.scalars())
	case x.Op == "⊙" && (plain(a) || plain(b) || sameAxes(a, b) && !a.eye && !b.eye):
		return times(a, b)
	case x.Op == "/" && plain(b) && b.isLiteral():
		return a.scale(1 / b.coef)
	case x.Op == "/" && plain(b):
		return times(a, e.scalar2(ir.Div, literal(1), e.guarded(b)))
	}
	if e.closed(x.X, a) != nil {
		e.closed(x.Y, b)
	}
	return nil
}

// diagonal is the matrix with the entries of t, a value over one axis, on its
// diagonal.
func (e *builder) diagonal(t *ten) *ten {
	out := e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: 1, args: t.place([]int{0})})
	f := &out.fs[0]
	in := f.val.Def
	f.val.Axes = append(slices.Clip(f.val.Axes), t.axes[0])
	in.To = append(slices.Clip(in.To), in.To[len(in.To)-1])
	f.sub = append(f.sub, vsub{slot: 1})
	out.axes = []*ir.Axis{t.axes[0], t.axes[0]}
	return out
}

// diag builds diag(a).
func (e *builder) diag(x *notation.Call) *ten {
	ts := e.values(x)
	if ts == nil || !e.arity(x, len(ts), 1) {
		return nil
	}
	t := ts[0]
	if len(t.axes) == 1 && !t.row {
		return e.diagonal(t)
	}
	d := e.errorf(diag.NotAProduct, x.Args[0], "diag takes a vector, and %s is %s", text(x.Args[0]), e.typ(t)).Labelf("%s", e.typ(t))
	switch {
	case len(t.axes) == 0:
		d.Hint("write %s I", text(x.Args[0]))
	case len(t.axes) == 2:
		d.Hint("the diagonal of a matrix is read entry by entry: A[i,i]")
	}
	return nil
}
