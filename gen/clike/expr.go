package clike

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// As prints an expression as a value of an element type that nothing binds to.
func (p *Printer) As(e ir.Elem, x plan.Expr) string {
	switch e {
	case ir.Real:
		return p.Top(x)
	case ir.Bool:
		return p.Truth(x)
	}
	return p.Expr(x)
}

// Top prints an expression as a number that nothing binds to.
func (p *Printer) Top(x plan.Expr) string {
	switch x := x.(type) {
	case plan.Lin:
		return p.lin(x)
	case plan.Prod:
		return p.product(x)
	case plan.Call:
		if x.Op == ir.Div {
			return p.quotient(x)
		}
	}
	return p.Real(x)
}

// Real prints an expression as a number; it binds tighter than a sum.
func (p *Printer) Real(x plan.Expr) string {
	switch e := plan.ElemOf(x); {
	case e == ir.Real:
		return p.Expr(x)
	case p.ToReal != nil:
		return p.ToReal(e, p.Expr(x))
	case e == ir.Bool:
		return fmt.Sprintf("(%s ? %s : %s)", p.Expr(x), p.Number(1), p.Number(0))
	}
	return "(" + p.Types[ir.Real] + ")" + p.Expr(x)
}

// Truth prints an expression as a truth value.
func (p *Printer) Truth(x plan.Expr) string {
	if plan.ElemOf(x) == ir.Bool {
		return p.Expr(x)
	}
	return "(" + p.Expr(x) + " != 0)"
}

// Expr prints an expression; it binds tighter than a sum.
func (p *Printer) Expr(x plan.Expr) string {
	if p.Special != nil {
		if s, ok := p.Special(x); ok {
			return s
		}
	}
	switch x := x.(type) {
	case plan.Load:
		if g := x.Gathered(); len(g) > 0 {
			return fmt.Sprintf("(%s ? %s : %s)", p.InRange(g), p.Entry(x.Access), p.Zero(x.Buf.Elem))
		}
		return p.Entry(x.Access)
	case plan.Ref:
		return p.Local(x.To)
	case plan.Num:
		return p.Number(x.V)
	case plan.IndexExpr:
		s, simple := p.Index(x.Index)
		if p.ToReal != nil {
			return p.ToReal(ir.Int, s)
		} else if !simple || strings.Contains(s, " ") { // a cast binds tighter than a product
			s = "(" + s + ")"
		}
		return "(" + p.Types[ir.Real] + ")" + s
	case plan.Prod:
		if s := p.product(x); strings.HasPrefix(s, "-") {
			return "(" + s + ")"
		} else {
			return s
		}
	case plan.Lin:
		return "(" + p.lin(x) + ")"
	case plan.Call:
		return p.call(x)
	}
	panic(fmt.Sprintf("clike: BUG: no text for %T", x))
}

// Zero prints the zero of an element type.
func (p *Printer) Zero(e ir.Elem) string {
	switch e {
	case ir.Bool:
		return "false"
	case ir.Int:
		return "0"
	}
	return p.Number(0)
}

// times prints a product, rounded.
func (p *Printer) times(a, b string) string {
	if p.Round != nil {
		return p.Round(a + " * " + b)
	}
	return a + " * " + b
}

// factor prints an expression as the right factor of a product: one that is
// itself a product was rounded before.
func (p *Printer) factor(x plan.Expr) string {
	s := p.Real(x)
	if q, ok := x.(plan.Prod); ok && p.Round == nil && q.Coef != -1 && (len(q.Args) > 1 || q.Coef != 1) {
		return "(" + s + ")"
	}
	return s
}

// product prints x * y * z, multiplied from left to right.
func (p *Printer) product(x plan.Prod) string {
	if x.Coef == -1 && len(x.Args) > 0 {
		return "-" + p.product(plan.Prod{Coef: 1, Args: x.Args})
	}
	out := ""
	if x.Coef != 1 || len(x.Args) == 0 {
		out = p.Literal(x.Coef)
	}
	for i, a := range x.Args {
		switch {
		case out == "":
			out = p.Real(a)
		case i == 0: // where the order of roundings matters, Round has the brackets
			out = p.times(out, p.Real(a))
		default:
			out = p.times(out, p.factor(a))
		}
	}
	return out
}

// lin prints a sum from left to right.
func (p *Printer) lin(x plan.Lin) string {
	if len(x.Args) == 0 {
		return p.Number(x.Const)
	}
	var s sum
	if x.Const != 0 {
		s.add(false, p.Literal(x.Const))
	}
	for i, a := range x.Args {
		c := x.Coef[i]
		if q, ok := a.(plan.Prod); ok && q.Coef == -1 && len(q.Args) > 0 {
			c, a = -c, plan.Prod{Coef: 1, Args: q.Args}
		}
		if c == 1 || c == -1 {
			s.add(c < 0, p.Real(a))
		} else {
			s.add(c < 0, p.times(p.Literal(math.Abs(c)), p.factor(a)))
		}
	}
	return s.String()
}

// MathH are the names of the functions of C99's math.h with one or two arguments of type double.
var MathH = Words(`acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim
	floor fmax fmin fmod hypot lgamma log log10 log1p log2 logb nearbyint pow rint round sin sinh sqrt tan tanh tgamma trunc`)

// MathFunction is the function of C99's math.h with the name of a primitive, or "".
func MathFunction(op ir.Op) string {
	if name := op.String(); MathH[name] {
		return name
	}
	return ""
}

// Infix are the primitives that are operators.
var Infix = map[ir.Op]string{ir.Less: "<", ir.LessEq: "<=", ir.Equal: "==", ir.And: "&&", ir.Or: "||"}

func (p *Printer) call(x plan.Call) string {
	switch x.Op {
	case ir.And, ir.Or:
		return fmt.Sprintf("(%s %s %s)", p.Truth(x.Args[0]), Infix[x.Op], p.Truth(x.Args[1]))
	case ir.Less, ir.LessEq, ir.Equal:
		print := p.Real
		if plan.ElemOf(x.Args[0]) == plan.ElemOf(x.Args[1]) {
			print = p.Expr
		}
		return fmt.Sprintf("(%s %s %s)", print(x.Args[0]), Infix[x.Op], print(x.Args[1]))
	case ir.Not:
		return "!" + p.Truth(x.Args[0])
	case ir.Div:
		return "(" + p.quotient(x) + ")"
	case ir.Select:
		print := p.Real
		if e := plan.ElemOf(x.Args[1]); e == plan.ElemOf(x.Args[2]) && e != ir.Real {
			print = p.Expr
		}
		return fmt.Sprintf("(%s ? %s : %s)", p.Truth(x.Args[0]), print(x.Args[1]), print(x.Args[2]))
	case ir.ToReal:
		return p.Real(x.Args[0])
	}
	name := p.Function(x.Op)
	if name == "" {
		panic(fmt.Sprintf("clike: BUG: no text for %v", x.Op))
	}
	return p.Apply(name, x.Args)
}

// Apply prints a call of a function with numbers.
func (p *Printer) Apply(name string, args []plan.Expr) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = p.Top(a)
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

func (p *Printer) quotient(x plan.Call) string {
	return p.Real(x.Args[0]) + " / " + p.factor(x.Args[1])
}

// Float32 prints a constant as a number of C's type float.
func Float32(v float64, nan, infinity string) string {
	x := float32(v)
	switch {
	case x != x:
		return nan
	case math.IsInf(float64(x), 1):
		return infinity
	case math.IsInf(float64(x), -1):
		return "(-" + infinity + ")"
	}
	s := strconv.FormatFloat(float64(x), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if x < 0 {
		return "(" + s + "f)"
	}
	return s + "f"
}
