package emitasm

import (
	"github.com/nl-hecate/hecate/gen/plan"
)

// With rows side by side, a token of a recurrence passes over the state twice:
// once to ask it (the error wants M·k), once to write it. The question of a
// token can be asked while the token before writes, entry by entry, so that the
// state passes through the registers once a token:
//
//	x = 0; for j { x += M[j]·k[0, j] }        ahead: the first token's question
//	time a { n = next a                       what the last token asks is dropped
//		e = x − v[a]
//		x = 0
//		for j { M[j] = …; y += …; x += M[j]·k[n, j] } }
//
// The order of every sum stays as it was.

// A rotated loop over time.
type rotated struct {
	ahead []plan.Node // in front of the loop, at its first iteration
	next  *plan.Next
	body  []plan.Node
}

// ahead returns the region with its loop over time rotated, where it can be.
// The loop's body then begins with a Next, and what runs before the loop is
// found by rotate.
func ahead(r *plan.Region) *plan.Region {
	loop, ok := r.Body[0].(*plan.Loop)
	if r.Across != plan.Rows || !ok || loop.Kind != plan.Time || loop.Down {
		return r
	}
	body := turned(loop)
	if body == nil {
		return r
	}
	l, out := *loop, *r
	l.Body = body
	out.Body = []plan.Node{&l}
	return &out
}

// turned is the body of a loop over time, its first lane moved into the last of
// the iteration before. The statements of the first iteration follow a Next at
// the front, up to and with their lane.
func turned(loop *plan.Loop) []plan.Node {
	first, last := -1, -1
	for i, n := range loop.Body {
		if _, ok := n.(*plan.Loop); ok {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first == last {
		return nil
	}
	ask, write := loop.Body[first].(*plan.Loop), loop.Body[last].(*plan.Loop)
	sums := asks(ask)
	if sums == nil || ask.Sums != write.Sums || !sameEnd(ask, write) || used(sums, write.Body) || used(sums, loop.Body[last+1:]) {
		return nil
	}
	starts := map[*plan.Local]plan.Node{}
	for _, n := range loop.Body[:first] {
		let, ok := n.(*plan.Let)
		if _, note := n.(*plan.Note); note {
			continue
		}
		if !ok || !sums[let.To] {
			return nil
		}
		starts[let.To] = let
	}
	next := &plan.Next{To: &plan.Var{Name: loop.Var.Name + ".next"}, Of: loop.Var}
	out := []plan.Node{next}
	out = append(out, loop.Body[:first+1]...)
	out = append(out, loop.Body[first+1:last]...)
	for _, n := range loop.Body[:first] {
		if _, ok := n.(*plan.Let); ok {
			out = append(out, n)
		}
	}
	both := *write
	both.Body = append(append([]plan.Node(nil), write.Body...), moved(ask, write.Var, loop.Var, next.To)...)
	out = append(out, &both)
	return append(out, loop.Body[last+1:]...)
}

// asks are the scalars that a lane gathers, or nil when it does anything else.
func asks(lane *plan.Loop) map[*plan.Local]bool {
	sums := map[*plan.Local]bool{}
	for _, n := range lane.Body {
		switch n := n.(type) {
		case *plan.Acc:
			if n.Max {
				return nil
			}
			sums[n.To] = true
		case *plan.Note:
		default:
			return nil
		}
	}
	return sums
}

func sameEnd(a, b *plan.Loop) bool {
	return len(a.Hi) == 1 && len(b.Hi) == 1 && a.Hi[0].Equal(b.Hi[0])
}

// used reports whether statements mention one of the scalars.
func used(sums map[*plan.Local]bool, ns []plan.Node) bool {
	found := false
	plan.Walk(ns, func(n plan.Node) {
		plan.Exprs(n, func(e plan.Expr) plan.Expr {
			plan.Visit(e, func(e plan.Expr) {
				if r, ok := e.(plan.Ref); ok && sums[r.To] {
					found = true
				}
			})
			return e
		})
		if a, ok := n.(*plan.Acc); ok && sums[a.To] {
			found = true
		}
	})
	return found
}

// moved is a lane's body at the next token, over another lane's columns.
func moved(lane *plan.Loop, column, token, next *plan.Var) []plan.Node {
	index := func(x plan.Index) plan.Index {
		x = x.Subst(token, plan.At(next))
		if lane.Var != column {
			x = x.Subst(lane.Var, plan.At(column))
		}
		return x
	}
	var out []plan.Node
	for _, n := range lane.Body {
		a, ok := n.(*plan.Acc)
		if !ok {
			continue
		}
		val := plan.Rewrite(a.Val, func(e plan.Expr) plan.Expr {
			l, ok := e.(plan.Load)
			if !ok {
				return e
			}
			at := plan.Access{Buf: l.Buf}
			for _, x := range l.Index {
				at.Index = append(at.Index, index(x))
			}
			return plan.Load{Access: at}
		})
		out = append(out, &plan.Acc{To: a.To, Set: a.Set, Val: val})
	}
	return out
}

// rotate finds the parts of a loop over time that was rotated.
func (f *function) rotate(n *plan.Loop) *rotated {
	if len(n.Body) == 0 {
		return nil
	}
	next, ok := n.Body[0].(*plan.Next)
	if !ok {
		return nil
	}
	for i, x := range n.Body {
		if _, lane := x.(*plan.Loop); lane {
			return &rotated{n.Body[1 : i+1], next, n.Body[i+1:]}
		}
	}
	return nil
}

// next sets the variable of a Next.
func (f *function) next(n *plan.Next, at, end string) {
	f.emit("MOVQ %s, AX", at)
	f.emit("INCQ AX")
	f.emit("CMPQ AX, %s", end)
	f.emit("CMOVQGE %s, AX", at)
	f.emit("MOVQ AX, %s", f.counter[n.To])
}
