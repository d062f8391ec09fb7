package gokernel

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// outer are the statements in front of a recurrence that set scalars which its
// rows read: each part computes them for itself.
func (e *kernelEmitter) outer(j *job) []plan.Node {
	need := refs(j.batch)
	at := slices.IndexFunc(e.k.Body, func(n plan.Node) bool { return n == plan.Node(j.batch) })
	var out []plan.Node
	for i := at - 1; i >= 0; i-- {
		n := e.k.Body[i]
		if !slices.ContainsFunc(sets(n), func(l *plan.Local) bool { return need[l] }) {
			continue
		}
		if len(plan.Written([]plan.Node{n})) > 0 {
			panic("gokernel: BUG: a scalar of rows is set beside a store")
		}
		for l := range refs(n) {
			need[l] = true
		}
		out = append(out, n)
	}
	slices.Reverse(out)
	return out
}

// refs are the scalars that a statement reads.
func refs(n plan.Node) map[*plan.Local]bool {
	out := map[*plan.Local]bool{}
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		plan.EachRef(n, func(l *plan.Local) { out[l] = true })
	})
	return out
}

// sets are the scalars that a statement sets or gathers.
func sets(n plan.Node) []*plan.Local {
	var out []*plan.Local
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			out = append(out, n.To)
		case *plan.Accumulate:
			out = append(out, n.To)
		case *plan.FindRoot:
			out = append(out, n.To)
		}
	})
	return out
}
