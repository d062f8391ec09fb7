package derive

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Sums and choices under conditions.

// sumUnder puts a body under a Σ with conditions; without an index to sum over, conditions
// choose between the body and zero.
func sumUnder(bs []*notation.Binder, conds []notation.Expr, body notation.Expr) notation.Expr {
	cond := conjunction(conds)
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

// choice is { yes if cond ; no otherwise }. Inside the branch that is taken the condition
// holds, so choices by it there are resolved.
func choice(cond, yes, no notation.Expr) notation.Expr {
	var facts []notation.Expr
	for _, c := range conjuncts(cond) {
		if !slices.ContainsFunc(facts, func(f notation.Expr) bool { return notation.Equal(f, c) }) {
			facts = append(facts, c)
		}
	}
	cond = conjunction(facts)
	yes = resolved(yes, facts)
	return &notation.Piecewise{Arms: []*notation.Arm{{Cond: cond, Value: yes}, {Value: no}}}
}

// conjunction is the conditions joined by and, or nil without conditions.
func conjunction(conds []notation.Expr) notation.Expr {
	var out notation.Expr
	for _, c := range conds {
		if out == nil {
			out = c
			continue
		}
		out = &notation.And{X: out, Y: c}
	}
	return out
}

// conjuncts are the conditions that and joins.
func conjuncts(x notation.Expr) []notation.Expr {
	if a, ok := x.(*notation.And); ok {
		return append(conjuncts(a.X), conjuncts(a.Y)...)
	}
	return []notation.Expr{x}
}

// resolved takes the branches of choices that are decided where facts hold.
func resolved(x notation.Expr, facts []notation.Expr) notation.Expr {
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
			return resolved(x.Arms[0].Value, facts)
		case slices.ContainsFunc(cs, fails):
			return resolved(x.Arms[1].Value, facts)
		}
		return &notation.Piecewise{Arms: []*notation.Arm{{Cond: x.Arms[0].Cond, Value: resolved(x.Arms[0].Value, facts)}, {Value: resolved(x.Arms[1].Value, facts)}}}
	case *notation.Unary:
		return &notation.Unary{X: resolved(x.X, facts)}
	case *notation.Binary:
		return &notation.Binary{Op: x.Op, X: resolved(x.X, facts), Y: resolved(x.Y, facts)}
	case *notation.Juxt:
		var items []notation.Expr
		for _, it := range x.Items {
			items = append(items, resolved(it, facts))
		}
		return row(items...)
	}
	return x
}
