package tensor

import "github.com/nl-hecate/hecate/gen/ir"

// Instructions that work entry by entry, and sums over variables.

// Add is a + sign·b of two values of one type, or of a value and a number.
func (e *Emitter) Add(a, b *Tensor, sign float64) *Tensor {
	if a.IsNumber() && b.IsNumber() {
		return Number(a.Coef + sign*b.Coef)
	}
	axes, row := a.Axes, a.Row
	if a.IsNumber() {
		axes, row = b.Axes, b.Row
	}
	m := Instr{Op: ir.Lin, Locals: axes, Out: len(axes)}
	constant := 0.0
	for i, t := range []*Tensor{a, b} {
		c := t.Coef
		if i == 1 {
			c *= sign
		}
		if len(t.Factors) == 0 {
			constant += c
			continue
		}
		if len(t.Factors) > 1 || !t.readsAllAxes() {
			u := t.Clone()
			u.Coef = 1
			t = e.Materialize(u)
		}
		m.Coef = append(m.Coef, c)
		m.Args = append(m.Args, t.Operands()...)
	}
	m.Coef = append(m.Coef, constant)
	out := e.Emit(m)
	out.Row = row
	return out
}

// Entrywise applies a scalar operation entry by entry; an argument without axes
// is the same for every entry.
func (e *Emitter) Entrywise(op ir.Op, ts ...*Tensor) *Tensor {
	var axes []*ir.Axis
	row := false
	m := Instr{Op: op, elem: op.Info().Out}
	for i, t := range ts {
		ts[i] = e.Materialize(t)
		if len(t.Axes) > len(axes) {
			axes, row = t.Axes, t.Row
		}
	}
	for _, t := range ts {
		m.Args = append(m.Args, t.Operands()...)
	}
	m.Locals, m.Out = axes, len(axes)
	out := e.Emit(m)
	out.Row = row
	return out
}

// Select is yes where cond holds and no elsewhere, entry by entry.
func (e *Emitter) Select(cond, yes, no *Tensor) *Tensor {
	axes := yes.Axes
	for _, t := range []*Tensor{no, cond} {
		if len(t.Axes) > len(axes) {
			axes = t.Axes
		}
	}
	m := Instr{Op: ir.Select, Locals: axes, Out: len(axes)}
	for _, t := range []*Tensor{cond, yes, no} {
		m.Args = append(m.Args, e.Materialize(t).Operands()...)
	}
	return e.Emit(m)
}

// SumSquares is the sum of the squares of all entries.
func (e *Emitter) SumSquares(t *Tensor) *Tensor {
	t = e.Materialize(t)
	return e.Emit(Instr{Op: ir.Prod, Coef: []float64{1}, Locals: t.Axes, Args: append(t.Operands(), t.Operands()...)})
}

// Norm is the root of the sum of squares. At zero, where the root has no slope,
// its adjoint is zero.
func (e *Emitter) Norm(t *Tensor) *Tensor {
	sq := e.SumSquares(t)
	positive := e.Entrywise(ir.Less, Number(0), sq)
	root := e.Entrywise(ir.Sqrt, e.Select(positive, sq, Number(1)))
	return e.Select(positive, root, Number(0))
}

// SumOver adds the entries of t over the variables.
func (e *Emitter) SumOver(t *Tensor, vars []*LoopVar) *Tensor {
	m := Product(t)
	m.Sum = vars
	out := e.Emit(m)
	out.Row = t.Row
	return out
}

// Where is t where all guards are ≥ 0, and zero elsewhere.
func (e *Emitter) Where(t *Tensor, guards ...Affine) *Tensor {
	m := Product(t)
	m.Guards = guards
	return e.Emit(m)
}

// Size is the size of an axis as a number.
func (e *Emitter) Size(a *ir.Axis) *Tensor {
	if n, ok := a.Size.Const(); ok {
		return Number(float64(n))
	}
	out := e.Emit(Instr{Op: ir.SizeOf})
	out.Factors[0].Val.Def.Poly = a.Size
	return out
}

// Position is the value of an index as a number.
func (e *Emitter) Position(a Affine) *Tensor {
	v := a.Var()
	if v == nil {
		return nil
	}
	out := e.Emit(Instr{Op: ir.Iota, Keep: []*LoopVar{v}})
	out.Factors[0].Val.Def.Over = []int{0}
	return out
}

// Count is the value of an index plus an entry of an integer tensor, as a number.
func (e *Emitter) Count(v *LoopVar, from Factor) *Tensor {
	return e.Emit(Instr{Op: ir.Iota, Over: []*LoopVar{v}, Args: []Operand{{factor: from}}})
}

// Mask is body where all conditions hold, and zero elsewhere.
func (e *Emitter) Mask(body *Tensor, conds []*Tensor) *Tensor {
	for _, c := range conds {
		body = e.Select(c, body, Number(0))
	}
	return body
}
