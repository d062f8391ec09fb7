package gokernel

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// run prints the method Run: sizes, the parts of the workspace, the body.
func (e *kernelEmitter) run(f *jen.File) {
	f.Commentf("Run computes %s.", e.k.Name)
	e.method(f, "Run").BlockFunc(func(g *jen.Group) {
		if b := e.firstResult(); e.k.Archive != "" && b != nil {
			g.If(jen.Qual(devicePath, "Run").Call(jen.Id("c"), jen.Lit(e.k.Archive), jen.Id("c").Dot(e.names.Buffers[b]))).Block(jen.Return())
		}
		if e.k.Fused != nil {
			name := gotext.LowerFirst(e.names.Type) + "Fused"
			g.If(jen.List(jen.Id("f"), jen.Id("ok")).Op(":=").Id("any").Call(jen.Id("c")).Assert(jen.Op("*").Id(e.names.Type).Types(jen.Float32())),
				jen.Id("ok").Op("&&").Qual(kernPath, "Fused").Call()).Block(
				jen.Parens(jen.Op("*").Id(name)).Call(jen.Id("f")).Dot("run").Call(), jen.Return())
		}
		e.declareSizes(g, e.usedSizes())
		e.workspaceSlices(g)
		if len(e.k.Roots()) > 0 {
			g.Id("c").Dot("NoRoot").Op("=").Lit(0)
		}
		e.nodes(g, e.k.Body)
	}).Line()
}

// firstResult is a result of numbers that every call has: where it is, the kernel runs.
func (e *kernelEmitter) firstResult() *plan.Buffer {
	for _, b := range e.k.Params {
		if b.Role == plan.Write && b.Elem == ir.Real && !b.Optional {
			return b
		}
	}
	return nil
}

// usedSizes lists the sizes that the body's text mentions.
func (e *kernelEmitter) usedSizes() []string {
	u := &sizeUse{used: map[string]bool{}}
	for _, w := range e.fields() {
		for _, b := range e.workspace(w) {
			u.poly(b.Len())
		}
	}
	u.nodes(e.k.Body)
	var out []string
	for _, s := range e.k.Sizes {
		if u.used[s] {
			out = append(out, s)
		}
	}
	for _, q := range e.k.Ceils {
		if u.used[q.Name] {
			out = append(out, q.Name)
		}
	}
	return out
}

// workspaceSlices cuts the workspace:
//
//	work := c.Work
//	a := work[:dK]
//	work = work[dK:]
func (e *kernelEmitter) workspaceSlices(g *jen.Group) {
	for _, w := range e.fields() {
		if w.operands {
			continue // each where it is made
		}
		own := e.workspace(w)
		rest := strings.ToLower(w.name[:1]) + w.name[1:]
		for i, b := range own {
			e.bufs[b] = e.scope.Name(b.Name, false)
			from := jen.Id(rest)
			if i == 0 {
				from = jen.Id("c").Dot(w.name)
			}
			g.Id(e.bufs[b]).Op(":=").Add(from.Clone()).Index(jen.Op(":").Add(e.poly(b.Len()))).Comment(gotext.ShapeText(b))
			if i == len(own)-1 {
				continue
			}
			op := "="
			if i == 0 {
				op = ":="
			}
			g.Id(rest).Op(op).Add(from).Index(e.poly(b.Len()).Op(":"))
		}
	}
}

func (e *kernelEmitter) nodes(g *jen.Group, ns []plan.Node) {
	for _, n := range clike.Statements(ns) {
		e.node(g, n)
	}
}

// body prints the inside of a loop: first the slices that can be cut here.
func (e *kernelEmitter) body(g *jen.Group, ns []plan.Node) {
	e.depth++
	mark := e.scope.Mark()
	cut := e.cutViews(g, ns)
	e.nodes(g, ns)
	for _, key := range cut {
		delete(e.views, key)
	}
	e.scope.Release(mark)
	e.depth--
}

func (e *kernelEmitter) node(g *jen.Group, n plan.Node) {
	switch n := n.(type) {
	case *plan.Note:
		if e.depth == 0 {
			g.Line()
		}
		g.Comment(clike.NoteText(n))
	case *plan.Loop:
		for _, j := range e.jobs {
			if j.batch == n {
				e.recurrence(g, j)
				return
			}
		}
		if s := plan.CopyStore(n); s != nil && e.fused {
			e.copied(g, n, s)
			return
		}
		if t := plan.TransposeOf(n); t != nil && e.fused {
			e.transposed(g, t)
			return
		}
		e.loop(g, n)
	case *plan.Region:
		e.region(g, n)
	case *plan.If:
		e.branch(g, n)
	case *plan.FindRoot:
		e.root(g, n)
	case *plan.Let:
		e.let(g, n)
	case *plan.Gather:
		v := e.scope.Name(n.To.Name, false)
		val := "int(" + e.text.Expr(plan.Load{Access: n.From}) + ")"
		if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
			val = e.text.Plus(val, n.Plus)
		}
		e.vars[n.To] = v
		g.Id(v).Op(":=").Add(code(val))
	case *plan.Accumulate:
		e.acc(g, n)
	case *plan.Store:
		e.store(g, n)
	case *plan.Zero:
		e.zero(g, n)
	case *plan.Narrow:
		e.narrow(g, n)
	case *plan.Gemm:
		e.gemm(g, n)
	case *plan.TriSolve:
		e.triangle(g, n)
	default:
		panic(fmt.Sprintf("gokernel: BUG: no Go for %T", n))
	}
}

// narrow prints q := kern.Narrow(c.Operands, 0, c.Q), with the place of the copy.
func (e *kernelEmitter) narrow(g *jen.Group, n *plan.Narrow) {
	var at shape.Poly
	for _, b := range e.workspace(operandField) {
		if b == n.Buf {
			break
		}
		at = at.Add(b.Len())
	}
	name := e.scope.Name(n.Buf.Name, false)
	g.Id(name).Op(":=").Qual(kernPath, "Narrow").Call(jen.Id("c").Dot(operandField.name), e.poly(at), e.slice(n.Buf.NarrowOf))
	e.bufs[n.Buf] = name
}

// zero prints clear(m); of one of several rows in flight, which lie side by side,
// for j := range m { m[j][2] = 0 }.
func (e *kernelEmitter) zero(g *jen.Group, n *plan.Zero) {
	if n.Buf.Base().CopyOf == nil || e.fused {
		g.Clear(e.slice(n.Buf))
		return
	}
	mark := e.scope.Mark()
	j := e.scope.Name("j", false)
	nought := jen.Lit(0)
	if n.Buf.Base().Elem == ir.Bool {
		nought = jen.False()
	}
	g.For(jen.Id(j).Op(":=").Range().Add(e.slice(n.Buf))).Block(jen.Id(e.inRow(n.Buf, e.sliceName(n.Buf)+"["+j+"]")).Op("=").Add(nought))
	e.scope.Release(mark)
}

func (e *kernelEmitter) branch(g *jen.Group, n *plan.If) {
	cond := e.text.Condition(n, func(b *plan.Buffer) string { return "len(" + e.sliceName(b) + ") > 0" })
	g.If(jen.Id(cond)).BlockFunc(func(g *jen.Group) {
		mark := e.scope.Mark()
		e.nodes(g, n.Body)
		e.scope.Release(mark)
	})
}

// let prints x := value; a sum that starts at zero is var x F.
func (e *kernelEmitter) let(g *jen.Group, n *plan.Let) {
	name := e.scope.Name(n.To.Name, false)
	e.locals[n.To] = name
	if num, ok := n.Val.(plan.Num); ok && num.V == 0 {
		g.Var().Id(name).Id("F")
		return
	}
	g.Id(name).Op(":=").Add(code(e.text.As(n.To.Elem, n.Val)))
}

// acc prints s += value, or if value > s || value != value { s = value }.
func (e *kernelEmitter) acc(g *jen.Group, n *plan.Accumulate) {
	name := jen.Id(e.locals[n.To])
	switch {
	case n.Set:
		g.Add(name).Op("=").Add(e.top(n.Val))
		return
	case e.fused && n.Max:
		g.Add(name).Op("=").Qual(kernPath, "Gather").Call(name.Clone(), e.top(n.Val))
		return
	}
	if !n.Max {
		op, x := signed(n.Val)
		g.Add(name).Op(op + "=").Add(e.top(x))
		return
	}
	mark := e.scope.Mark()
	x := e.scope.Name("x", false)
	g.If(jen.Id(x).Op(":=").Add(e.top(n.Val)), jen.Id(x).Op(">").Add(name).Op("||").Id(x).Op("!=").Id(x)).Block(
		name.Clone().Op("=").Id(x))
	e.scope.Release(mark)
}

// signed takes the sign off a value that is added: s += -x is s -= x, to the
// bit.
func signed(x plan.Expr) (string, plan.Expr) {
	switch v := x.(type) {
	case plan.Prod:
		if v.Coef == -1 {
			return "-", plan.Prod{Coef: 1, Args: v.Args}
		}
	case plan.Lin:
		out := plan.Lin{Const: v.Const}
		for i, c := range v.Coef {
			a := v.Args[i]
			if p, ok := a.(plan.Prod); ok && p.Coef == -1 {
				c, a = -c, plan.Prod{Coef: 1, Args: p.Args}
			}
			if c >= 0 {
				return "+", x
			}
			out.Coef, out.Args = append(out.Coef, -c), append(out.Args, a)
		}
		if v.Const == 0 && len(v.Args) > 0 {
			return "-", out
		}
	}
	return "+", x
}

// store prints m[j] = value, or m[j] += value for each of several values.
func (e *kernelEmitter) store(g *jen.Group, n *plan.Store) {
	val := func(x plan.Expr) *jen.Statement { return code(e.text.As(n.To.Buf.Elem, x)) }
	write := func(g *jen.Group) {
		to := jen.Id(e.entry(n.To))
		switch {
		case !n.Add:
			g.Add(to).Op("=").Add(val(n.Vals[0]))
		default:
			for _, v := range n.Vals {
				op, x := signed(v)
				g.Add(to.Clone()).Op(op + "=").Add(val(x))
			}
		}
	}
	if picked := n.To.Gathered(); len(picked) > 0 {
		g.If(jen.Id(e.text.InRange(picked))).BlockFunc(write)
		return
	}
	write(g)
}

// gemm prints a call of the matrix product.
func (e *kernelEmitter) gemm(g *jen.Group, n *plan.Gemm) {
	args := []jen.Code{e.poly(n.M), e.poly(n.N), e.poly(n.K), code(number(n.Coef)), jen.Lit(n.Add)}
	args = append(args, e.matrix(n.C)...)
	args = append(args, e.matrix(n.A)...)
	args = append(args, e.matrix(n.B)...)
	if e.fused {
		g.Qual(kernPath, "GemmFMA").Call(args...)
		return
	}
	g.Qual(kernPath, "Gemm").Call(args...)
}

// triangle prints a call of the triangular solve.
func (e *kernelEmitter) triangle(g *jen.Group, n *plan.TriSolve) {
	args := []jen.Code{e.poly(n.M), e.poly(n.N), jen.Lit(n.Down)}
	args = append(args, e.matrix(n.X)...)
	args = append(args, e.matrix(n.A)...)
	if e.fused {
		g.Qual(kernPath, "TriangleFMA").Call(args...)
		return
	}
	g.Qual(kernPath, "Triangle").Call(args...)
}

// matrix prints a part of a buffer with the distances of rows and columns.
func (e *kernelEmitter) matrix(m plan.Matrix) []jen.Code {
	at := e.text.Address(m.At)
	s := e.slice(m.At.Buf)
	if at != "0" {
		s = jen.Qual(kernPath, "From").Call(s, jen.Id(at)) // a matrix without entries may start anywhere
	}
	return []jen.Code{s, e.poly(m.Row), e.poly(m.Col)}
}
