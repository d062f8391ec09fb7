package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// iterate builds `iterate X from e for n : X ← e'`: n rounds written out. With
// names are built anew in each round, because they mention X. `orient rows ≤
// cols` says that the step holds for the transpose too; a program for tall
// matrices goes from the transpose of e to that of X. In `for j∈n` the index j is the
// number of the round, from zero, and reads the axis n.
func (e *builder) iterate(it *notation.Iterate) *ten {
	n, ok := e.number(it.Count)
	if !ok || n < 0 || n > check.MaxRounds || n != float64(int(n)) {
		d := e.errorf(diag.NotSupported, it.Count, "the number of rounds of an iteration is an integer between 0 and %d", check.MaxRounds)
		if at := e.setAt(it.Count); at != it.Count {
			d.Labelf("%s", text(at)).See(at.Where(), "set here")
		}
		return nil
	}
	over, ok := e.turns(it)
	if !ok {
		return nil
	}
	x := e.oriented(it, e.any(it.From))
	for r := range int(n) {
		if x == nil {
			return nil
		}
		if !x.open() {
			x = e.one(x)
		}
		e.push(&scope{})
		e.bind(it.Name.Text, &binding{val: x})
		if over != nil {
			e.bind(it.Index.Text, &binding{turn: &turn{over, r}})
		}
		var next *ten
		if e.with(it.With) {
			next = e.any(it.Step)
		}
		e.pop()
		if x = e.fill(it.From, x, nextAxes(next)); x == nil {
			return nil
		}
		if next != nil && !sameAxes(next, x) {
			e.errorf(diag.WrongResult, it.Step, "a round makes %s, but %s is %s", e.typ(next), it.Name.Text, e.typ(x)).
				See(it.Name.Span, "declared here")
			return nil
		}
		x = next
	}
	return e.oriented(it, x)
}

// A turn is the index of one round of an iteration.
type turn struct {
	axis  *ir.Axis
	round int
}

// turns is the axis that the index of an iteration runs over; nil stands for one
// without an index.
func (e *builder) turns(it *notation.Iterate) (*ir.Axis, bool) {
	if it.Index == nil {
		return nil, true
	}
	if id, ok := it.Count.(*notation.Ident); ok {
		if a := e.blk.AxisOf(id.Name.Text); a != nil {
			return e.axis(a), true
		}
	}
	e.errorf(diag.BadIndex, it.Count, "%s runs over an axis, and %s is none", it.Index.Text, text(it.Count)).
		Hint("declare it as an option that is at least one: option n ≥ 1 = 3")
	return nil, false
}

func nextAxes(t *ten) []*ir.Axis {
	if t == nil {
		return nil
	}
	return t.axes
}

// oriented is x, or its transpose in a program for tall matrices.
func (e *builder) oriented(it *notation.Iterate, x *ten) *ten {
	if !e.tall || !it.Orient || x == nil || len(x.axes) != 2 {
		return x
	}
	return transposed(x)
}
