package gokernel

import (
	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
)

// root prints a search; package num has its rounds:
//
//	search := num.NewSearch(lo, hi, F(1e-10))
//	for search.More() {
//		x := search.At()
//		…
//		search.Take(r)
//	}
//	zeta := search.Root()
//	if search.Failed() && c.NoRoot == 0 {
//		c.NoRoot = 1
//	}
func (e *kernelEmitter) root(g *jen.Group, n *plan.FindRoot) {
	search := e.scope.Name("search", false)
	call := func(method string) *jen.Statement { return jen.Id(search).Dot(method).Call() }
	g.Id(search).Op(":=").Qual(numPath, "NewSearch").Call(e.top(n.Lo), e.top(n.Hi), code(number(n.Tol)))
	g.For(call("More")).BlockFunc(func(g *jen.Group) {
		mark := e.scope.Mark()
		x := e.scope.Name(n.X.Name, false)
		e.locals[n.X] = x
		g.Id(x).Op(":=").Add(call("At"))
		e.body(g, n.Body)
		g.Id(search).Dot("Take").Call(e.top(n.Val))
		e.scope.Release(mark)
	})
	to := e.scope.Name(n.To.Name, false)
	e.locals[n.To] = to
	g.Id(to).Op(":=").Add(call("Root"))
	status := func() *jen.Statement { return jen.Id("c").Dot("NoRoot") }
	g.If(call("Failed").Op("&&").Add(status()).Op("==").Lit(0)).Block(status().Op("=").Lit(n.Number))
}
