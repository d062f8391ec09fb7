package loopopt

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// maxOperations is the number of operations that one statement may have.
const maxOperations = 10

// splitExpressions makes scalars of the parts of long expressions, for the reader.
func (o *optimizer) splitExpressions(body []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range body {
		if inside := plan.Body(n); inside != nil {
			*inside = o.splitExpressions(*inside)
		}
		plan.MapExprs(n, func(e plan.Expr) plan.Expr { return o.shorten(e, &out) })
		out = append(out, n)
	}
	return out
}

// shorten makes scalars of the largest parts of an expression until it is short.
func (o *optimizer) shorten(e plan.Expr, out *[]plan.Node) plan.Expr {
	args := plan.Args(e)
	if operations(e) <= maxOperations || len(args) == 0 {
		return e
	}
	list := make([]plan.Expr, len(args))
	total := 0
	for i, a := range args {
		list[i] = o.shorten(a, out)
		total += operations(list[i])
	}
	for i, a := range list {
		if n := operations(a); total > maxOperations && n > 1 && n*len(list) >= total {
			let := &plan.Let{To: &plan.Local{Name: o.fresh("w"), Elem: plan.ElemOf(a)}, Val: a}
			*out = append(*out, let)
			list[i] = plan.Ref{To: let.To}
			total -= n
		}
	}
	return plan.WithArgs(e, list)
}

// operations counts the operations of an expression.
func operations(e plan.Expr) int {
	n := 0
	plan.WalkExpr(e, func(e plan.Expr) {
		if a := len(plan.Args(e)); a > 0 {
			n += max(1, a-1)
		}
	})
	return n
}
