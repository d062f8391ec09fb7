package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A region is called with numbers. A Boolean from outside goes in as one or
// zero, and is compared at its beginning.

// boolArguments are the Booleans from outside that a nest reads.
func boolArguments(n *plan.Loop) []*plan.Local {
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

// substitute copies nodes with one scalar in place of another.
func substitute(ns []plan.Node, outer, own *plan.Local) []plan.Node {
	return plan.Substitute(map[*plan.Local]*plan.Local{outer: own}, nil).Nodes(ns)
}

// passBool gives a region a Boolean as a number, which the returned statement
// sets in front of it.
func passBool(r *plan.Region, outer *plan.Local) plan.Node {
	number := &plan.Local{Name: outer.Name + ".number", Elem: ir.Real}
	own := &plan.Local{Name: outer.Name, Elem: ir.Bool}
	ask := &plan.Let{To: own, Val: plan.Call{Op: ir.Less, Args: []plan.Expr{plan.Num{V: 0}, plan.Ref{To: number}}}}
	r.Body = append([]plan.Node{ask}, substitute(r.Body, outer, own)...)
	return &plan.Let{To: number, Val: plan.Call{Op: ir.Select, Args: []plan.Expr{plan.Ref{To: outer}, plan.Num{V: 1}, plan.Num{V: 0}}}}
}
