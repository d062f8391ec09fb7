package loopopt

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// DropRedundantStores removes stores of an entry to itself, and loops that hold
// nothing else.
func DropRedundantStores(ns []plan.Node) []plan.Node {
	return slices.DeleteFunc(ns, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Loop:
			n.Body = DropRedundantStores(n.Body)
			return len(n.Body) == 0
		case *plan.Store:
			l, ok := bare(n.Vals[0]).(plan.Load)
			return ok && !n.Add && l.Access.String() == n.To.String()
		}
		return false
	})
}

// bare is an expression without sums and products of one factor.
func bare(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case plan.Lin:
		if len(x.Args) == 1 && x.Coef[0] == 1 && x.Const == 0 {
			return bare(x.Args[0])
		}
	case plan.Prod:
		if len(x.Args) == 1 && x.Coef == 1 {
			return bare(x.Args[0])
		}
	}
	return e
}
