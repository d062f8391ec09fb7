package emitasm

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// real evaluates an expression as a number.
func (s *scope) real(e plan.Expr) val {
	if plan.ElemOf(e) == ir.Bool {
		return s.b.and(s.expr(e), s.b.number(1))
	}
	return s.expr(e)
}

// truth evaluates an expression as a mask.
func (s *scope) truth(e plan.Expr) val {
	if plan.ElemOf(e) == ir.Bool {
		return s.expr(e)
	}
	return s.b.compare("!=", s.expr(e), s.b.number(0))
}

func (s *scope) expr(e plan.Expr) val {
	switch e := e.(type) {
	case plan.Load:
		return s.load(e.Access)
	case plan.Ref:
		return s.ref(e.To)
	case plan.Num:
		return s.b.number(float32(e.V))
	case plan.Prod:
		return s.product(e)
	case plan.Lin:
		return s.sum(e)
	case plan.Fma:
		return s.b.fma(e.Neg, s.real(e.A), s.real(e.B), s.real(e.C))
	case plan.Call:
		return s.call(e)
	}
	panic(fmt.Sprintf("emitasm: BUG: no instructions for %T", e))
}

// product multiplies from left to right, the coefficient first; one of −1
// turns the sign of the result.
func (s *scope) product(e plan.Prod) val {
	v, args := none, e.Args
	if e.Coef != 1 && e.Coef != -1 || len(args) == 0 {
		v = s.b.number(float32(e.Coef))
	} else {
		v, args = s.real(args[0]), args[1:]
	}
	for _, a := range args {
		v = s.b.mul(v, s.real(a))
	}
	if e.Coef == -1 && len(e.Args) > 0 {
		v = s.b.neg(v)
	}
	return v
}

// sum adds two values, or takes one from the other: all that is left of sums
// once products are fused.
func (s *scope) sum(e plan.Lin) val {
	if len(e.Args) != 2 || e.Const != 0 || e.Coef[0] != 1 || math.Abs(e.Coef[1]) != 1 {
		panic("emitasm: BUG: a sum that is not fused: " + plan.ExprString(e))
	}
	x, y := s.real(e.Args[0]), s.real(e.Args[1])
	if e.Coef[1] < 0 {
		return s.b.sub(x, y)
	}
	return s.b.add(x, y)
}

// functions are the primitives of one number that have steps.
var functions = map[ir.Op]func(*body, val) val{
	ir.Exp:      func(b *body, x val) val { return exp[val](b, x) },
	ir.Log:      func(b *body, x val) val { return log[val](b, x) },
	ir.Log1p:    func(b *body, x val) val { return log1p[val](b, x) },
	ir.Sigmoid:  func(b *body, x val) val { return sigmoid[val](b, x) },
	ir.Softplus: func(b *body, x val) val { return softplus[val](b, x) },
	ir.Tanh:     func(b *body, x val) val { return tanh[val](b, x) },
	ir.Erf:      func(b *body, x val) val { return erf[val](b, x) },
	ir.Sign:     func(b *body, x val) val { return sign[val](b, x) },
	ir.Sqrt:     (*body).sqrt,
	ir.Abs:      (*body).abs,
	ir.Floor:    (*body).floor,
}

var comparisons = map[ir.Op]string{ir.Less: "<", ir.LessEq: "<=", ir.Equal: "=="}

func (s *scope) call(e plan.Call) val {
	if f := functions[e.Op]; f != nil {
		return f(s.b, s.real(e.Args[0]))
	}
	switch e.Op {
	case ir.Div:
		return s.b.div(s.real(e.Args[0]), s.real(e.Args[1]))
	case ir.Max2:
		return larger[val](s.b, s.real(e.Args[0]), s.real(e.Args[1]))
	case ir.Min2:
		return smaller[val](s.b, s.real(e.Args[0]), s.real(e.Args[1]))
	case ir.Less, ir.LessEq, ir.Equal:
		if plan.ElemOf(e.Args[0]) == ir.Bool && plan.ElemOf(e.Args[1]) == ir.Bool && e.Op == ir.Equal {
			return s.b.not(s.b.xor(s.expr(e.Args[0]), s.expr(e.Args[1])))
		}
		return s.b.compare(comparisons[e.Op], s.real(e.Args[0]), s.real(e.Args[1]))
	case ir.And:
		return s.b.and(s.truth(e.Args[0]), s.truth(e.Args[1]))
	case ir.Or:
		return s.b.or(s.truth(e.Args[0]), s.truth(e.Args[1]))
	case ir.Not:
		return s.b.not(s.truth(e.Args[0]))
	case ir.Select:
		elem := plan.ElemOf(e)
		return s.b.choose(s.truth(e.Args[0]), s.typed(e.Args[1], elem), s.typed(e.Args[2], elem))
	case ir.ToReal:
		return s.real(e.Args[0])
	}
	panic(fmt.Sprintf("emitasm: BUG: no instructions for %v", e.Op))
}

// load reads an entry at the present groups, once.
func (s *scope) load(a plan.Access) val {
	key := s.key(a)
	if v, ok := s.loads[key]; ok {
		return v
	}
	d := s.f.accessDepends(a, s.loop)
	op, lanes := "LOAD", s.f.t.width
	switch {
	case a.Buf.Elem == ir.Bool:
		op = "LOADBYTE"
	case s.f.r.IsPrivate(a.Buf):
	case s.f.r.Across == plan.Columns && s.loop != nil && !d.column, s.f.r.Across == plan.Rows && !d.row, s.loop == nil && !d.row:
		op = "SPREAD"
	case s.loop == nil && s.f.r.Across == plan.Columns:
		lanes = s.f.rows
	}
	v := s.b.load(op, s.address(a, lanes))
	s.loads[key] = v
	return v
}

// address is where an access is at the present groups.
func (s *scope) address(a plan.Access, lanes int) *address {
	f, d := s.f, s.f.accessDepends(a, s.loop)
	at := &address{stream: f.stream(a), lanes: lanes}
	rows := f.r.Across == plan.Rows
	width := 4 * f.t.width
	switch {
	case f.r.IsPrivate(a.Buf) && rows:
		at.disp, at.index = 4*f.rows*s.column+width*s.row, f.offset(at.stream, s.loop)
	case f.r.IsPrivate(a.Buf):
		halves := 16 / f.t.width
		at.disp, at.index = 64*(f.rows*(s.column/halves)+s.row)+width*(s.column%halves), f.offset(at.stream, s.loop)
	case rows && d.column:
		at.disp, at.index = 4*s.column, byEntry
	case rows && d.row:
		at.disp = width * s.row
		if s.row == f.vectors()-1 {
			at.mask = "row"
		}
	case d.column:
		at.disp, at.index = width*s.column, byEntry
		if s.masked {
			at.mask, at.group = "column", s.column
		}
	case d.row && s.loop != nil:
		at.disp = 4 * s.row
	}
	if at.index == byEntry && f.moves(at.stream, s.loop) {
		at.index = ""
	}
	return at
}
