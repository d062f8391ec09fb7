package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// under puts a body under a Σ with conditions; without an index to sum over,
// conditions choose between the body and zero.
func under(bs []*notation.Binder, conds []notation.Expr, body notation.Expr) notation.Expr {
	var cond notation.Expr
	for _, c := range conds {
		if cond == nil {
			cond = c
			continue
		}
		cond = &notation.And{X: cond, Y: c}
	}
	switch {
	case len(bs) == 0 && cond == nil:
		return body
	case len(bs) == 0:
		return choice(cond, body, numeral(0))
	}
	bs[len(bs)-1].Cond = cond
	minus := false
	if u, ok := body.(*notation.Unary); ok {
		body, minus = u.X, true
	}
	var out notation.Expr = &notation.Reduce{Op: "Σ", Binders: bs, Body: body}
	if minus {
		out = negative(out)
	}
	return out
}

// choice is { yes if cond ; no otherwise }. Inside the branch that is taken the
// condition holds, so choices by it there are settled.
func choice(cond, yes, no notation.Expr) notation.Expr {
	var facts []notation.Expr
	for _, c := range conjuncts(cond) {
		if !slices.ContainsFunc(facts, func(f notation.Expr) bool { return notation.Equal(f, c) }) {
			facts = append(facts, c)
		}
	}
	cond = facts[0]
	for _, c := range facts[1:] {
		cond = &notation.And{X: cond, Y: c}
	}
	yes = settled(yes, facts)
	return &notation.Piecewise{Arms: []*notation.Arm{{Cond: cond, Value: yes}, {Value: no}}}
}

func conjuncts(x notation.Expr) []notation.Expr {
	if a, ok := x.(*notation.And); ok {
		return append(conjuncts(a.X), conjuncts(a.Y)...)
	}
	return []notation.Expr{x}
}

// settled takes the branches of choices that are decided where facts hold.
func settled(x notation.Expr, facts []notation.Expr) notation.Expr {
	holds := func(c notation.Expr) bool {
		return slices.ContainsFunc(facts, func(f notation.Expr) bool { return notation.Equal(f, c) })
	}
	fails := func(c notation.Expr) bool {
		r, ok := c.(*notation.Relation)
		return ok && opposite[r.Op] != "" && holds(&notation.Relation{Op: opposite[r.Op], X: r.X, Y: r.Y})
	}
	switch x := x.(type) {
	case *notation.Piecewise:
		cs := conjuncts(x.Arms[0].Cond)
		switch {
		case !slices.ContainsFunc(cs, func(c notation.Expr) bool { return !holds(c) }):
			return settled(x.Arms[0].Value, facts)
		case slices.ContainsFunc(cs, fails):
			return settled(x.Arms[1].Value, facts)
		}
		return &notation.Piecewise{Arms: []*notation.Arm{{Cond: x.Arms[0].Cond, Value: settled(x.Arms[0].Value, facts)}, {Value: settled(x.Arms[1].Value, facts)}}}
	case *notation.Unary:
		return &notation.Unary{X: settled(x.X, facts)}
	case *notation.Binary:
		return &notation.Binary{Op: x.Op, X: settled(x.X, facts), Y: settled(x.Y, facts)}
	case *notation.Juxt:
		var items []notation.Expr
		for _, it := range x.Items {
			items = append(items, settled(it, facts))
		}
		return row(items...)
	}
	return x
}
