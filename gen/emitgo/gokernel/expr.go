package gokernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// language is the table of what differs from languages like C.
var language = &clike.Language{
	Types:    map[ir.Elem]string{ir.Real: "F", ir.Int: "int32", ir.Bool: "bool"},
	Unsigned: "uint",
	Number:   number,
	Literal:  literal,
	Function: numFunction,
	Round:    toF,
	ToReal: func(from ir.Elem, text string) string {
		if from == ir.Bool {
			return "kern.Choose[F](" + text + ", 1, 0)"
		}
		return toF(text)
	},
	MinMax: true,
}

func toF(text string) string { return "F(" + text + ")" }

// number prints a constant. A constant that float32 cannot hold is converted
// when the program runs.
func number(v float64) string {
	switch {
	case math.IsInf(v, 0):
		return fmt.Sprintf("F(math.Inf(%d))", int(math.Copysign(1, v)))
	case math.IsNaN(v):
		return "F(math.NaN())"
	case math.Abs(v) > math.MaxFloat32:
		return fmt.Sprintf("F(math.Float64frombits(%#x))", math.Float64bits(v))
	}
	return toF(literal(v))
}

// literal prints a constant beside an operand of type F.
func literal(v float64) string {
	if math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
		return number(v)
	}
	return fmt.Sprintf("%#v", v)
}

// numFunction is the function of package num that computes a primitive: it is
// called as on a page, or as the primitive.
func numFunction(op ir.Op) string {
	name := op.Info().Page
	if name == "" {
		name = op.String()
	}
	return "num." + strings.ToUpper(name[:1]) + name[1:]
}

// code is an expression of Go as a statement that imports what it names.
func code(text string) *jen.Statement { return gotext.Code(text) }

// top prints an expression as a number that nothing binds to.
func (e *kernelEmitter) top(x plan.Expr) *jen.Statement { return code(e.text.Top(x)) }

// special prints what only Go has: the functions of the fused arithmetic, and
// conditional expressions, which are calls.
func (e *kernelEmitter) special(x plan.Expr) (string, bool) {
	switch x := x.(type) {
	case plan.Load:
		if gathered := x.Gathered(); len(gathered) > 0 {
			return fmt.Sprintf("kern.Entry(%s, %s, %s)", e.text.InRange(gathered), e.sliceName(x.Buf), e.text.Address(x.Access)), true
		}
	case plan.Fma:
		a := e.text.Top(x.A)
		if x.Neg {
			a = "-" + e.text.Real(x.A)
		}
		return fmt.Sprintf("num.FMA32(%s, %s, %s)", a, e.text.Top(x.B), e.text.Top(x.C)), true
	case plan.Call:
		return e.call(x)
	}
	return "", false
}

func (e *kernelEmitter) call(x plan.Call) (string, bool) {
	if name := x.Op.Info().Fused; name != "" && e.fused {
		return e.text.Apply("kern."+name, x.Args), true
	}
	switch x.Op {
	case ir.And, ir.Or:
		return e.logic(x), true
	case ir.Floor:
		return floor(e.text.Real(x.Args[0])), true
	case ir.Mod:
		a, b := e.text.Real(x.Args[0]), e.text.Real(x.Args[1])
		return fmt.Sprintf("(%s - F(%s*%s))", a, b, floor(a+"/"+b)), true
	case ir.Select:
		elem := plan.ElemOf(x.Args[1])
		if elem != plan.ElemOf(x.Args[2]) {
			elem = ir.Real
		}
		return fmt.Sprintf("kern.Choose(%s, %s, %s)", e.text.Truth(x.Args[0]), e.text.As(elem, x.Args[1]), e.text.As(elem, x.Args[2])), true
	}
	return "", false
}

func floor(x string) string { return "F(math.Floor(float64(" + x + ")))" }

// logic prints a chain of && or ||, each term once.
func (e *kernelEmitter) logic(x plan.Call) string {
	seen := map[string]bool{}
	var terms []string
	var add func(a plan.Expr)
	add = func(a plan.Expr) {
		if c, ok := a.(plan.Call); ok && c.Op == x.Op {
			add(c.Args[0])
			add(c.Args[1])
			return
		}
		if key := plan.ExprString(a); !seen[key] {
			seen[key] = true
			terms = append(terms, e.text.Truth(a))
		}
	}
	add(x)
	return "(" + strings.Join(terms, clike.Infix[x.Op]) + ")"
}
