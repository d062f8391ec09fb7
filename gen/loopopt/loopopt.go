// Package loopopt optimises loop programs. Every pass keeps the bits of a
// result: it moves, shares or copies statements and never changes the order in
// which numbers are added.
//
// Optimize is what lowering runs on each kernel: loop-invariant code motion with
// local common subexpression elimination, copy propagation with dead code
// elimination, and the division of long expressions. UnrollAndJam is for the
// printers, which know how many iterations fit the registers of their target;
// RegisterPressure tells them what one iteration needs.
package loopopt

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// Optimize improves the body of a kernel. fresh returns a name for a scalar
// that nothing in the kernel has yet.
func Optimize(body []plan.Node, fresh func(name string) string) []plan.Node {
	o := &optimizer{fresh: fresh, accumulators: accumulators(body)}
	body = o.hoist(body)
	body = propagate(body)
	return o.splitExpressions(body)
}

// An optimizer is one run of Optimize.
type optimizer struct {
	fresh        func(name string) string
	accumulators map[*plan.Local]bool // scalars that something accumulates into
}

// accumulators are the scalars that nodes accumulate into.
func accumulators(ns []plan.Node) map[*plan.Local]bool {
	out := map[*plan.Local]bool{}
	plan.Walk(ns, func(n plan.Node) {
		if acc, ok := n.(*plan.Accumulate); ok {
			out[acc.To] = true
		}
	})
	return out
}
