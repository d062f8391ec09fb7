package loopopt

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// Copy propagation, dead code elimination and forward substitution of scalars.

// propagate removes scalars that only copy another and scalars that nothing
// reads, and computes a scalar that is read once where it is read, if nothing
// between changes what it is computed from.
func propagate(body []plan.Node) []plan.Node {
	accumulated := accumulators(body)
	propagateCopies(body, accumulated)
	for {
		uses := countRefs(body)
		changed := false
		body = dropDead(body, uses, accumulated, &changed)
		if !changed {
			return body
		}
	}
}

// propagateCopies makes readers of a copy read the original.
func propagateCopies(body []plan.Node, accumulated map[*plan.Local]bool) {
	same := map[*plan.Local]*plan.Local{}
	plan.Walk(body, func(n plan.Node) {
		if let, ok := n.(*plan.Let); ok && !accumulated[let.To] {
			if r, ok := let.Val.(plan.Ref); ok && !accumulated[r.To] {
				to := r.To
				if same[to] != nil {
					to = same[to]
				}
				same[let.To] = to
			}
		}
	})
	plan.Walk(body, func(n plan.Node) {
		mapRefs(n, func(r plan.Ref) plan.Expr {
			if to := same[r.To]; to != nil {
				return plan.Ref{To: to}
			}
			return r
		})
	})
}

// mapRefs replaces what the expressions of a node read of scalars.
func mapRefs(n plan.Node, f func(plan.Ref) plan.Expr) {
	plan.MapExprs(n, func(e plan.Expr) plan.Expr {
		return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
			if r, ok := e.(plan.Ref); ok {
				return f(r)
			}
			return e
		})
	})
}

func countRefs(body []plan.Node) map[*plan.Local]int {
	uses := map[*plan.Local]int{}
	plan.Walk(body, func(n plan.Node) {
		plan.EachRef(n, func(l *plan.Local) { uses[l]++ })
	})
	return uses
}

// dropDead removes what nothing reads and reports in changed whether it did.
func dropDead(body []plan.Node, uses map[*plan.Local]int, accumulated map[*plan.Local]bool, changed *bool) []plan.Node {
	var out []plan.Node
	for i, n := range body {
		if inside := plan.Body(n); inside != nil {
			*inside = dropDead(*inside, uses, accumulated, changed)
		}
		switch n := n.(type) {
		case *plan.If:
			if len(n.Body) == 0 {
				continue
			}
		case *plan.Accumulate:
			if uses[n.To] == 0 {
				*changed = true
				continue
			}
		case *plan.Let:
			if uses[n.To] == 0 || uses[n.To] == 1 && !accumulated[n.To] && substituteForward(body[i+1:], n) {
				*changed = true
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// substituteForward computes a scalar that is read once where it is read, when
// that is in the same basic block; it reports whether it did.
func substituteForward(rest []plan.Node, let *plan.Let) bool {
	known := available{"": let}
	for _, n := range rest {
		switch n.(type) {
		case *plan.Let, *plan.Accumulate, *plan.Store:
		default:
			return false
		}
		done := false
		mapRefs(n, func(r plan.Ref) plan.Expr {
			if r.To == let.To {
				done = true
				return let.Val
			}
			return r
		})
		if done {
			return true
		}
		if known.forget(n); len(known) == 0 {
			return false
		}
	}
	return false
}
