package expr

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Iterations with a fixed number of rounds, unrolled.

// iterate builds `iterate X from e for n : X ← e'`: n rounds written out. With
// names are built again in each round, because they mention X. `orient rows ≤
// cols` says that the step holds for the transpose too; a program for tall
// matrices goes from the transpose of e to that of X. In `for j∈n` the index j is the
// number of the round, from zero, and reads the axis n.
func (e *Builder) iterate(it *notation.Iterate) *tensor.Tensor {
	n, ok := e.constantValue(it.Count)
	if !ok || n < 0 || n > check.MaxRounds || n != float64(int(n)) {
		d := e.Errorf(diag.NotSupported, it.Count, "the number of rounds of an iteration is an integer between 0 and %d", check.MaxRounds)
		if at := e.optionValue(it.Count); at != it.Count {
			d.Labelf("%s", Text(at)).See(at.Where(), "set here")
		}
		return nil
	}
	over, ok := e.roundAxis(it)
	if !ok {
		return nil
	}
	x := e.oriented(it, e.OpenExpr(it.From))
	for r := range int(n) {
		if x == nil {
			return nil
		}
		if !x.HasOpenAxes() {
			x = e.Materialize(x)
		}
		e.Push(&Scope{})
		e.Bind(it.Name.Text, &Binding{Value: x})
		if over != nil {
			e.Bind(it.Index.Text, &Binding{Round: &round{over, r}})
		}
		var next *tensor.Tensor
		if e.With(it.With) {
			next = e.OpenExpr(it.Step)
		}
		e.Pop()
		if next != nil {
			if x = e.Fill(it.From, x, next.Axes); x == nil {
				return nil
			}
		}
		if next != nil && !tensor.SameAxes(next, x) {
			e.Errorf(diag.WrongResult, it.Step, "a round makes %s, but %s is %s", e.Type(next), it.Name.Text, e.Type(x)).
				See(it.Name.Span, "declared here")
			return nil
		}
		x = next
	}
	return e.oriented(it, x)
}

// roundAxis is the axis of the index of an iteration, or nil without an index.
func (e *Builder) roundAxis(it *notation.Iterate) (*ir.Axis, bool) {
	if it.Index == nil {
		return nil, true
	}
	if id, ok := it.Count.(*notation.Ident); ok {
		if a := e.Block.AxisOf(id.Name.Text); a != nil {
			return e.Axis(a), true
		}
	}
	e.Errorf(diag.BadIndex, it.Count, "%s runs over an axis, and %s is not one", it.Index.Text, Text(it.Count)).
		Hint("declare it as an option that is at least one: option n ≥ 1 = 3")
	return nil, false
}

// oriented is x, or its transpose in a program for tall matrices.
func (e *Builder) oriented(it *notation.Iterate, x *tensor.Tensor) *tensor.Tensor {
	if !e.Tall || !it.Orient || x == nil || len(x.Axes) != 2 {
		return x
	}
	return tensor.Transposed(x)
}
