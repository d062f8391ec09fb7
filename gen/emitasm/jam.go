package emitasm

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A nest takes one row after another, and what its lanes gather is one chain of
// additions a row. Where rows do not see each other, some of them run at once:
//
//	for i, four at a time          x0, x1, x2, x3 = 0
//		                           for j { x0 += M[i]·k; x1 += M[i+1]·k; … }
//		                           y[i], y[i+1], … = x0, x1, …
//	for i, those that are left     as it was
//
// They share what they load of k, their chains run beside each other, and their
// sums over lanes are taken together. No sum changes its order.
type jammed struct {
	width int
	body  []plan.Node // of width iterations
	one   []plan.Node // of one
}

// jam returns a nest with the loops around its lanes jammed, as far as that can
// be, and what became of them.
func jam(r *plan.Region, width int) (*plan.Region, map[*plan.Loop]*jammed) {
	if r.Row != nil || width == 1 {
		return r, nil
	}
	jams := map[*plan.Loop]*jammed{}
	out := *r
	out.Body = jamNodes(r.Body, width, jams)
	return &out, jams
}

func jamNodes(ns []plan.Node, width int, jams map[*plan.Loop]*jammed) []plan.Node {
	out := slices.Clone(ns)
	for i, n := range out {
		loop, ok := n.(*plan.Loop)
		if !ok {
			continue
		}
		l := *loop
		if independent(loop) {
			j := &jammed{width, loopopt.UnrollAndJam(loop, width), loop.Body}
			l.Body = append(slices.Clone(j.body), j.one...) // for those who look at all of them
			jams[&l] = j
		} else {
			l.Body = jamNodes(loop.Body, width, jams)
		}
		out[i] = &l
	}
	return out
}

// independent reports whether iterations of a loop may run at once, and gain by
// it: it holds lanes that gather.
func independent(loop *plan.Loop) bool {
	begun, totals, gain := map[*plan.Local]bool{}, map[*plan.Local]bool{}, false
	for _, n := range loop.Body {
		switch n := n.(type) {
		case *plan.Note, *plan.Store:
		case *plan.Accumulate:
			totals[n.To] = !begun[n.To]
		case *plan.Let:
			begun[n.To] = true
		case *plan.Loop:
			if !laneOf(n, loop.Var, begun) {
				return false
			}
			gain = gain || slices.ContainsFunc(n.Body, func(n plan.Node) bool { return gathers(n, loop.Var) })
		default:
			return false
		}
	}
	return gain && !loop.Down && apart(loop) && !read(loop, totals)
}

// read reports whether a row needs what the rows before it have added up.
func read(loop *plan.Loop, totals map[*plan.Local]bool) bool {
	found := false
	plan.Walk(loop.Body, func(n plan.Node) {
		acc, _ := n.(*plan.Accumulate)
		plan.EachRef(n, func(l *plan.Local) { found = found || totals[l] && (acc == nil || acc.To != l) })
	})
	return found
}

// gather_ reports whether a statement of a lane adds up: to a scalar, or over
// rows.
func gathers(n plan.Node, row *plan.Var) bool {
	s, ok := n.(*plan.Store)
	_, acc := n.(*plan.Accumulate)
	return acc || ok && !s.To.Mentions(row)
}

// laneOf reports whether a loop is a lane that is the same for all rows and
// gathers into what a row begins.
func laneOf(n *plan.Loop, row *plan.Var, begun map[*plan.Local]bool) bool {
	for _, x := range append(slices.Clone(n.Lo), n.Hi...) {
		if !x.Coef(row).IsZero() {
			return false
		}
	}
	for _, n := range n.Body {
		switch n := n.(type) {
		case *plan.Accumulate:
			if !begun[n.To] {
				return false
			}
		case *plan.Let, *plan.Store, *plan.Note:
		default:
			return false
		}
	}
	return true
}

// apart reports whether no row touches what another one writes, but for sums over
// rows: entries that one statement alone adds to, each row in its turn.
func apart(loop *plan.Loop) bool {
	for b := range plan.Written(loop.Body) {
		if !ownEntries(loop, b) && !onlySum(loop, b) {
			return false
		}
	}
	return true
}

// ownEntries reports whether all rows keep to entries of their own.
func ownEntries(loop *plan.Loop, b *plan.Buffer) bool {
	var all []plan.Access
	plan.Walk(loop.Body, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) {
			if a.Buf.Base() == b {
				all = append(all, a)
			}
		})
	})
	for k := range all[0].Index {
		if !slices.ContainsFunc(all, func(a plan.Access) bool {
			return a.Buf != all[0].Buf || len(a.Index) <= k || a.Index[k].Var() != loop.Var
		}) {
			return true
		}
	}
	return false
}

// onlySum reports whether rows do nothing with a buffer but add to the same
// entries, in one statement.
func onlySum(loop *plan.Loop, b *plan.Buffer) bool {
	stores, loads, ok := 0, 0, true
	plan.Walk(loop.Body, func(n plan.Node) {
		plan.EachLoad(n, func(a plan.Access) {
			if a.Buf.Base() == b {
				loads++
			}
		})
		if s, is := n.(*plan.Store); is && s.To.Buf.Base() == b {
			stores++
			ok = ok && !s.To.Mentions(loop.Var) && plan.AddsTo(s.Vals[0], s.To)
		}
	})
	return ok && stores == 1 && loads == 1
}
