package gokernel

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// loop prints a loop. Rows of a recurrence run several at a time, then one at
// a time:
//
//	i := 0
//	for ; i+3 < dV; i += 4 { … }
//	for ; i < dV; i++ { … }
func (e *kernelEmitter) loop(g *jen.Group, n *plan.Loop) {
	if n.Sums > 1 {
		e.partialLoop(g, n)
		return
	}
	blocked := e.jammed[n]
	if blocked == nil {
		e.single(g, n)
		return
	}
	width := e.width[n]
	mark := e.scope.Mark()
	i := e.scope.Name(n.Var.Name, false)
	e.vars[n.Var] = i
	size := e.index(n.Hi[0])
	g.Id(i).Op(":=").Lit(0)
	g.For(jen.Empty(), jen.Id(i).Op("+").Lit(width-1).Op("<").Add(size.Clone()), jen.Id(i).Op("+=").Lit(width)).
		BlockFunc(func(g *jen.Group) { e.inside(g, n, blocked) })
	g.For(jen.Empty(), jen.Id(i).Op("<").Add(size), jen.Id(i).Op("++")).
		BlockFunc(func(g *jen.Group) { e.inside(g, n, n.Body) })
	e.scope.Release(mark)
}

func (e *kernelEmitter) inside(g *jen.Group, n *plan.Loop, body []plan.Node) {
	e.bound[n.Var] = true
	e.loops = append(e.loops, n)
	e.body(g, body)
	e.loops = e.loops[:len(e.loops)-1]
	delete(e.bound, n.Var)
}

// single prints a loop of one iteration at a time.
func (e *kernelEmitter) single(g *jen.Group, n *plan.Loop) {
	leaf := e.leafViews(n)
	lo, hi := e.bounds(n)
	if lo != "" && len(n.Lo) == 1 {
		panic(fmt.Sprintf("gokernel: BUG: a loop of %s starts at %s", e.k.Name, lo))
	}
	if len(n.Lo) == 1 && len(n.Hi) == 1 {
		// A full loop: slices can be cut in front of it. They stay declared in
		// the block around it, so their names are not free again after it.
		e.cut(g, leaf)
		mark := e.scope.Mark()
		e.forRange(g, n, lo, hi)
		e.scope.Release(mark)
		e.uncut(leaf)
		return
	}
	mark := e.scope.Mark()
	defer func() { e.scope.Release(mark) }()
	if len(leaf) == 0 && len(n.Lo) == 1 {
		e.forRange(g, n, lo, hi)
		return
	}
	// if n := min(C, T-C*s); n > 0 { … }
	length := hi
	if lo != "" {
		name := e.scope.Name("lo", false)
		mark = e.scope.Mark()
		g.Id(name).Op(":=").Id(lo)
		lo = name
		length = hi.Op("-").Id(lo)
	}
	count := e.scope.Name("n", false)
	g.If(jen.Id(count).Op(":=").Add(length), jen.Id(count).Op(">").Lit(0)).BlockFunc(func(g *jen.Group) {
		for _, v := range leaf {
			v.lo, v.n = lo, jen.Id(count)
		}
		e.cut(g, leaf)
		e.forRange(g, n, lo, jen.Id(count))
		e.uncut(leaf)
	})
}

// bounds prints the ends of a loop; lo is "" for zero.
func (e *kernelEmitter) bounds(n *plan.Loop) (lo string, hi *jen.Statement) {
	if len(n.Lo) > 1 || len(n.Lo[0].Terms) > 0 || !n.Lo[0].Const.IsZero() {
		lo = e.text.Lo(n)
	}
	return lo, jen.Id(e.text.Hi(n))
}

// count names the counter of a loop.
func (e *kernelEmitter) count(n *plan.Loop) string {
	j := e.scope.Name(n.Var.Name, false)
	e.vars[n.Var], e.counter[n] = j, j
	if e.inLoop != nil {
		e.inLoop(j)
		e.inLoop = nil
	}
	return j
}

// forRange prints for j := range n, or for j := n - 1; j >= 0; j--. The counter
// of a loop that begins at lo starts at zero, as the slices in it do.
func (e *kernelEmitter) forRange(g *jen.Group, n *plan.Loop, lo string, count *jen.Statement) {
	used := e.inLoop != nil || mentions(n.Body, n.Var)
	j := e.count(n)
	if lo != "" {
		e.vars[n.Var] = "(" + lo + " + " + j + ")"
	}
	body := func(g *jen.Group) { e.inside(g, n, n.Body) }
	switch {
	case n.Down:
		g.For(jen.Id(j).Op(":=").Add(count).Op("-").Lit(1), jen.Id(j).Op(">=").Lit(0), jen.Id(j).Op("--")).BlockFunc(body)
	case used:
		g.For(jen.Id(j).Op(":=").Range().Add(count)).BlockFunc(body)
	default:
		g.For(jen.Range().Add(count)).BlockFunc(body)
	}
}

// mentions reports whether nodes use a variable.
func mentions(ns []plan.Node, v *plan.Var) bool {
	found := false
	look := func(x plan.Index) { found = found || !x.Coef(v).IsZero() }
	plan.Walk(ns, func(n plan.Node) {
		plan.EachAccess(n, func(a plan.Access) {
			for _, x := range a.Index {
				look(x)
			}
		})
		plan.EachExpr(n, func(x plan.Expr) {
			if p, ok := x.(plan.IndexExpr); ok {
				look(p.Index)
			}
		})
		switch n := n.(type) {
		case *plan.Loop:
			for _, x := range append(append([]plan.Index{}, n.Lo...), n.Hi...) {
				look(x)
			}
		case *plan.If:
			for _, x := range n.Cond {
				look(x)
			}
		case *plan.Gather:
			look(n.Plus)
		}
	})
	return found
}

// A sizeUse collects the sizes that a body mentions.
type sizeUse struct{ used map[string]bool }

func (u *sizeUse) poly(p shape.Poly) {
	for _, s := range p.Symbols() {
		u.used[s] = true
	}
}

func (u *sizeUse) index(x plan.Index) {
	u.poly(x.Const)
	for _, t := range x.Terms {
		u.poly(t.Coef)
	}
}

// access counts the sizes of a row-major address: all but the first.
func (u *sizeUse) access(a plan.Access) {
	started := false
	for i, x := range a.Index {
		if started {
			u.poly(a.Buf.Dims[i])
		}
		started = started || len(x.Terms) > 0 || !x.Const.IsZero()
		u.index(x)
	}
	for _, p := range a.Gathered() {
		u.poly(p.Bound)
	}
}

func (u *sizeUse) nodes(ns []plan.Node) {
	plan.Walk(ns, func(n plan.Node) {
		plan.EachAccess(n, u.access)
		plan.EachExpr(n, func(x plan.Expr) {
			if p, ok := x.(plan.IndexExpr); ok {
				u.index(p.Index)
			}
		})
		switch n := n.(type) {
		case *plan.Loop:
			for _, x := range append(append([]plan.Index{}, n.Lo...), n.Hi...) {
				u.index(x)
			}
		case *plan.If:
			for _, x := range n.Cond {
				u.index(x)
			}
		case *plan.Gather:
			u.index(n.Plus)
		case *plan.Gemm:
			for _, p := range []shape.Poly{n.M, n.N, n.K, n.A.Row, n.A.Col, n.B.Row, n.B.Col, n.C.Row, n.C.Col} {
				u.poly(p)
			}
		case *plan.TriSolve:
			for _, p := range []shape.Poly{n.M, n.N, n.X.Row, n.X.Col, n.A.Row, n.A.Col} {
				u.poly(p)
			}
		}
	})
}
