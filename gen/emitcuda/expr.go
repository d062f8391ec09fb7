package emitcuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// elemOf is the kind of an expression's value.
func elemOf(x plan.Expr) ir.Elem {
	switch x := x.(type) {
	case plan.Load:
		return x.Buf.Elem
	case plan.Ref:
		return x.To.Elem
	case plan.Call:
		if x.Op == ir.Select {
			return elemOf(x.Args[1])
		}
		return x.Op.Info().Out
	}
	return ir.Real
}

// elemType is the type of an entry.
func elemType(e ir.Elem) string {
	switch e {
	case ir.Real:
		return "float"
	case ir.Int:
		return "int"
	case ir.Bool:
		return "bool"
	}
	panic(fmt.Sprintf("emitcuda: BUG: no type for %v", e))
}

// real prints an expression as a float, tighter than a sum.
func (f *function) real(x plan.Expr) string {
	switch elemOf(x) {
	case ir.Int:
		return "(float)" + f.expr(x)
	case ir.Bool:
		return "(" + f.expr(x) + " ? 1.0f : 0.0f)"
	}
	return f.expr(x)
}

// top prints an expression as a float that nothing binds to.
func (f *function) top(x plan.Expr) string {
	switch x := x.(type) {
	case plan.Lin:
		return f.lin(x)
	case plan.Prod:
		return f.product(x)
	case plan.Call:
		if x.Op == ir.Div {
			return f.call(x)
		}
	}
	return f.real(x)
}

// as prints an expression as a value of an element type.
func (f *function) as(e ir.Elem, x plan.Expr) string {
	switch e {
	case ir.Real:
		return f.top(x)
	case ir.Bool:
		return f.truth(x)
	}
	return f.expr(x)
}

// truth prints an expression as a Boolean.
func (f *function) truth(x plan.Expr) string {
	if elemOf(x) == ir.Bool {
		return f.expr(x)
	}
	return "(" + f.expr(x) + " != 0)"
}

// expr prints an expression; it is an operand that binds tighter than a sum.
func (f *function) expr(x plan.Expr) string {
	switch x := x.(type) {
	case plan.Load:
		if picked := x.Gathered(); len(picked) > 0 {
			return fmt.Sprintf("(%s ? %s : %s)", f.inRange(picked), f.entry(x.Access), nought(x.Buf.Elem))
		}
		return f.entry(x.Access)
	case plan.Ref:
		return f.local(x.To)
	case plan.Num:
		return number(x.V)
	case plan.IndexExpr:
		return "(float)" + f.factor(x.Index)
	case plan.Prod:
		return bracket(f.product(x))
	case plan.Lin:
		return "(" + f.lin(x) + ")"
	case plan.Call:
		s := f.call(x)
		if x.Op == ir.Div {
			return "(" + s + ")"
		}
		return s
	}
	panic(fmt.Sprintf("emitcuda: BUG: no text for %T", x))
}

func bracket(s string) string {
	if strings.HasPrefix(s, "-") {
		return "(" + s + ")"
	}
	return s
}

// number prints a constant as a float.
func number(v float64) string {
	x := float32(v)
	switch {
	case x != x:
		return "HECATE_NAN"
	case math.IsInf(float64(x), 1):
		return "HECATE_INF"
	case math.IsInf(float64(x), -1):
		return "(-HECATE_INF)"
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

// product prints x * y * z.
func (f *function) product(x plan.Prod) string {
	var parts []string
	sign := ""
	switch {
	case x.Coef == -1 && len(x.Args) > 0:
		sign = "-"
	case x.Coef != 1 || len(x.Args) == 0:
		parts = append(parts, number(x.Coef))
	}
	for i, a := range x.Args {
		s := f.real(a)
		if p, ok := a.(plan.Prod); ok && i > 0 && len(p.Args) > 1 {
			s = "(" + s + ")"
		}
		parts = append(parts, s)
	}
	return sign + strings.Join(parts, " * ")
}

// lin prints a sum from left to right.
func (f *function) lin(x plan.Lin) string {
	if len(x.Args) == 0 {
		return number(x.Const)
	}
	var b strings.Builder
	if x.Const != 0 {
		b.WriteString(number(x.Const))
	}
	for i, a := range x.Args {
		c := x.Coef[i]
		if p, ok := a.(plan.Prod); ok && p.Coef == -1 && len(p.Args) > 0 {
			c, a = -c, plan.Prod{Coef: 1, Args: p.Args}
		}
		term := f.real(a)
		if c != 1 && c != -1 {
			if p, ok := a.(plan.Prod); ok && len(p.Args) > 1 {
				term = "(" + term + ")"
			}
			term = number(math.Abs(c)) + " * " + term
		}
		switch {
		case c < 0 && b.Len() > 0:
			b.WriteString(" - ")
		case c < 0:
			b.WriteString("-")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		b.WriteString(term)
	}
	return b.String()
}

// functions are the primitives that are functions in CUDA or in hecate.cuh.
var functions = map[ir.Op]string{
	ir.Exp: "expf", ir.Log: "logf", ir.Log1p: "log1pf", ir.Expm1: "expm1f", ir.Sqrt: "sqrtf", ir.Tanh: "tanhf",
	ir.Sigmoid: "hecate::sigmoid", ir.Softplus: "hecate::softplus", ir.Sin: "sinf", ir.Cos: "cosf", ir.Erf: "erff",
	ir.Abs: "fabsf", ir.Sign: "hecate::sign", ir.Floor: "floorf", ir.Pow: "hecate::pow", ir.Mod: "hecate::mod",
	ir.Max2: "hecate::max", ir.Min2: "hecate::min",
}

// infix are the primitives that are operators.
var infix = map[ir.Op]string{ir.Less: "<", ir.LessEq: "<=", ir.Equal: "==", ir.And: "&&", ir.Or: "||"}

func (f *function) call(x plan.Call) string {
	if name, ok := functions[x.Op]; ok {
		var args []string
		for _, a := range x.Args {
			args = append(args, f.top(a))
		}
		return name + "(" + strings.Join(args, ", ") + ")"
	}
	switch x.Op {
	case ir.And, ir.Or:
		return fmt.Sprintf("(%s %s %s)", f.truth(x.Args[0]), infix[x.Op], f.truth(x.Args[1]))
	case ir.Less, ir.LessEq, ir.Equal:
		a, b := x.Args[0], x.Args[1]
		if elemOf(a) == elemOf(b) && elemOf(a) != ir.Real {
			return fmt.Sprintf("(%s %s %s)", f.expr(a), infix[x.Op], f.expr(b))
		}
		return fmt.Sprintf("(%s %s %s)", f.real(a), infix[x.Op], f.real(b))
	case ir.Not:
		return "!" + f.truth(x.Args[0])
	case ir.Div:
		return f.real(x.Args[0]) + " / " + divisor(f.real(x.Args[1]), x.Args[1])
	case ir.Select:
		a, b := x.Args[1], x.Args[2]
		if elemOf(a) == elemOf(b) && elemOf(a) != ir.Real {
			return fmt.Sprintf("(%s ? %s : %s)", f.truth(x.Args[0]), f.expr(a), f.expr(b))
		}
		return fmt.Sprintf("(%s ? %s : %s)", f.truth(x.Args[0]), f.real(a), f.real(b))
	case ir.ToReal:
		return f.real(x.Args[0])
	}
	panic(fmt.Sprintf("emitcuda: BUG: no text for %v", x.Op))
}

// divisor brackets what would come apart after a quotient.
func divisor(s string, x plan.Expr) string {
	if p, ok := x.(plan.Prod); ok && (len(p.Args) > 1 || p.Coef != 1) {
		return "(" + s + ")"
	}
	return s
}
