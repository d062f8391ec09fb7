package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A region is called with numbers. A truth value from outside goes in as one or
// zero, and is compared at its beginning.

// truths are the truth values from outside that a nest asks.
func truths(n *plan.Loop) []*plan.Local {
	var own, out []*plan.Local
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		if let, ok := n.(*plan.Let); ok {
			own = append(own, let.To)
		}
		plan.EachRef(n, func(l *plan.Local) {
			if l.Elem == ir.Bool && !slices.Contains(own, l) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		})
	})
	return out
}

// instead copies nodes with one scalar in place of another.
func instead(ns []plan.Node, outer, own *plan.Local) []plan.Node {
	return plan.Substitution{Locals: map[*plan.Local]*plan.Local{outer: own}}.Nodes(ns)
}

// lend gives a region a truth value as a number, which the returned statement
// sets in front of it.
func lend(r *plan.Region, outer *plan.Local) plan.Node {
	number := &plan.Local{Name: outer.Name + ".number", Elem: ir.Real}
	own := &plan.Local{Name: outer.Name, Elem: ir.Bool}
	ask := &plan.Let{To: own, Val: plan.Call{Op: ir.Less, Args: []plan.Expr{plan.Num{V: 0}, plan.Ref{To: number}}}}
	r.Body = append([]plan.Node{ask}, instead(r.Body, outer, own)...)
	return &plan.Let{To: number, Val: plan.Call{Op: ir.Select, Args: []plan.Expr{plan.Ref{To: outer}, plan.Num{V: 1}, plan.Num{V: 0}}}}
}
