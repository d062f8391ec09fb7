package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// What an innermost loop stores only where somebody wants it gets a loop of its
// own, in front: vectors ask nothing in a lane.
//
//	for j in [0, n)            if kept
//		a = f(x[j])                for j in [0, n)
//		if kept                        kept[j] = f(x[j])
//			kept[j] = a            for j in [0, n)
//		y[j] = g(a)                y[j] = g(f(x[j]))
//
// The scalars that it needs are computed there again.
func asked(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.If:
			n.Body = asked(n.Body)
		case *plan.Loop:
			n.Body = asked(n.Body)
			if innermost(n) && n.Kind != plan.Time {
				out = append(out, wanted(n)...)
				if len(n.Body) == 0 {
					continue
				}
			}
		}
		out = append(out, n)
	}
	return out
}

// wanted takes the statements under a question out of one innermost loop.
func wanted(loop *plan.Loop) []plan.Node {
	var out, rest []plan.Node
	for i, n := range loop.Body {
		if c, ok := n.(*plan.If); ok {
			if own := loopOf(loop, c, i); own != nil {
				out = append(out, &plan.If{Present: c.Present, Body: []plan.Node{own}})
				continue
			}
		}
		rest = append(rest, n)
	}
	if len(out) > 0 {
		loop.Body = living(rest)
	}
	return out
}

// living are the statements without the scalars that nothing mentions any more.
func living(ns []plan.Node) []plan.Node {
	used := map[*plan.Local]bool{}
	var out []plan.Node
	for _, n := range slices.Backward(ns) {
		if let, ok := n.(*plan.Let); ok && !used[let.To] {
			continue
		}
		plan.Walk([]plan.Node{n}, func(n plan.Node) { refs(n, func(l *plan.Local) { used[l] = true }) })
		out = append(out, n)
	}
	slices.Reverse(out)
	return out
}

// loopOf is the loop of a question that stands at place i of another, or nil
// where it cannot go in front: it stores what something else touches, or needs
// what the loop gathers or writes.
func loopOf(loop *plan.Loop, c *plan.If, i int) *plan.Loop {
	if c.Present == nil || len(c.Cond) > 0 {
		return nil
	}
	written := plan.Writes(loop.Body)
	for b := range plan.Writes(c.Body) {
		if touched(loop.Body, c, b) {
			return nil
		}
	}
	needed := map[*plan.Local]bool{}
	for _, n := range c.Body {
		if s, ok := n.(*plan.Store); !ok || s.Add {
			return nil
		}
		refs(n, func(l *plan.Local) { needed[l] = true })
	}
	var lets []plan.Node
	for _, n := range slices.Backward(loop.Body[:i]) {
		switch n := n.(type) {
		case *plan.Acc:
			if needed[n.To] {
				return nil
			}
		case *plan.Let:
			if !needed[n.To] {
				continue
			}
			refs(n, func(l *plan.Local) { needed[l] = true })
			clash := false
			plan.Accesses(n, func(a plan.Access) { clash = clash || written[a.Buf.Base()] })
			if clash {
				return nil
			}
			lets = append(lets, n)
		}
	}
	slices.Reverse(lets)
	return again(loop, append(lets, c.Body...))
}

// touched reports whether statements other than a question use a buffer.
func touched(ns []plan.Node, but *plan.If, b *plan.Buffer) bool {
	found := false
	for _, n := range ns {
		if n != plan.Node(but) {
			plan.Walk([]plan.Node{n}, func(n plan.Node) {
				plan.Accesses(n, func(a plan.Access) { found = found || a.Buf.Base() == b })
			})
		}
	}
	return found
}

// again is a loop with a variable and scalars of its own around copies of Lets
// and stores.
func again(loop *plan.Loop, ns []plan.Node) *plan.Loop {
	out := *loop
	out.Kind, out.Var, out.Body = plan.Plain, &plan.Var{Name: loop.Var.Name}, nil
	own := map[*plan.Local]*plan.Local{}
	access := func(a plan.Access) plan.Access {
		c := plan.Access{Buf: a.Buf}
		for _, x := range a.Index {
			c.Index = append(c.Index, x.Subst(loop.Var, plan.At(out.Var)))
		}
		return c
	}
	expr := func(e plan.Expr) plan.Expr {
		return plan.Rewrite(e, func(e plan.Expr) plan.Expr {
			switch e := e.(type) {
			case plan.Load:
				return plan.Load{Access: access(e.Access)}
			case plan.Ref:
				if l := own[e.To]; l != nil {
					return plan.Ref{To: l}
				}
			case plan.Pos:
				return plan.Pos{Index: e.Index.Subst(loop.Var, plan.At(out.Var))}
			}
			return e
		})
	}
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Let:
			val := expr(n.Val)
			own[n.To] = &plan.Local{Name: n.To.Name, Elem: n.To.Elem}
			out.Body = append(out.Body, &plan.Let{To: own[n.To], Val: val})
		case *plan.Store:
			out.Body = append(out.Body, &plan.Store{To: access(n.To), Vals: []plan.Expr{expr(n.Vals[0])}})
		}
	}
	return &out
}
