package expr

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The walk over expressions.

// Expr builds an expression; nil means that an error was reported.
func (e *Builder) Expr(x notation.Expr) *tensor.Tensor { return e.Closed(x, e.OpenExpr(x)) }

// OpenExpr is Expr that allows open axes, which the context of the expression determines.
func (e *Builder) OpenExpr(x notation.Expr) *tensor.Tensor {
	switch x := x.(type) {
	case *notation.Number:
		return tensor.Number(x.Value)
	case *notation.Ident:
		return e.Ident(x)
	case *notation.Field:
		return e.field(x)
	case *notation.Index:
		return e.index(x)
	case *notation.Call:
		return e.call(x)
	case *notation.Grad:
		return e.grad(x)
	case *notation.Unary:
		if t := e.OpenValue(x.X); t != nil {
			return t.Scale(-1)
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
		if t := e.Value(x.X); t != nil {
			return e.Norm(t)
		}
		return nil
	case *notation.Abs:
		if t := e.Value(x.X); t != nil {
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
		e.Errorf(diag.NotSupported, s.Left, "an unknown over a union has no equation of its own for each part").Hint("solve for each part on a line of its own")
		return nil
	}
	e.Errorf(diag.NotSupported, x, "this cannot occur in an equation")
	return nil
}

// Value builds an expression that must be a number or an array of numbers: a
// position and a condition have no sum, product or gradient.
func (e *Builder) Value(x notation.Expr) *tensor.Tensor { return e.real(e.Expr(x), x) }

// OpenValue is value for an expression whose axes another operand may say.
func (e *Builder) OpenValue(x notation.Expr) *tensor.Tensor { return e.real(e.OpenExpr(x), x) }

// real refuses a value whose entries are positions or conditions.
func (e *Builder) real(t *tensor.Tensor, x notation.Expr) *tensor.Tensor {
	switch {
	case t == nil || t.Elem == ir.Real:
		return t
	case t.Elem == ir.Bool:
		e.Errorf(diag.NotSupported, x, "%s is a condition, not a number", Text(x)).
			Hint("choose numbers by it: { 1 if %s ; 0 otherwise }", Text(x))
	default:
		e.Errorf(diag.NotSupported, x, "%s holds positions, not numbers", Text(x)).
			Hint("a position occurs in an index or in a comparison")
	}
	return nil
}

// count is a number of things as a message says it.
func count(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Text is an expression or a type as a message shows it.
func Text(x any) string { return notation.Print(x, notation.Unicode) }
