package gokernel

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A view is a slice that an innermost loop walks: cut to the length of the
// loop where all else in its address is known, so that the loop itself checks
// no bounds.
//
//	k := c.K[(l*T+t)*dK:][:dK]
//	for j := range dK { s += F(m[j] * k[j]) }
type view struct {
	key  string
	buf  *plan.Buffer
	at   plan.Access // its first entry
	v    *plan.Var   // the loop's variable
	n    *jen.Statement
	lo   string
	size shape.Poly // length of a full loop
	full bool       // of a loop that no guard narrows
	safe bool       // every index is a variable: in range wherever the variables are
	name string
}

// viewOf returns the view of an access in a loop, or nil when the loop does
// not walk it entry by entry.
func (e *kernelEmitter) viewOf(a plan.Access, loop *plan.Loop) *view {
	if len(a.Index) == 0 || len(a.Gathered()) > 0 {
		return nil
	}
	one := shape.Int(1)
	last := len(a.Index) - 1
	if !a.Index[last].Coef(loop.Var).Equal(one) {
		return nil
	}
	first := plan.Access{Buf: a.Buf, Index: append([]plan.Index(nil), a.Index...)}
	safe := true
	for i, x := range a.Index {
		if i < last && !x.Coef(loop.Var).IsZero() {
			return nil
		}
		safe = safe && (x.Var() != nil || len(x.Terms) == 0 && x.Const.IsZero())
	}
	first.Index[last] = a.Index[last].Subst(loop.Var, plan.Index{})
	full := len(loop.Lo) == 1 && len(loop.Hi) == 1
	v := &view{key: viewKey(first, loop), buf: a.Buf, at: first, v: loop.Var, full: full, safe: safe && full}
	if full {
		v.size = loop.Hi[0].Const
		if len(loop.Hi[0].Terms) > 0 {
			return nil
		}
	}
	return v
}

func viewKey(first plan.Access, loop *plan.Loop) string {
	key := fmt.Sprintf("%p", storage(first.Buf))
	for _, d := range first.Buf.Dims {
		key += " " + d.String()
	}
	for _, x := range first.Index {
		for _, t := range x.Terms {
			key += fmt.Sprintf(" %s*%p", t.Coef, t.Var)
		}
		key += "+" + x.Const.String() + ","
	}
	if len(loop.Lo) == 1 && len(loop.Hi) == 1 {
		return key + " to " + loop.Hi[0].String()
	}
	return key + fmt.Sprintf(" in %p", loop)
}

// entry prints an entry of a buffer, through a view when there is one.
func (e *kernelEmitter) entry(a plan.Access) string {
	for _, loop := range e.loops {
		if v := e.viewOf(a, loop); v != nil {
			if name := e.views[v.key]; name != "" && e.counter[loop] != "" {
				return e.inRow(a.Buf, name+"["+e.counter[loop]+"]")
			}
		}
	}
	return e.inRow(a.Buf, e.sliceName(a.Buf)+"["+e.text.Address(a)+"]")
}

// leafViews lists the views of a loop's own statements that are not cut yet.
func (e *kernelEmitter) leafViews(n *plan.Loop) []*view {
	var out []*view
	if e.fused && plan.CopyStore(n) != nil {
		return nil // printed as a copy of slices
	}
	seen := map[string]bool{}
	for _, s := range n.Body {
		switch s.(type) {
		case *plan.Loop, *plan.If, *plan.FindRoot, *plan.Gemm, *plan.TriSolve:
			continue
		}
		plan.EachAccess(s, func(a plan.Access) {
			v := e.viewOf(a, n)
			if v == nil || seen[v.key] || e.views[v.key] != "" || e.whole(v) {
				return
			}
			seen[v.key] = true
			out = append(out, v)
		})
	}
	return out
}

// whole reports whether a view is a whole workspace buffer, which is a slice
// of that length already.
func (e *kernelEmitter) whole(v *view) bool {
	if v.size.IsZero() || v.buf.ViewOf != nil || len(v.buf.Dims) != 1 || !v.buf.Dims[0].Equal(v.size) || e.bufs[storage(v.buf)] == "" {
		return false
	}
	e.views[v.key] = e.bufs[storage(v.buf)]
	return true
}

// cut prints the slices of views.
func (e *kernelEmitter) cut(g *jen.Group, vs []*view) {
	for _, v := range vs {
		v.name = e.scope.Name(nameOf(v.buf), false)
		if v.n == nil {
			v.n = e.poly(v.size)
		}
		from := e.slice(v.buf)
		at := e.text.Address(v.at)
		if v.lo != "" {
			at += " + " + v.lo
		}
		if at != "0" {
			from = from.Index(jen.Id(at).Op(":"))
		}
		g.Id(v.name).Op(":=").Add(from).Index(jen.Op(":").Add(v.n.Clone()))
		e.views[v.key] = v.name
	}
}

func (e *kernelEmitter) uncut(vs []*view) {
	for _, v := range vs {
		delete(e.views, v.key)
	}
}

// cutViews cuts, at the start of a body, the views of all loops inside it
// whose addresses are known here; it returns their keys.
func (e *kernelEmitter) cutViews(g *jen.Group, ns []plan.Node) []string {
	var keys []string
	take := func(loop *plan.Loop, always bool) {
		for _, v := range e.leafViews(loop) {
			if (v.safe || always && v.full) && e.known(v) {
				e.cut(g, []*view{v})
				keys = append(keys, v.key)
			}
		}
	}
	for _, n := range ns {
		if loop, ok := n.(*plan.Loop); ok && e.jammed[loop] == nil {
			take(loop, true) // it runs whenever the body does
		}
	}
	var deep func(ns []plan.Node)
	deep = func(ns []plan.Node) {
		for _, n := range ns {
			if loop, ok := n.(*plan.Loop); ok && e.jammed[loop] == nil {
				take(loop, false)
				deep(loop.Body)
			}
		}
	}
	deep(ns)
	return keys
}

// known reports whether all variables of a view's address are in scope.
func (e *kernelEmitter) known(v *view) bool {
	for _, x := range v.at.Index {
		for _, t := range x.Terms {
			if !e.bound[t.Var] {
				return false
			}
		}
	}
	return true
}

func nameOf(b *plan.Buffer) string {
	if b.CopyOf != nil {
		return b.CopyOf.Name
	}
	return b.Name
}
