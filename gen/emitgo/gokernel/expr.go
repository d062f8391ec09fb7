package gokernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/dave/jennifer/jen"

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

// real prints an expression as a number of type F.
func (e *kernelEmitter) real(x plan.Expr) *jen.Statement {
	switch elemOf(x) {
	case ir.Int:
		return jen.Id("F").Call(e.expr(x))
	case ir.Bool:
		return jen.Qual(kernPath, "Choose").Index(jen.Id("F")).Call(e.expr(x), jen.Lit(1), jen.Lit(0))
	}
	return e.expr(x)
}

// truth prints an expression as a truth value.
func (e *kernelEmitter) truth(x plan.Expr) *jen.Statement {
	if elemOf(x) == ir.Bool {
		return e.expr(x)
	}
	return jen.Parens(e.expr(x).Op("!=").Lit(0))
}

// expr prints an expression; it is an operand that binds tighter than a sum.
func (e *kernelEmitter) expr(x plan.Expr) *jen.Statement {
	switch x := x.(type) {
	case plan.Load:
		return e.load(x.Access)
	case plan.Ref:
		return jen.Id(e.locals[x.To])
	case plan.Num:
		return number(x.V)
	case plan.IndexExpr:
		s, _ := e.index(x.Index)
		return jen.Id("F").Call(s)
	case plan.Prod:
		if x.Coef == -1 {
			return jen.Parens(jen.Op("-").Add(e.product(plan.Prod{Coef: 1, Args: x.Args})))
		}
		return e.product(x)
	case plan.Lin:
		return jen.Parens(e.lin(x))
	case plan.Fma:
		a := e.argument(x.A)
		if x.Neg {
			a = jen.Op("-").Add(e.real(x.A))
		}
		return jen.Qual(numPath, "FMA32").Call(a, e.argument(x.B), e.argument(x.C))
	case plan.Call:
		return e.call(x)
	}
	panic(fmt.Sprintf("gokernel: BUG: no Go for %T", x))
}

// top prints an expression that nothing binds to.
func (e *kernelEmitter) top(x plan.Expr) *jen.Statement {
	switch x := x.(type) {
	case plan.Lin:
		return e.lin(x)
	case plan.Prod:
		if x.Coef == -1 {
			return jen.Op("-").Add(e.product(plan.Prod{Coef: 1, Args: x.Args}))
		}
	}
	return e.expr(x)
}

// number prints a constant. A constant that float32 cannot hold is converted
// when the program runs.
func number(v float64) *jen.Statement {
	switch {
	case math.IsInf(v, 0):
		return jen.Id("F").Call(jen.Qual("math", "Inf").Call(jen.Lit(int(math.Copysign(1, v)))))
	case math.IsNaN(v):
		return jen.Id("F").Call(jen.Qual("math", "NaN").Call())
	case math.Abs(v) > math.MaxFloat32:
		return jen.Id("F").Call(jen.Qual("math", "Float64frombits").Call(jen.Lit(math.Float64bits(v))))
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return jen.Id("F").Call(jen.Lit(int(v)))
	}
	return jen.Id("F").Call(jen.Lit(v))
}

// literal prints a constant beside an operand of type F.
func literal(v float64) *jen.Statement {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) > math.MaxFloat32:
		return number(v)
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return jen.Lit(int(v))
	}
	return jen.Lit(v)
}

// product prints F(F(x*y)*z): each product is rounded.
func (e *kernelEmitter) product(x plan.Prod) *jen.Statement {
	var out *jen.Statement
	if x.Coef != 1 {
		out = literal(x.Coef)
	}
	for _, a := range x.Args {
		if out == nil {
			out = e.real(a)
			continue
		}
		out = jen.Id("F").Call(out.Op("*").Add(e.real(a)))
	}
	return out
}

// lin prints a sum from left to right.
func (e *kernelEmitter) lin(x plan.Lin) *jen.Statement {
	out := jen.Null()
	first := true
	if x.Const != 0 || len(x.Args) == 0 {
		if len(x.Args) == 0 {
			return number(x.Const)
		}
		out.Add(literal(x.Const))
		first = false
	}
	for i, a := range x.Args {
		c := x.Coef[i]
		if p, ok := a.(plan.Prod); ok && p.Coef == -1 {
			c, a = -c, plan.Prod{Coef: 1, Args: p.Args}
		}
		term := e.real(a)
		if c != 1 && c != -1 {
			term = jen.Id("F").Call(literal(math.Abs(c)).Op("*").Add(term))
		}
		switch {
		case c < 0:
			out.Op("-").Add(term)
		case !first:
			out.Op("+").Add(term)
		default:
			out.Add(term)
		}
		first = false
	}
	return out
}

// numFunction is the function of package num that computes a primitive: it is
// called as on a page, or as the primitive.
func numFunction(op ir.Op) string {
	name := op.Info().Page
	if name == "" {
		name = op.String()
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// infix are the primitives that Go has operators for.
var infix = map[ir.Op]string{ir.Less: "<", ir.LessEq: "<=", ir.Equal: "==", ir.And: "&&", ir.Or: "||"}

func (e *kernelEmitter) call(x plan.Call) *jen.Statement {
	if name, ok := fusedFunctions[x.Op]; ok && e.fused {
		var args []jen.Code
		for _, a := range x.Args {
			args = append(args, e.argument(a))
		}
		return jen.Qual(kernPath, name).Call(args...)
	}
	switch x.Op {
	case ir.And, ir.Or:
		return e.logic(x)
	case ir.Less, ir.LessEq, ir.Equal:
		return e.compare(x)
	case ir.Not:
		return jen.Op("!").Add(e.truth(x.Args[0]))
	case ir.Div:
		return jen.Parens(e.real(x.Args[0]).Op("/").Add(e.real(x.Args[1])))
	case ir.Floor:
		return floor(e.real(x.Args[0]))
	case ir.Mod:
		a, b := e.real(x.Args[0]), e.real(x.Args[1])
		times := jen.Id("F").Call(b.Clone().Op("*").Add(floor(a.Clone().Op("/").Add(b))))
		return jen.Parens(a.Clone().Op("-").Add(times))
	case ir.Select:
		return e.choice(x)
	case ir.ToReal:
		return e.real(x.Args[0])
	}
	var args []jen.Code
	for _, a := range x.Args {
		args = append(args, e.argument(a))
	}
	return jen.Qual(numPath, numFunction(x.Op)).Call(args...)
}

// logic prints a chain of && or ||, each term once.
func (e *kernelEmitter) logic(x plan.Call) *jen.Statement {
	seen := map[string]bool{}
	out := jen.Null()
	var add func(a plan.Expr)
	add = func(a plan.Expr) {
		if c, ok := a.(plan.Call); ok && c.Op == x.Op {
			add(c.Args[0])
			add(c.Args[1])
			return
		}
		if key := plan.ExprString(a); !seen[key] {
			if len(seen) > 0 {
				out.Op(infix[x.Op])
			}
			seen[key] = true
			out.Add(e.truth(a))
		}
	}
	add(x)
	return jen.Parens(out)
}

// argument prints a real argument of a function, without brackets around sums.
func (e *kernelEmitter) argument(x plan.Expr) *jen.Statement {
	if elemOf(x) == ir.Real {
		if _, num := x.(plan.Num); !num {
			return e.top(x)
		}
	}
	return e.real(x)
}

func floor(x *jen.Statement) *jen.Statement {
	return jen.Id("F").Call(jen.Qual("math", "Floor").Call(jen.Float64().Call(x)))
}

func (e *kernelEmitter) compare(x plan.Call) *jen.Statement {
	a, b := x.Args[0], x.Args[1]
	if elemOf(a) == elemOf(b) {
		return jen.Parens(e.expr(a).Op(infix[x.Op]).Add(e.expr(b)))
	}
	return jen.Parens(e.real(a).Op(infix[x.Op]).Add(e.real(b)))
}

func (e *kernelEmitter) choice(x plan.Call) *jen.Statement {
	a, b := x.Args[1], x.Args[2]
	if elemOf(a) == elemOf(b) && elemOf(a) != ir.Real {
		return jen.Qual(kernPath, "Choose").Call(e.truth(x.Args[0]), e.expr(a), e.expr(b))
	}
	return jen.Qual(kernPath, "Choose").Call(e.truth(x.Args[0]), e.argument(a), e.argument(b))
}

// load prints an entry. A picked entry that does not exist is zero.
func (e *kernelEmitter) load(a plan.Access) *jen.Statement {
	if picked := a.Gathered(); len(picked) > 0 {
		return jen.Qual(kernPath, "Entry").Call(e.inRange(picked), e.slice(a.Buf), e.address(a))
	}
	return e.entry(a)
}

// inRange prints uint(n) < uint(V).
func (e *kernelEmitter) inRange(picked []plan.BoundedIndex) *jen.Statement {
	out := jen.Null()
	for i, p := range picked {
		if i > 0 {
			out.Op("&&")
		}
		s, _ := e.index(p.Index)
		out.Uint().Call(s).Op("<").Uint().Call(e.poly(p.Bound))
	}
	return out
}
