package irbuild

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// expr builds an expression; nil means that a message was given.
func (e *builder) expr(x notation.Expr) *ten { return e.closed(x, e.any(x)) }

// any is expr that leaves open what follows from where the expression stands.
func (e *builder) any(x notation.Expr) *ten {
	switch x := x.(type) {
	case *notation.Number:
		return literal(x.Value)
	case *notation.Ident:
		return e.ident(x)
	case *notation.Field:
		return e.field(x)
	case *notation.Index:
		return e.index(x)
	case *notation.Call:
		return e.call(x)
	case *notation.Grad:
		return e.grad(x)
	case *notation.Unary:
		if t := e.operand(x.X); t != nil {
			return t.scale(-1)
		}
		return nil
	case *notation.Binary:
		return e.binary(x)
	case *notation.Juxt:
		return e.juxt(x)
	case *notation.Power:
		return e.power(x)
	case *notation.Transpose:
		return e.transpose(x)
	case *notation.Norm:
		if t := e.value(x.X); t != nil {
			return e.norm(t)
		}
		return nil
	case *notation.Abs:
		if t := e.value(x.X); t != nil {
			return e.unary(ir.Abs, t)
		}
		return nil
	case *notation.Inner:
		return e.inner(x, x.X, x.Y)
	case *notation.Reduce:
		return e.reduce(x)
	case *notation.Stack:
		return e.stack(x)
	case *notation.Piecewise:
		return e.piecewise(x)
	case *notation.Case:
		return e.chooseCase(x)
	case *notation.Relation, *notation.And:
		return e.condition(x)
	}
	if s, ok := x.(*notation.Solve); ok {
		e.errorf(diag.NotSupported, s.Left, "an unknown over a union has no equation of its own for each part").Hint("solve for each part on a line of its own")
		return nil
	}
	e.errorf(diag.NotSupported, x, "this cannot stand in an equation")
	return nil
}

// value builds an expression that must be a number or an array of numbers: a
// position and a condition have no sum, product or gradient.
func (e *builder) value(x notation.Expr) *ten { return e.real(e.expr(x), x) }

// operand is value for an expression whose axes another operand may say.
func (e *builder) operand(x notation.Expr) *ten { return e.real(e.any(x), x) }

// real refuses a value whose entries are positions or conditions.
func (e *builder) real(t *ten, x notation.Expr) *ten {
	switch {
	case t == nil || t.elem == ir.Real:
		return t
	case t.elem == ir.Bool:
		e.errorf(diag.NotSupported, x, "%s is a condition, not a number", text(x)).
			Hint("choose numbers by it: { 1 if %s ; 0 otherwise }", text(x))
	default:
		e.errorf(diag.NotSupported, x, "%s holds positions, not numbers", text(x)).
			Hint("a position stands in an index or in a comparison")
	}
	return nil
}

// binary builds a + b, a − b, a · b, a ⊙ b, a / b and a mod b.
func (e *builder) binary(x *notation.Binary) *ten {
	if x.Op == "·" {
		return e.dot(x)
	}
	a, b := e.agree(x.X, x.Y, e.operand(x.X), e.operand(x.Y))
	if a == nil || b == nil {
		return nil
	}
	if a.eye || b.eye || a.open() || b.open() {
		return e.openBinary(x, a, b)
	}
	switch x.Op {
	case "+":
		return e.sum(x, a, b, 1)
	case "−":
		return e.sum(x, a, b, -1)
	case "⊙":
		if !e.same(x, x.X, x.Y, a, b) {
			return nil
		}
		return times(a, b)
	case "/":
		return e.divide(x, a, b)
	case "mod":
		if !e.same(x, x.X, x.Y, a, b) {
			return nil
		}
		return e.scalar2(ir.Mod, a, b)
	}
	e.errorf(diag.NotSupported, x, "%s cannot stand in an equation", x.Op)
	return nil
}

// same checks that two operands have the same axes; a literal number stands
// for the constant array.
func (e *builder) same(x, xa, xb notation.Expr, a, b *ten) bool {
	if a.isLiteral() || b.isLiteral() || sameAxes(a, b) && a.row == b.row {
		return true
	}
	e.errorf(diag.ShapeMismatch, xb, "%s is %s, but %s is %s", text(xb), e.typ(b), text(xa), e.typ(a)).
		Labelf("%s", e.typ(b)).See(xa.Where(), "%s is %s", text(xa), e.typ(a)).
		Hint("both sides need the same axes; equal size is not enough")
	return false
}

// count is a number of things as a message says it.
func count(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func text(x notation.Expr) string { return notation.Print(x, notation.Unicode) }

func sameAxes(a, b *ten) bool {
	if len(a.axes) != len(b.axes) {
		return false
	}
	for i := range a.axes {
		if a.axes[i] != b.axes[i] {
			return false
		}
	}
	return true
}

// sum builds a ± b.
func (e *builder) sum(x notation.Expr, a, b *ten, sign float64) *ten {
	if bin, ok := x.(*notation.Binary); ok && !e.same(x, bin.X, bin.Y, a, b) {
		return nil
	}
	if a.isLiteral() && b.isLiteral() {
		return literal(a.coef + sign*b.coef)
	}
	axes, row := a.axes, a.row
	if a.isLiteral() {
		axes, row = b.axes, b.row
	}
	m := emission{op: ir.Lin, locals: axes, out: len(axes)}
	constant := 0.0
	for i, t := range []*ten{a, b} {
		c := t.coef
		if i == 1 {
			c *= sign
		}
		if len(t.fs) == 0 {
			constant += c
			continue
		}
		if len(t.fs) > 1 || !t.full() {
			u := t.clone()
			u.coef = 1
			t = e.one(u)
		}
		m.coef = append(m.coef, c)
		m.args = append(m.args, operand{t.fs[0], upTo(len(axes))})
	}
	m.coef = append(m.coef, constant)
	out := e.emit(m)
	out.row = row
	return out
}

// times is the entry-by-entry product, or scalar times tensor.
func times(a, b *ten) *ten {
	if len(a.axes) < len(b.axes) {
		a, b = b, a
	}
	u, v := a.clone(), b.clone()
	u.coef *= v.coef
	u.fs = append(u.fs, v.fs...)
	return u
}

// divide builds a / b with b a number or of a's own axes.
func (e *builder) divide(x *notation.Binary, a, b *ten) *ten {
	if b.isLiteral() {
		return a.scale(1 / b.coef)
	}
	if len(b.axes) != 0 && !e.same(x, x.X, x.Y, a, b) {
		return nil
	}
	return e.scalar2(ir.Div, a, e.guarded(b))
}

// scalar2 applies a function of two arguments entry by entry; an argument
// without axes is the same for every entry.
func (e *builder) scalar2(op ir.Op, ts ...*ten) *ten {
	var axes []*ir.Axis
	row := false
	m := emission{op: op, elem: op.Info().Out}
	for i, t := range ts {
		ts[i] = e.one(t)
		if len(t.axes) > len(axes) {
			axes, row = t.axes, t.row
		}
	}
	for _, t := range ts {
		m.args = append(m.args, operand{t.fs[0], upTo(len(t.axes))})
	}
	m.locals, m.out = axes, len(axes)
	out := e.emit(m)
	out.row = row
	return out
}

// unary applies a function entry by entry; functions that are not defined
// everywhere see 1 instead where their branch is not taken.
func (e *builder) unary(op ir.Op, t *ten) *ten {
	switch op {
	case ir.Log, ir.Log1p, ir.Sqrt, ir.Exp, ir.Expm1:
		t = e.guarded(t)
	}
	return e.scalar2(op, t)
}

// guarded replaces an argument by 1 where the branch that is being built is
// not taken, so that an unselected branch never yields NaN, nor its adjoint.
func (e *builder) guarded(t *ten) *ten {
	for _, c := range e.safe {
		yes, no := t, literal(1)
		if !c.when {
			yes, no = no, yes
		}
		t = e.selectTen(c.cond, yes, no)
	}
	return t
}

func (e *builder) selectTen(cond, yes, no *ten) *ten {
	axes := yes.axes
	for _, t := range []*ten{no, cond} {
		if len(t.axes) > len(axes) {
			axes = t.axes
		}
	}
	m := emission{op: ir.Select, locals: axes, out: len(axes)}
	for _, t := range []*ten{e.one(cond), e.one(yes), e.one(no)} {
		m.args = append(m.args, operand{t.fs[0], upTo(len(t.axes))})
	}
	return e.emit(m)
}

// power builds x^n for scalars.
func (e *builder) power(x *notation.Power) *ten {
	n, isNum := e.number(x.Exp)
	if norm, ok := x.X.(*notation.Norm); ok && isNum && n == 2 {
		if t := e.value(norm.X); t != nil {
			return e.square(t)
		}
		return nil
	}
	t := e.value(x.X)
	if t == nil {
		return nil
	}
	if len(t.axes) != 0 {
		e.errorf(diag.NotScalar, x, "a power of %s, which is %s", text(x.X), e.typ(t)).
			Hint("powers are of numbers; write %s ⊙ %s for the entries", text(x.X), text(x.X))
		return nil
	}
	if isNum && n == math.Trunc(n) && n >= 1 && n <= 4 {
		t = e.one(t)
		out := t
		for range int(n) - 1 {
			out = times(out, t)
		}
		return out
	}
	exp := e.value(x.Exp)
	if exp == nil {
		return nil
	}
	if len(exp.axes) != 0 {
		e.errorf(diag.NotScalar, x.Exp, "the exponent is %s", e.typ(exp))
		return nil
	}
	return e.scalar2(ir.Pow, e.guarded(t), exp)
}

// number evaluates a constant, options included.
func (e *builder) number(x notation.Expr) (float64, bool) {
	if id, ok := x.(*notation.Ident); ok && e.local(id.Name.Text) == nil {
		if o := e.blk.Options[id.Name.Text]; o != nil {
			return check.Number(o.Value)
		}
	}
	return check.Number(x)
}

// norm is the root of the sum of squares. At zero, where the root has no slope,
// its adjoint is zero.
func (e *builder) norm(t *ten) *ten {
	sq := e.square(t)
	positive := e.scalar2(ir.Less, literal(0), sq)
	root := e.scalar2(ir.Sqrt, e.selectTen(positive, sq, literal(1)))
	return e.selectTen(positive, root, literal(0))
}

// square is the sum of the squares of all entries.
func (e *builder) square(t *ten) *ten {
	t = e.one(t)
	return e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: t.axes,
		args: append(t.place(upTo(len(t.axes))), t.place(upTo(len(t.axes)))...)})
}

func (e *builder) transpose(x *notation.Transpose) *ten {
	if n, ok := x.X.(*notation.Number); ok && n.Value == 1 {
		return onesRow()
	}
	t := e.any(x.X)
	if t == nil {
		return nil
	}
	switch len(t.axes) {
	case 0:
		return t.clone()
	case 1:
		u := t.clone()
		u.row = !t.row
		return u
	case 2:
		return transposed(t)
	default:
		e.errorf(diag.NotSupported, x, "%s has %d axes; write its transpose with indices", text(x.X), len(t.axes))
		return nil
	}
}

// transposed exchanges the two axes of a matrix.
func transposed(t *ten) *ten {
	u := t.clone()
	u.axes[0], u.axes[1] = u.axes[1], u.axes[0]
	for _, f := range u.fs {
		for i := range f.sub {
			if f.sub[i].slot >= 0 {
				f.sub[i].slot = 1 - f.sub[i].slot
			}
		}
	}
	return u
}
