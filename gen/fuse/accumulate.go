package fuse

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// accumulators turns sums into one entry, iteration by iteration, into sums of a
// scalar that starts as the entry and is stored after the loop:
//
//	sum p in [0, d)            x = s[j]
//		s[j] += a[j, p]·b[p]   sum p in [0, d)
//		                           x += a[j, p]·b[p]
//		                       s[j] = x
func accumulators(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.If:
			n.Body = accumulators(n.Body)
		case *plan.Loop:
			n.Body = accumulators(n.Body)
			before, after := accumulator(n)
			out = append(append(append(out, before...), n), after...)
			continue
		}
		out = append(out, n)
	}
	return out
}

// accumulator changes the stores of one innermost loop; it returns what comes
// before the loop and after it.
func accumulator(loop *plan.Loop) (before, after []plan.Node) {
	if !innermost(loop) {
		return nil, nil
	}
	for i, n := range loop.Body {
		s, ok := n.(*plan.Store)
		if !ok || s.To.Mentions(loop.Var) || len(s.To.Gathered()) > 0 || s.To.Buf.Elem != ir.Real || !plan.AddsTo(s.Vals[0], s.To) || touches(loop, s) {
			continue
		}
		x := &plan.Local{Name: s.To.Buf.Name + ".sum", Elem: ir.Real}
		val := plan.RewriteExpr(s.Vals[0], func(e plan.Expr) plan.Expr {
			if l, ok := e.(plan.Load); ok && l.Access.String() == s.To.String() {
				return plan.Ref{To: x}
			}
			return e
		})
		before = append(before, &plan.Let{To: x, Val: plan.Load{Access: s.To}})
		loop.Body[i] = &plan.Accumulate{To: x, Set: true, Val: val}
		after = append(after, &plan.Store{To: s.To, Vals: []plan.Expr{plan.Ref{To: x}}})
	}
	return before, after
}

// touches reports whether a loop uses the buffer of a store anywhere else, or
// indexes it by what only the loop knows.
func touches(loop *plan.Loop, s *plan.Store) bool {
	uses := 0
	for _, n := range loop.Body {
		plan.EachAccess(n, func(a plan.Access) {
			if a.Buf.Base() == s.To.Buf.Base() {
				uses++
			}
		})
		if p, ok := n.(*plan.Gather); ok && s.To.Mentions(p.To) {
			return true
		}
	}
	return uses != 2 // the store, and the load that it starts from
}
