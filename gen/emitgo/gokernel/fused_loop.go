package gokernel

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
)

// partialLoop prints a loop with partial sums:
//
//	s := [16]F{x}
//	for j := range n { s[j%16] = num.FMA32(a[j], b[j], s[j%16]) }
//	x = kern.Sum16(&s)
func (e *kernelEmitter) partialLoop(g *jen.Group, n *plan.Loop) {
	type gathered struct {
		to    *plan.Local
		outer string
		max   bool
		array string
	}
	var all []gathered
	for _, s := range n.Body {
		if a, ok := s.(*plan.Accumulate); ok {
			all = append(all, gathered{to: a.To, outer: e.locals[a.To], max: a.Max})
		}
	}
	for i := range all {
		x := &all[i]
		x.array = e.scope.Name(x.to.Name+".sums", false)
		if x.max {
			g.Id(x.array).Op(":=").Qual(kernPath, fmt.Sprintf("Lowest%d", n.Sums)).Call()
		} else {
			g.Id(x.array).Op(":=").Index(jen.Lit(n.Sums)).Id("F").Values(jen.Id(x.outer))
		}
	}
	plain := *n
	plain.Sums = 0
	e.inLoop = func(counter string) {
		for _, x := range all {
			e.locals[x.to] = fmt.Sprintf("%s[%s%%%d]", x.array, counter, n.Sums)
		}
	}
	e.loop(g, &plain)
	for _, x := range all {
		e.locals[x.to] = x.outer
		total := jen.Qual(kernPath, fmt.Sprintf("%s%d", map[bool]string{false: "Sum", true: "Top"}[x.max], n.Sums)).Call(jen.Op("&").Id(x.array))
		if x.max {
			total = jen.Qual(kernPath, "Gather").Call(jen.Id(x.outer), total)
		}
		g.Id(x.outer).Op("=").Add(total)
	}
}

// copied prints a loop that copies entries side by side.
func (e *kernelEmitter) copied(g *jen.Group, n *plan.Loop, s *plan.Store) {
	lo, hi := e.bounds(n)
	if lo != "" || len(n.Hi) > 1 {
		e.loop(g, n)
		return
	}
	first := func(a plan.Access) *jen.Statement {
		x := plan.Access{Buf: a.Buf}
		for _, i := range a.Index {
			x.Index = append(x.Index, i.Subst(n.Var, plan.Index{}))
		}
		out := e.slice(a.Buf)
		if at := e.text.Address(x); at != "0" {
			out = out.Index(jen.Id(at).Op(":"))
		}
		return out.Index(jen.Op(":").Add(hi.Clone()))
	}
	from := s.Vals[0].(plan.Load).Access
	g.Copy(first(s.To), first(from))
}

// transposed prints loops that copy rows to columns.
func (e *kernelEmitter) transposed(g *jen.Group, t *plan.Transposition) {
	to := e.slice(t.To.Buf)
	if at := e.text.Address(t.To); at != "0" {
		to = to.Index(jen.Id(at).Op(":"))
	}
	g.Qual(kernPath, "Transposed").Call(to, e.poly(t.Step), e.slice(t.From.Buf), jen.Id(e.text.Address(t.From)), e.poly(t.Stride), e.index(t.Rows), e.index(t.N))
}
