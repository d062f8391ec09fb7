package expr

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Right-hand sides of the equations of a block, and the time step at which a name is read.

// Equation builds the right-hand side of an equation; a gate is clamped.
func (e *Builder) Equation(eq *check.Equation) *tensor.Tensor {
	e.Eq, e.Span = eq.ID, eq.Span()
	if eq.Gate == nil {
		return e.column(e.real(e.rightSide(eq), eq.Value()), eq.Value())
	}
	t := e.Value(eq.Gate.Init)
	if t == nil || eq.Gate.Within == nil {
		return t
	}
	w := eq.Gate.Within
	if !e.boundsOrdered(eq, w) {
		return nil
	}
	for _, end := range []struct {
		at    notation.Expr
		clamp ir.Op
		sign  float64
	}{{w.Lo, ir.Max2, -1}, {w.Hi, ir.Min2, 1}} {
		if x, ok := e.constantValue(end.at); end.at == nil || ok && x*end.sign > 1e308 { // no bound
			continue
		}
		bound := e.Value(end.at)
		if bound == nil {
			return nil
		}
		t = e.Entrywise(end.clamp, t, bound)
	}
	return t
}

// boundsOrdered refuses bounds of a gate whose lower one is above the upper: the clamp
// would always be the upper bound.
func (e *Builder) boundsOrdered(eq *check.Equation, w *notation.Type) bool {
	lo, okLo := e.constantValue(w.Lo)
	hi, okHi := e.constantValue(w.Hi)
	if !okLo || !okHi || lo <= hi {
		return true
	}
	from, to := e.optionValue(w.Lo), e.optionValue(w.Hi)
	d := e.Errorf(diag.BadOption, from, "%s is at least %s and at most %s, and no number is both", eq.Name, Text(from), Text(to)).
		See(w.Span, "the bounds of the gate")
	if to.Where() != w.Hi.Where() {
		d.See(to.Where(), "the upper bound")
	}
	return false
}

// optionValue is the value of an expression that may be an option, which is where a
// formula sets it, and otherwise the expression.
func (e *Builder) optionValue(x notation.Expr) notation.Expr {
	if id, ok := x.(*notation.Ident); ok {
		if o := e.Block.Options[id.Name.Text]; o != nil && o.Value != nil {
			return o.Value
		}
	}
	return x
}

// rightSide builds the right-hand side of an equation that is not a gate.
func (e *Builder) rightSide(eq *check.Equation) *tensor.Tensor {
	var t *tensor.Tensor
	if eq.Iter != nil {
		t = e.iterate(eq.Iter)
	} else {
		t = e.Define(eq.Def)
	}
	if t == nil || !t.HasOpenAxes() {
		return t
	}
	if sym := e.Block.Symbols[eq.Name]; sym != nil && sym.Kind == check.State {
		axes, _, _ := e.Declared(sym)
		t = e.Fill(eq.Value(), t, axes)
	}
	return e.Closed(eq.Value(), t)
}

// column refuses a row as the value of a name: a name is read as a vector, so
// it would be a row where it is made and a column where it is read.
func (e *Builder) column(t *tensor.Tensor, x notation.Expr) *tensor.Tensor {
	if t == nil || !t.Row {
		return t
	}
	e.Errorf(diag.WrongResult, x, "%s is a row, and a row is not a value of its own", Text(x)).
		Labelf("%s", e.Type(t)).Hint("write the vector; a row occurs in a product")
	return nil
}

// Timeless refuses a time step of a name that does not change over time.
func (e *Builder) Timeless(sym *check.Symbol, when Time, span notation.Span, t *tensor.Tensor) *tensor.Tensor {
	if when != (Time{}) {
		e.Diags.Errorf(diag.TimeSuffix, span, "%s does not change over time", sym.Name).Hint("write it without a suffix")
		return nil
	}
	return t
}

// ReadTime reads a time suffix: _t, _{t−1}, _0, or a bound time step.
func (e *Builder) ReadTime(x *notation.Ident, suffix string) (Time, bool) {
	t := e.Block.Time
	if notation.IsPrevious(x.Time, t) {
		return Time{Before: true}, true
	}
	if x.Time != nil {
		if id, ok := x.Time.(*notation.Ident); ok {
			suffix = id.Name.Text
		} else if n, ok := x.Time.(*notation.Number); ok && n.Value == 0 {
			return Time{Initial: true}, true
		} else if ok && n.Value == 1 && e.Block.Unit.Kind == notation.UpdateUnit {
			return Time{First: true}, true
		} else {
			e.Errorf(diag.TimeSuffix, x.Time, "%s is not a time step", Text(x.Time)).Hint("a name is read at %s, at %s−1, at 0 or at an index bound to a window", t, t)
			return Time{}, false
		}
	}
	switch suffix {
	case "":
		return Time{}, true
	case t:
		return Time{Now: true}, true
	case "0":
		return Time{Initial: true}, true
	}
	if b := e.Local(suffix); b != nil && (b.Time != nil || b.Union != nil) {
		return Time{At: b}, true
	}
	d := e.Errorf(diag.TimeSuffix, x, "_%s is not a time step", suffix)
	if t == "" {
		d.Hint("time is an axis here: write an index, such as X[t]")
	} else {
		d.Hint("bind it: Σ_{%s∈window(%s, w)}", suffix, t)
	}
	return Time{}, false
}

// Rebuild builds an equation again for another time step. It does not see the reader's
// local names.
func (e *Builder) Rebuild(eq *check.Equation) *tensor.Tensor {
	defer e.SaveOrigin()()
	return e.Isolated(func() *tensor.Tensor { return e.Equation(eq) })
}

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
