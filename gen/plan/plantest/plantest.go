// Package plantest makes small loop programs for tests.
package plantest

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Call is a call of a scalar function with arguments of the kinds that it takes.
func Call(op ir.Op) plan.Call {
	x, y := plan.Num{V: 1}, plan.Num{V: 2}
	truth := plan.Call{Op: ir.Less, Args: []plan.Expr{x, y}}
	switch op {
	case ir.And, ir.Or:
		return plan.Call{Op: op, Args: []plan.Expr{truth, truth}}
	case ir.Not, ir.ToReal:
		return plan.Call{Op: op, Args: []plan.Expr{truth}}
	case ir.Select:
		return plan.Call{Op: op, Args: []plan.Expr{truth, x, y}}
	}
	return plan.Call{Op: op, Args: []plan.Expr{x, y}[:op.Info().Args]}
}
