package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
)

// What an innermost loop stores only into a buffer that may be missing gets a loop of its
// own, in front: a vector loop has no condition.
//
//	for j in [0, n)            if kept
//		a = f(x[j])                for j in [0, n)
//		if kept                        kept[j] = f(x[j])
//			kept[j] = a            for j in [0, n)
//		y[j] = g(a)                y[j] = g(f(x[j]))
//
// The scalars that it needs are computed there again.
func splitOptional(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.If:
			n.Body = splitOptional(n.Body)
		case *plan.Loop:
			n.Body = splitOptional(n.Body)
			if innermost(n) && n.Kind != plan.Time {
				out = append(out, splitLoop(n)...)
				if len(n.Body) == 0 {
					continue
				}
			}
		}
		out = append(out, n)
	}
	return out
}

// splitLoop takes the conditional statements out of one innermost loop.
func splitLoop(loop *plan.Loop) []plan.Node {
	var out, rest []plan.Node
	for i, n := range loop.Body {
		if c, ok := n.(*plan.If); ok {
			if own := optionalLoop(loop, c, i); own != nil {
				out = append(out, &plan.If{Present: c.Present, Body: []plan.Node{own}})
				continue
			}
		}
		rest = append(rest, n)
	}
	if len(out) > 0 {
		loop.Body = withoutDead(rest)
	}
	return out
}

// withoutDead are the statements without the scalars that nothing mentions any more.
func withoutDead(ns []plan.Node) []plan.Node {
	used := map[*plan.Local]bool{}
	var out []plan.Node
	for _, n := range slices.Backward(ns) {
		if let, ok := n.(*plan.Let); ok && !used[let.To] {
			continue
		}
		plan.Walk([]plan.Node{n}, func(n plan.Node) { plan.EachRef(n, func(l *plan.Local) { used[l] = true }) })
		out = append(out, n)
	}
	slices.Reverse(out)
	return out
}

// optionalLoop is the loop of a condition at position i of another, or nil
// where it cannot go in front: it stores what other statements use, or needs
// what the loop accumulates, gathers or writes.
func optionalLoop(loop *plan.Loop, c *plan.If, i int) *plan.Loop {
	if c.Present == nil || len(c.Cond) > 0 {
		return nil
	}
	for b := range plan.Written(c.Body) {
		if touched(loop.Body, c, b) {
			return nil
		}
	}
	for _, n := range c.Body {
		if s, ok := n.(*plan.Store); !ok || s.Add {
			return nil
		}
	}
	lets, ok := needs(loop, c, i)
	if !ok {
		return nil
	}
	out, locals := *loop, map[*plan.Local]*plan.Local{}
	out.Kind, out.Var = plan.Plain, &plan.Var{Name: loop.Var.Name}
	change := plan.Substitute(locals, map[*plan.Var]plan.Index{loop.Var: plan.At(out.Var)})
	for _, let := range lets {
		locals[let.To] = &plan.Local{Name: let.To.Name, Elem: let.To.Elem}
	}
	out.Body = nil
	for _, let := range lets {
		out.Body = append(out.Body, change.Node(let))
	}
	out.Body = append(out.Body, change.Nodes(c.Body)...)
	return &out
}

// needs are the scalars of a loop that a condition at position i needs, in order. It
// reports false where one of them, or the condition itself, is not the same in
// front of the loop.
func needs(loop *plan.Loop, c *plan.If, i int) (lets []*plan.Let, ok bool) {
	written, needed := plan.Written(loop.Body), map[*plan.Local]bool{}
	ok = true
	take := func(n plan.Node) {
		plan.EachRef(n, func(l *plan.Local) { needed[l] = true })
		plan.EachLoad(n, func(a plan.Access) { ok = ok && !written[a.Buf.Base()] })
	}
	for _, n := range c.Body {
		take(n)
	}
	for _, n := range slices.Backward(loop.Body[:i]) {
		switch n := n.(type) {
		case *plan.Accumulate:
			ok = ok && !needed[n.To]
		case *plan.Gather:
			ok = false
		case *plan.Let:
			if needed[n.To] {
				take(n)
				lets = append(lets, n)
			}
		}
	}
	slices.Reverse(lets)
	return lets, ok
}

// touched reports whether statements other than a condition use a buffer.
func touched(ns []plan.Node, but *plan.If, b *plan.Buffer) bool {
	rest := slices.DeleteFunc(slices.Clone(ns), func(n plan.Node) bool { return n == plan.Node(but) })
	for a := range plan.Accesses(rest) {
		if a.Buf.Base() == b {
			return true
		}
	}
	return false
}
