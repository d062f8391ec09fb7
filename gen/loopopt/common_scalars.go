package loopopt

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// Local common subexpression elimination.

// share computes once what the statements of one body compute several times:
// entries that are loaded more than once, and scalars with equal values.
func (o *optimizer) share(nodes []plan.Node) []plan.Node {
	count := map[string]int{}
	for _, n := range nodes {
		plan.EachExpr(n, func(e plan.Expr) {
			if _, ok := e.(plan.Load); ok {
				count[plan.ExprString(e)]++
			}
		})
	}
	var out []plan.Node
	known := available{}
	for _, n := range nodes {
		if let, ok := n.(*plan.Let); ok && !o.accumulators[let.To] && !trivial(let.Val) {
			key := plan.ExprString(let.Val)
			if same := known[key]; same != nil {
				let.Val = plan.Ref{To: same.To}
			} else {
				_, load := let.Val.(plan.Load)
				if !load {
					plan.MapExprs(n, o.loads(count, known, &out))
				}
				known[key] = let
			}
			out = append(out, n)
			continue
		}
		plan.MapExprs(n, o.loads(count, known, &out))
		out = append(out, n)
		known.forget(n)
	}
	return out
}

func trivial(e plan.Expr) bool {
	switch e.(type) {
	case plan.Ref, plan.Num:
		return true
	}
	return false
}

// loads replaces loads that occur more than once by a scalar.
func (o *optimizer) loads(count map[string]int, known available, out *[]plan.Node) func(plan.Expr) plan.Expr {
	return func(e plan.Expr) plan.Expr {
		return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
			key := ""
			if _, ok := e.(plan.Load); ok {
				key = plan.ExprString(e)
			}
			if count[key] < 2 {
				return e
			}
			if known[key] == nil {
				known[key] = &plan.Let{To: &plan.Local{Name: o.fresh(nameOf(e)), Elem: plan.ElemOf(e)}, Val: e}
				*out = append(*out, known[key])
			}
			return plan.Ref{To: known[key].To}
		})
	}
}
