package gokernel

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// recurrence prints the run of a job and the sum of its blocks:
//
//	workers.Each(L*kern.Blocks(dV), (*stepRows1)(c))
//	kern.AddBlocks(…)
func (e *kernelEmitter) recurrence(g *jen.Group, j *job) {
	for _, n := range e.outer(j) {
		for _, l := range sets(n) { // its parts set it again
			if name := e.locals[l]; name != "" {
				g.Id("_").Op("=").Id(name)
			}
		}
	}
	batch, rows := e.operand(j.batch.Hi[0].Const), e.poly(j.row.Hi[0].Const)
	parts := jen.Qual(kernPath, "Parts").Call(rows)
	if len(j.shared) > 0 {
		parts = jen.Qual(kernPath, "Blocks").Call(rows)
	}
	g.Qual(workersPath, "Each").Call(batch.Op("*").Add(parts), jen.Parens(jen.Op("*").Id(j.name)).Call(jen.Id("c")))
	if len(j.shared) == 0 {
		return
	}
	blocks := func() *jen.Statement { return jen.Qual(kernPath, "Blocks").Call(e.poly(j.row.Hi[0].Const)) }
	g.If(blocks().Op(">").Lit(1)).BlockFunc(func(g *jen.Group) {
		at := e.workEnd()
		for _, b := range j.shared {
			from := jen.Id("c").Dot("Work").Index(e.poly(at).Op(":"))
			g.Qual(kernPath, "AddBlocks").Call(e.slice(b).Index(jen.Op(":").Add(e.poly(b.Len()))), from, e.poly(j.sums()), blocks())
			at = at.Add(b.Len())
		}
	})
}

// part prints the method that computes one part of a job: the rows of one slot
// in one block.
func (e *kernelEmitter) part(f *jen.File, j *job) {
	f.Commentf("%s are the rows of a recurrence of %s.", j.name, e.names.Type)
	f.Type().Id(j.name).Id(e.names.Type).Types(jen.Float32()).Line()
	f.Commentf("Part computes the rows of one block in one sequence.")
	f.Func().Params(jen.Id("c").Op("*").Id(j.name)).Id("Part").Params(jen.Id("part").Int()).BlockFunc(func(g *jen.Group) {
		e.scope.Reserve("part", "block", "first", "last", "scratch", "widths", "rows", "there", "tail")
		g.Type().Id("F").Op("=").Float32()
		outer := e.outer(j)
		e.preamble(g, append(outer, j.batch), append(outer, j.batch))
		e.nodes(g, outer)
		rows := e.poly(j.row.Hi[0].Const)
		count, bounds := "Parts", "PartRows"
		if len(j.shared) > 0 {
			count, bounds = "Blocks", "BlockRows"
		}
		l := e.scope.Name(j.batch.Var.Name, false)
		e.vars[j.batch.Var] = l
		e.bound[j.batch.Var] = true
		g.List(jen.Id(l), jen.Id("block")).Op(":=").List(jen.Id("part").Op("/").Qual(kernPath, count).Call(rows), jen.Id("part").Op("%").Qual(kernPath, count).Call(rows))
		g.List(jen.Id("first"), jen.Id("last")).Op(":=").Qual(kernPath, bounds).Call(jen.Id("block"), rows)
		e.partialSums(g, j, l)
		if j.linked() {
			g.If(jen.Qual(kernPath, "Wide").Call()).BlockFunc(func(g *jen.Group) { e.wideRows(g, j) }).Else().BlockFunc(func(g *jen.Group) { e.plainRows(g, j) })
		} else {
			e.plainRows(g, j)
		}
	}).Line()
}

// linked reports whether there are regions and each has functions.
func (j *job) linked() bool {
	ok, some := true, false
	plan.Walk(j.row.Body, func(n plan.Node) {
		if r, is := n.(*plan.Region); is {
			ok, some = ok && r.Link != nil, true
		}
	})
	return ok && some
}

// partialSums prints where a block adds: the first one to the results, each
// other to zeros of its own.
func (e *kernelEmitter) partialSums(g *jen.Group, j *job, slot string) {
	at := e.workEnd()
	for _, b := range j.shared {
		name := e.scope.Name(b.Name, false)
		g.Id(name).Op(":=").Add(e.slice(b))
		e.bufs[b] = name
	}
	if len(j.shared) == 0 {
		return
	}
	g.If(jen.Id("block").Op(">").Lit(0)).BlockFunc(func(g *jen.Group) {
		for _, b := range j.shared {
			own := shape.Int(1)
			for _, d := range b.Dims[1:] {
				own = own.Mul(d)
			}
			begin := jen.Parens(jen.Id("block").Op("-").Lit(1)).Op("*").Parens(e.poly(j.sums()))
			if !at.IsZero() {
				begin = e.poly(at).Op("+").Add(begin)
			}
			from := jen.Id("c").Dot("Work").Index(begin.Op(":"))
			g.Id(e.bufs[b]).Op("=").Add(from).Index(jen.Op(":").Add(e.poly(b.Len())))
			g.Clear(jen.Id(e.bufs[b]).Index(jen.Id(slot).Op("*").Add(e.operand(own)).Op(":")).Index(jen.Op(":").Add(e.poly(own))))
			at = at.Add(b.Len())
		}
	})
}

// plainRows prints the rows one after another in Go.
func (e *kernelEmitter) plainRows(g *jen.Group, j *job) {
	mark := e.scope.Mark()
	g.Id("scratch").Op(":=").Qual(workersPath, "Borrow").Call(e.ownLen(j, func(b *plan.Buffer) *jen.Statement { return e.poly(b.Len()) }))
	e.cutOwn(g, j, func(b *plan.Buffer) *jen.Statement { return e.poly(b.Len()) })
	i := e.scope.Name(j.row.Var.Name, false)
	e.vars[j.row.Var] = i
	g.For(jen.Id(i).Op(":=").Id("first"), jen.Id(i).Op("<").Id("last"), jen.Id(i).Op("++")).BlockFunc(func(g *jen.Group) {
		e.inside(g, j.row, j.row.Body)
	})
	g.Qual(workersPath, "Return").Call(jen.Id("scratch"))
	e.scope.Release(mark)
}

func (e *kernelEmitter) ownLen(j *job, n func(*plan.Buffer) *jen.Statement) *jen.Statement {
	out := jen.Null()
	for i, b := range j.row.Private {
		if i > 0 {
			out.Op("+")
		}
		out.Add(n(b))
	}
	return out
}

// cutOwn cuts the rows' own buffers out of the scratch.
func (e *kernelEmitter) cutOwn(g *jen.Group, j *job, n func(*plan.Buffer) *jen.Statement) {
	rest := jen.Id("scratch").Dot("Data")
	for i, b := range j.row.Private {
		name := e.scope.Name(b.Name, false)
		e.bufs[b] = name
		if i == len(j.row.Private)-1 {
			g.Id(name).Op(":=").Add(rest.Clone())
			continue
		}
		next := e.scope.Name("rest", false)
		g.List(jen.Id(name), jen.Id(next)).Op(":=").List(rest.Clone().Index(jen.Op(":").Add(n(b))), rest.Clone().Index(n(b).Op(":")))
		rest = jen.Id(next)
	}
}

// wideRows prints the rows in assembly: as many at once as the level's functions
// take, then fewer.
func (e *kernelEmitter) wideRows(g *jen.Group, j *job) {
	mark := e.scope.Mark()
	link := e.firstLink(j)
	widths := jen.Qual(kernPath, "Widths").ValuesFunc(func(g *jen.Group) {
		for _, l := range []string{"neon", "avx2", "avx512"} {
			for _, x := range link.Targets {
				if x.Name == l {
					g.Index().Int().ValuesFunc(func(g *jen.Group) {
						for _, r := range x.Rows {
							g.Lit(r)
						}
					})
				}
			}
		}
	})
	g.Comment(fmt.Sprintf("%s at once.", j.row.Across))
	length := func(b *plan.Buffer) *jen.Statement { return e.operand(b.Len()).Op("*").Id("rows") }
	if j.row.Across == plan.Columns {
		length = func(b *plan.Buffer) *jen.Statement {
			outer, lastDim := split(b)
			n := jen.Qual(kernPath, "RowLen").Call(e.poly(lastDim), jen.Id("rows"))
			if one, ok := outer.Const(); ok && one == 1 {
				return n
			}
			return e.operand(outer).Op("*").Add(n)
		}
	}
	g.Id("widths").Op(":=").Add(widths)
	g.Id("rows").Op(":=").Id("widths").Dot("Most").Call(e.ownLen(j, func(b *plan.Buffer) *jen.Statement { return e.poly(b.Len()) }), jen.Lit(j.row.Across == plan.Rows))
	g.Id("scratch").Op(":=").Qual(workersPath, "Borrow").Call(e.ownLen(j, length))
	if r := e.relay(j); r != nil {
		e.relayed(g, j, r, length)
	} else {
		e.eachRows(g, j, length, func(g *jen.Group) { e.wideBody(g, j, j.row.Body, &start{}) })
	}
	g.Qual(workersPath, "Return").Call(jen.Id("scratch"))
	e.scope.Release(mark)
}

// eachRows prints the loop over rows, as many at once as a function takes.
func (e *kernelEmitter) eachRows(g *jen.Group, j *job, length func(*plan.Buffer) *jen.Statement, body func(g *jen.Group)) {
	i := e.scope.Name(j.row.Var.Name, false)
	e.vars[j.row.Var] = i
	g.For(jen.Id(i).Op(":=").Id("first"), jen.Id(i).Op("<").Id("last"), jen.Id(i).Op("+=").Id("rows")).BlockFunc(func(g *jen.Group) {
		g.Id("rows").Op("=").Id("widths").Dot("Next").Call(jen.Id("rows"), jen.Id("last").Op("-").Id(i), jen.Lit(j.row.Across == plan.Rows))
		if j.row.Across == plan.Rows {
			g.List(jen.Id("there"), jen.Id("tail")).Op(":=").Id("widths").Dot("Tail").Call(jen.Id("rows"), jen.Id("last").Op("-").Id(i))
		}
		e.cutOwn(g, j, length)
		e.bound[j.row.Var] = true
		body(g)
		delete(e.bound, j.row.Var)
	})
}

// split is a row's own buffer as rows of entries: how many, and how long.
func split(b *plan.Buffer) (outer, last shape.Poly) {
	outer = shape.Int(1)
	for _, d := range b.Dims[:len(b.Dims)-1] {
		outer = outer.Mul(d)
	}
	return outer, b.Dims[len(b.Dims)-1]
}

func (e *kernelEmitter) firstLink(j *job) *plan.Link {
	var out *plan.Link
	plan.Walk(j.row.Body, func(n plan.Node) {
		if r, ok := n.(*plan.Region); ok && out == nil {
			out = r.Link
		}
	})
	return out
}

// wideBody prints what rows do: copies between their own buffers and others,
// segments, and calls of regions.
func (e *kernelEmitter) wideBody(g *jen.Group, j *job, ns []plan.Node, from *start) {
	for _, n := range ns {
		switch n := n.(type) {
		case *plan.Note:
		case *plan.If:
			inside := from.at(from.segment)
			g.If(jen.Len(e.slice(n.Present)).Op(">").Lit(0)).BlockFunc(func(g *jen.Group) { e.wideBody(g, j, n.Body, inside) })
			from.meet(inside)
		case *plan.Region:
			from.copied = nil
			tail := jen.Id("tail")
			g.BlockFunc(func(g *jen.Group) { e.regionCall(g, n, jen.Id("rows"), tail) })
		case *plan.Loop:
			if m := plan.RowCopyOf(n, j.row.Private); m != nil {
				e.copyRows(g, j, m, from)
				continue
			}
			e.segments(g, j, n, from)
		}
	}
}

// segments prints the loop over the segments of time.
func (e *kernelEmitter) segments(g *jen.Group, j *job, n *plan.Loop, from *start) {
	mark := e.scope.Mark()
	s := e.scope.Name(n.Var.Name, false)
	e.vars[n.Var] = s
	_, hi := e.bounds(n)
	inside := &start{}
	if !n.Down {
		inside = from.at(s)
	}
	from.copied = nil
	body := func(g *jen.Group) { e.wideBody(g, j, n.Body, inside) }
	if n.Down {
		g.For(jen.Id(s).Op(":=").Add(hi).Op("-").Lit(1), jen.Id(s).Op(">=").Lit(0), jen.Id(s).Op("--")).BlockFunc(body)
	} else {
		g.For(jen.Id(s).Op(":=").Range().Add(hi)).BlockFunc(body)
	}
	e.scope.Release(mark)
}
