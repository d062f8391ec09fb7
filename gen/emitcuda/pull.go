package emitcuda

import (
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A scatter at a shift is a gather at the opposite shift, over all entries of what it adds to: each
// of these has one thread then, which also clears it.
//
//	for j in [0, r)                    for p in [0, n)
//	    p = offset[] + j                   o = offset[]
//	    y[p] += x[j]                       y[p] += x[p − o]        where that is in [0, r), else 0

// pulled turns the scatters of a body, as far as they have this form, into gathers.
func pulled(body []plan.Node) []plan.Node {
	out := make([]plan.Node, len(body))
	for i, n := range body {
		out[i] = n
		if outer, ok := n.(*plan.Loop); ok {
			if g := pull(outer); g != nil {
				out[i] = g
			}
		}
	}
	return out
}

// pull is a nest of loops around one scatter as a gather, or nil.
func pull(outer *plan.Loop) *plan.Loop {
	var loops []*plan.Loop // before the pick, outermost first
	var pick *plan.Gather
	var inner plan.Node // behind it
	for n := plan.Node(outer); pick == nil; {
		l, ok := n.(*plan.Loop)
		if !ok || !whole(l) {
			return nil
		}
		loops = append(loops, l)
		switch body := plan.WithoutNotes(l.Body); {
		case len(body) == 1:
			n = body[0]
		case len(body) == 2:
			if pick, ok = body[0].(*plan.Gather); !ok {
				return nil
			}
			inner = body[1]
		default:
			return nil
		}
	}
	store := inner
	for {
		l, ok := store.(*plan.Loop)
		if !ok {
			break
		}
		body := plan.WithoutNotes(l.Body)
		if !whole(l) || len(body) != 1 {
			return nil
		}
		store = body[0]
	}
	s, ok := store.(*plan.Store)
	last := loops[len(loops)-1]
	j := last.Var
	if !ok || !s.Add || len(s.Vals) != 1 || pick.From.Mentions(j) || pick.Plus.Var() != j {
		return nil
	}
	from, ok := s.Vals[0].(plan.Load)
	if !ok || from.Access.Buf.Base() == s.To.Buf.Base() {
		return nil
	}
	axis := only(s.To, pick.To)
	read := only(from.Access, j)
	if axis < 0 || read < 0 || s.To.Mentions(j) || from.Access.Mentions(pick.To) || !from.Access.Buf.Dims[read].Equal(last.Hi[0].Const) {
		return nil
	}
	entry, shift := &plan.Var{Name: pick.To.Name}, &plan.Var{Name: "shift", Gathered: true}
	copied := plan.Substitute(nil, map[*plan.Var]plan.Index{pick.To: plan.At(entry), j: plan.At(entry).Add(plan.At(shift), shape.Int(-1))})
	var nest plan.Node = &plan.Loop{Kind: last.Kind, Var: entry, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(s.To.Buf.Dims[axis])},
		Body: []plan.Node{&plan.Gather{To: shift, From: pick.From}, copied.Node(inner)}}
	for i := len(loops) - 2; i >= 0; i-- {
		l := *loops[i]
		l.Body = []plan.Node{nest}
		nest = &l
	}
	return nest.(*plan.Loop)
}

// whole reports whether a loop without an order runs from 0 to a size.
func whole(l *plan.Loop) bool {
	return l.Kind == plan.Plain && !l.Down && len(l.Private) == 0 && len(l.Lo) == 1 && l.Lo[0].Equal(plan.Index{}) && len(l.Hi) == 1 && len(l.Hi[0].Terms) == 0
}

// only is the index of an access that is a variable, which no other index mentions; -1 for none.
func only(a plan.Access, v *plan.Var) int {
	at := -1
	for i, x := range a.Index {
		switch {
		case x.Coef(v).IsZero():
		case at >= 0 || x.Var() != v:
			return -1
		default:
			at = i
		}
	}
	return at
}
