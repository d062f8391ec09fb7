package loopopt

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// A Pressure counts the scalars that an innermost loop keeps alive: those that
// each iteration of the loop around it has for itself, and those that its
// iterations share.
type Pressure struct{ PerIteration, Shared int }

// RegisterPressure lists what the innermost loops inside a loop keep alive, were the
// loop jammed. A target chooses from it how many iterations fit its registers.
func RegisterPressure(loop *plan.Loop) []Pressure {
	j := newJammer(loop)
	var out []Pressure
	plan.Walk(loop.Body, func(n plan.Node) {
		inner, ok := n.(*plan.Loop)
		if ok && !j.varies[inner] && !slices.ContainsFunc(inner.Body, func(n plan.Node) bool { _, loop := n.(*plan.Loop); return loop }) {
			out = append(out, j.demand(inner))
		}
	})
	return out
}

// demand counts sums, scalars that come from outside, and for the shared part
// the entries that are loaded once for all.
func (j *jammer) demand(inner *plan.Loop) Pressure {
	inside, each, shared := map[*plan.Local]bool{}, map[*plan.Local]bool{}, map[string]bool{}
	for _, n := range inner.Body {
		if let, ok := n.(*plan.Let); ok {
			inside[let.To] = true
		}
	}
	use := func(l *plan.Local) {
		switch {
		case inside[l]:
		case j.varies[l]:
			each[l] = true
		default:
			shared[l.Name] = true
		}
	}
	for _, n := range inner.Body {
		switch n := n.(type) {
		case *plan.Accumulate:
			use(n.To)
		case *plan.Store:
			if n.Add && !j.access(n.To) {
				shared[n.To.String()] = true
			}
		}
		plan.EachExpr(n, func(e plan.Expr) {
			switch e := e.(type) {
			case plan.Ref:
				use(e.To)
			case plan.Load:
				if !j.access(e.Access) {
					shared[e.Access.String()] = true
				}
			}
		})
	}
	return Pressure{len(each), len(shared)}
}
