package plan

import "slices"

// A Pressure counts the scalars that an innermost loop keeps alive: those that
// each iteration of the loop around it has for itself, and those that its
// iterations share.
type Pressure struct{ PerIteration, Shared int }

// RegisterPressure lists what the innermost loops inside a loop keep alive, were the
// loop jammed. A target chooses from it how many iterations fit its registers.
func RegisterPressure(loop *Loop) []Pressure {
	j := newJammer(loop)
	var out []Pressure
	Walk(loop.Body, func(n Node) {
		inner, ok := n.(*Loop)
		if ok && !j.dep[inner] && !slices.ContainsFunc(inner.Body, func(n Node) bool { _, loop := n.(*Loop); return loop }) {
			out = append(out, j.demand(inner))
		}
	})
	return out
}

// demand counts sums, scalars that come from outside, and for the shared part
// the entries that are loaded once for all.
func (j *jammer) demand(inner *Loop) Pressure {
	inside, each, shared := map[*Local]bool{}, map[*Local]bool{}, map[string]bool{}
	for _, n := range inner.Body {
		if let, ok := n.(*Let); ok {
			inside[let.To] = true
		}
	}
	use := func(l *Local) {
		switch {
		case inside[l]:
		case j.dep[l]:
			each[l] = true
		default:
			shared[l.Name] = true
		}
	}
	for _, n := range inner.Body {
		switch n := n.(type) {
		case *Accumulate:
			use(n.To)
		case *Store:
			if n.Add && !j.access(n.To) {
				shared[n.To.String()] = true
			}
		}
		EachExpr(n, func(e Expr) {
			switch e := e.(type) {
			case Ref:
				use(e.To)
			case Load:
				if !j.access(e.Access) {
					shared[e.Access.String()] = true
				}
			}
		})
	}
	return Pressure{len(each), len(shared)}
}
