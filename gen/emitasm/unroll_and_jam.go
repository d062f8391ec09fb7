package emitasm

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A nest takes one row after another, and what its vector loops accumulate is one chain of
// additions a row. Where rows are independent, some of them run at once (unroll-and-jam):
//
//	for i, four at a time          x0, x1, x2, x3 = 0
//		                           for j { x0 += M[i]·k; x1 += M[i+1]·k; … }
//		                           y[i], y[i+1], … = x0, x1, …
//	for i, those that are left     as it was
//
// They share what they load of k, their accumulators are independent, and their
// sums over lanes are taken together. No sum changes its order.
type jammedLoop struct {
	width int
	body  []plan.Node // of width iterations
	one   []plan.Node // of one
}

// jam returns a nest with the loops around its vector loops unrolled and jammed, as far as that can
// be, and what became of them.
func jam(r *plan.Region, width int) (*plan.Region, map[*plan.Loop]*jammedLoop) {
	if r.Row != nil || width == 1 {
		return r, nil
	}
	jams := map[*plan.Loop]*jammedLoop{}
	out := *r
	out.Body = jamNodes(r.Body, width, jams)
	return &out, jams
}

func jamNodes(ns []plan.Node, width int, jams map[*plan.Loop]*jammedLoop) []plan.Node {
	out := slices.Clone(ns)
	for i, n := range out {
		loop, ok := n.(*plan.Loop)
		if !ok {
			continue
		}
		if registerSumsOf(loop) != nil {
			continue
		}
		if inner := interchanged(loop); inner != nil {
			loop = inner
		}
		l := *loop
		if independent(loop) {
			j := &jammedLoop{width, loopopt.UnrollAndJam(loop, width), loop.Body}
			l.Body = append(slices.Clone(j.body), j.one...) // for passes over all of them
			jams[&l] = j
		} else {
			l.Body = jamNodes(loop.Body, width, jams)
		}
		out[i] = &l
	}
	return out
}

// interchanged exchanges a loop and the only loop inside of it where the inner one's
// iterations keep to entries of their own, so that each entry is added to in the same
// order, and where iterations of the outer one can then be jammed; otherwise nil. It serves
// scatters over a window, of which each head is a loop.
func interchanged(outer *plan.Loop) *plan.Loop {
	if outer.Down || len(outer.Body) != 1 {
		return nil
	}
	inner, ok := outer.Body[0].(*plan.Loop)
	if !ok || inner.Down || !loopsAndStores(inner.Body) {
		return nil
	}
	for _, x := range append(slices.Clone(inner.Lo), inner.Hi...) {
		if !x.Coef(outer.Var).IsZero() {
			return nil
		}
	}
	for b := range plan.Written(inner.Body) {
		if !ownEntries(inner, b) {
			return nil
		}
	}
	in, out := *inner, *outer
	out.Body = inner.Body
	in.Body = []plan.Node{&out}
	if !independent(&out) {
		return nil
	}
	return &in
}

// loopsAndStores reports whether nodes are loops, scalars of their own and stores alone.
func loopsAndStores(ns []plan.Node) bool {
	only := true
	plan.Walk(ns, func(n plan.Node) {
		switch n.(type) {
		case *plan.Loop, *plan.Let, *plan.Store, *plan.Note:
		default:
			only = false
		}
	})
	return only
}

// independent reports whether iterations of a loop may run at once, and gain by
// it: it contains vector loops that accumulate, or in which iterations share what they
// load.
func independent(loop *plan.Loop) bool {
	begun, totals, gain := map[*plan.Local]bool{}, map[*plan.Local]bool{}, false
	mayShare := true // entries that all rows add to
	for _, n := range loop.Body {
		switch n := n.(type) {
		case *plan.Note, *plan.Store:
		case *plan.Accumulate:
			totals[n.To] = !begun[n.To]
		case *plan.Let:
			begun[n.To] = true
		case *plan.Loop:
			if sumsOfRow(n, loop.Var) {
				gain, mayShare = true, false
				continue
			}
			if !vectorLoopOf(n, loop.Var, begun) {
				return false
			}
			gain = gain || slices.ContainsFunc(n.Body, func(n plan.Node) bool { return accumulates(n, loop.Var) }) || shares(n, loop.Var)
		default:
			return false
		}
	}
	return gain && !loop.Down && independentRows(loop, mayShare) && !readsTotals(loop, totals)
}

// readsTotals reports whether a row needs what the rows before it have added up.
func readsTotals(loop *plan.Loop, totals map[*plan.Local]bool) bool {
	found := false
	plan.Walk(loop.Body, func(n plan.Node) {
		acc, _ := n.(*plan.Accumulate)
		plan.EachRef(n, func(l *plan.Local) { found = found || totals[l] && (acc == nil || acc.To != l) })
	})
	return found
}

// accumulates reports whether a statement of a vector loop adds up: to a scalar, or over
// rows.
func accumulates(n plan.Node, row *plan.Var) bool {
	s, ok := n.(*plan.Store)
	_, acc := n.(*plan.Accumulate)
	return acc || ok && !s.To.Mentions(row)
}

// shares reports whether a vector loop adds to entries of each row products with a vector
// that is the same for all rows.
func shares(loop *plan.Loop, row *plan.Var) bool {
	adds, shared := false, false
	for _, n := range loop.Body {
		if s, ok := n.(*plan.Store); ok {
			adds = adds || plan.AddsTo(s.Vals[0], s.To)
		}
		plan.EachLoad(n, func(a plan.Access) { shared = shared || a.Mentions(loop.Var) && !a.Mentions(row) })
	}
	return adds && shared
}

// sumsOfRow reports whether a loop adds up in registers, in a nest that is the same for all rows.
func sumsOfRow(n *plan.Loop, row *plan.Var) bool {
	r := registerSumsOf(n)
	if r == nil {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(n.Lo, n.Hi, r.inner.Hi), func(x plan.Index) bool { return !x.Coef(row).IsZero() })
}

// vectorLoopOf reports whether a loop is a vector loop that is the same for all rows and
// accumulates into what a row begins.
func vectorLoopOf(n *plan.Loop, row *plan.Var, begun map[*plan.Local]bool) bool {
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

// independentRows reports whether no row touches what another one writes, but for sums over
// rows where they may share these: entries that one statement alone adds to, each row in its turn.
func independentRows(loop *plan.Loop, mayShare bool) bool {
	for b := range plan.Written(loop.Body) {
		if !ownEntries(loop, b) && !(mayShare && onlySum(loop, b)) {
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
	varies := map[any]bool{}
	plan.Walk(loop.Body, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Loop:
			varies[n.Var] = true
		case *plan.Gather:
			varies[n.To] = true
		}
	})
	for k, x := range all[0].Index {
		if c, ok := x.Coef(loop.Var).Const(); !ok || c == 0 || slices.ContainsFunc(x.Terms, func(t plan.Term) bool { return varies[t.Var] }) {
			continue
		}
		if !slices.ContainsFunc(all, func(a plan.Access) bool {
			return a.Buf != all[0].Buf || len(a.Index) <= k || !sameIndex(a.Index[k], x)
		}) {
			return true
		}
	}
	return false
}

// sameIndex reports whether two subscripts are the same.
func sameIndex(x, y plan.Index) bool {
	return x.Const.Equal(y.Const) && slices.EqualFunc(x.Terms, y.Terms, func(a, b plan.Term) bool { return a.Var == b.Var && a.Coef.Equal(b.Coef) })
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
