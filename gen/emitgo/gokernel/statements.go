package gokernel

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// run prints the method Run: sizes, the parts of the workspace, the body.
func (e *kernelEmitter) run(f *jen.File) {
	f.Commentf("Run computes %s.", e.k.Name)
	e.method(f, "Run").BlockFunc(func(g *jen.Group) {
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
	for i, n := range ns {
		if _, head := n.(*plan.Note); head && (i+1 == len(ns) || isNote(ns[i+1])) {
			continue // nothing is emitted for it: the value is a view or is elsewhere
		}
		e.node(g, n)
	}
}

func isNote(n plan.Node) bool {
	_, ok := n.(*plan.Note)
	return ok
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
		g.Comment(strings.TrimSpace(strings.Join(n.Eqs, ", ") + " " + n.Text))
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
		val := e.entry(n.From)
		if len(n.From.Gathered()) > 0 {
			val = e.load(n.From)
		}
		val = jen.Int().Parens(val)
		if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
			s, _ := e.index(n.Plus)
			val = val.Op("+").Add(s)
		}
		e.vars[n.To] = jen.Id(v)
		g.Id(v).Op(":=").Add(val)
	case *plan.Accumulate:
		e.acc(g, n)
	case *plan.Store:
		e.store(g, n)
	case *plan.Zero:
		e.zero(g, n)
	case *plan.Gemm:
		e.gemm(g, n)
	case *plan.TriSolve:
		e.triangle(g, n)
	default:
		panic(fmt.Sprintf("gokernel: BUG: no Go for %T", n))
	}
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
	g.For(jen.Id(j).Op(":=").Range().Add(e.slice(n.Buf))).Block(e.inRow(n.Buf, e.slice(n.Buf).Index(jen.Id(j))).Op("=").Add(nought))
	e.scope.Release(mark)
}

func (e *kernelEmitter) branch(g *jen.Group, n *plan.If) {
	cond := jen.Null()
	first := true
	and := func(s *jen.Statement) {
		if !first {
			cond.Op("&&")
		}
		cond.Add(s)
		first = false
	}
	if n.Present != nil {
		and(jen.Len(e.slice(n.Present)).Op(">").Lit(0))
	}
	for _, x := range n.Cond {
		s, _ := e.index(x)
		and(s.Op(">=").Lit(0))
	}
	g.If(cond).BlockFunc(func(g *jen.Group) {
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
	g.Id(name).Op(":=").Add(e.top(n.Val))
}

// acc prints s += value, or if value > s || value != value { s = value }.
func (e *kernelEmitter) acc(g *jen.Group, n *plan.Accumulate) {
	name := jen.Id(e.locals[n.To])
	switch {
	case n.Set:
		g.Add(name).Op("=").Add(e.realTop(n.Val))
		return
	case e.fused && n.Max:
		g.Add(name).Op("=").Qual(kernPath, "Gather").Call(name.Clone(), e.argument(n.Val))
		return
	}
	if !n.Max {
		op, x := signed(n.Val)
		g.Add(name).Op(op + "=").Add(e.realTop(x))
		return
	}
	mark := e.scope.Mark()
	x := e.scope.Name("x", false)
	g.If(jen.Id(x).Op(":=").Add(e.realTop(n.Val)), jen.Id(x).Op(">").Add(name).Op("||").Id(x).Op("!=").Id(x)).Block(
		name.Clone().Op("=").Id(x))
	e.scope.Release(mark)
}

func (e *kernelEmitter) realTop(x plan.Expr) *jen.Statement {
	if elemOf(x) == ir.Real {
		return e.top(x)
	}
	return e.real(x)
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
	val := func(x plan.Expr) *jen.Statement {
		if n.To.Buf.Elem == ir.Real {
			return e.realTop(x)
		}
		return e.top(x)
	}
	write := func(g *jen.Group) {
		to := e.entry(n.To)
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
		g.If(e.inRange(picked)).BlockFunc(write)
		return
	}
	write(g)
}

// gemm prints a call of the matrix product.
func (e *kernelEmitter) gemm(g *jen.Group, n *plan.Gemm) {
	args := []jen.Code{e.poly(n.M), e.poly(n.N), e.poly(n.K), number(n.Coef), jen.Lit(n.Add)}
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
	at := e.address(m.At)
	s := e.slice(m.At.Buf)
	if text := fmt.Sprintf("%#v", at); text != "0" {
		s = jen.Qual(kernPath, "From").Call(s, at) // a matrix without entries may start anywhere
	}
	return []jen.Code{s, e.poly(m.Row), e.poly(m.Col)}
}
