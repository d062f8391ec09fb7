package main

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Step 3 of a target: a text for each statement of a plan. A loop of any kind runs
// its iterations one after another, in the plan's order, which is all that the order
// of a sum asks.

func (e *emitter) nodes(ns []plan.Node) {
	for _, n := range clike.Statements(ns) {
		e.node(n)
	}
}

func (e *emitter) node(n plan.Node) {
	switch n := n.(type) {
	case *plan.Note:
		e.Line("// %s", clike.NoteText(n))
	case *plan.Loop:
		e.loop(n)
	case *plan.If:
		given := func(b *plan.Buffer) string { return e.buffer(b) + " != NULL" }
		e.Block(e.scope, "if ("+e.Condition(n, given)+")", func() { e.nodes(n.Body) })
	case *plan.Let:
		e.set(n.To, e.As(n.To.Elem, n.Val))
	case *plan.Gather:
		val := e.Plus(e.Expr(plan.Load{Access: n.From}), n.Plus)
		e.vars[n.To] = e.scope.Name(n.To.Name)
		e.Line("const int %s = %s;", e.vars[n.To], val)
	case *plan.Accumulate:
		e.accumulate(n)
	case *plan.Store:
		e.store(n)
	case *plan.Zero:
		e.Line("memset(%s, 0, (size_t)(%s) * sizeof *%s);", e.buffer(n.Buf), e.count(n.Buf), e.buffer(n.Buf))
	case *plan.Narrow: // in float32 alone an operand is its source
	case *plan.Gemm:
		e.gemm(n)
	case *plan.TriSolve:
		e.triangle(n)
	case *plan.FindRoot:
		e.findRoot(n)
	default: // a region: only the fused arithmetic has one
		panic(fmt.Sprintf("cprinter: BUG: no C for %T", n))
	}
}

func (e *emitter) loop(n *plan.Loop) {
	mark := e.scope.Mark()
	v := e.scope.Name(n.Var.Name)
	head := e.Head(n, v)
	e.vars[n.Var] = v
	e.Block(e.scope, head, func() { e.nodes(n.Body) })
	e.scope.Release(mark)
}

// set declares a scalar.
func (e *emitter) set(to *plan.Local, val string) {
	e.locals[to] = e.scope.Name(to.Name)
	e.Line("%s %s = %s;", e.Types[to.Elem], e.locals[to], val)
}

// accumulate prints s += x, or s = max(s, x) in which a NaN wins.
func (e *emitter) accumulate(n *plan.Accumulate) {
	s := e.locals[n.To]
	switch {
	case n.Set:
		panic("cprinter: BUG: a statement of the fused arithmetic")
	case n.Max:
		e.Line("%s = hecate_max(%s, %s);", s, s, e.Top(n.Val))
	default:
		e.Line("%s += %s;", s, e.Top(n.Val))
	}
}

// store prints m[j] = x, or m[j] += x for each of several values. An entry at a
// gathered index out of range is not stored.
func (e *emitter) store(n *plan.Store) {
	write := func() {
		op := "="
		if n.Add {
			op = "+="
		}
		for _, v := range n.Vals {
			e.Line("%s %s %s;", e.entry(n.To), op, e.As(n.To.Buf.Elem, v))
		}
	}
	if gathered := n.To.Gathered(); len(gathered) > 0 {
		e.Block(e.scope, "if ("+e.InRange(gathered)+")", write)
		return
	}
	write()
}

// cell prints an entry of a matrix.
func (e *emitter) cell(m plan.Matrix, row, col string) string {
	return fmt.Sprintf("%s[%s + (int64_t)%s * %s + (int64_t)%s * %s]", e.buffer(m.At.Buf), e.Address(m.At), row, e.Factor(m.Row), col, e.Factor(m.Col))
}

// over prints a loop of a counter from 0 to below a size.
func (e *emitter) over(v string, n shape.Poly, body func()) {
	e.Block(e.scope, fmt.Sprintf("for (int %s = 0; %s < %s; ++%s)", v, v, e.Poly(n), v), body)
}

// gemm prints a product of matrices: one sum over k for each entry, in order.
func (e *emitter) gemm(n *plan.Gemm) {
	op := "="
	if n.Add {
		op = "+="
	}
	e.over("row", n.M, func() {
		e.over("col", n.N, func() {
			e.Line("double sum = 0;")
			e.over("at", n.K, func() { e.Line("sum += %s * %s;", e.cell(n.A, "row", "at"), e.cell(n.B, "at", "col")) })
			e.Line("%s %s %s * sum;", e.cell(n.C, "row", "col"), op, number(n.Coef))
		})
	})
}

// triangle prints a triangular solve by forward or, with Down, back substitution.
func (e *emitter) triangle(n *plan.TriSolve) {
	row, at := "row", "at"
	if n.Down {
		row, at = fmt.Sprintf("(%s - 1 - row)", e.Factor(n.M)), fmt.Sprintf("(%s - 1 - at)", e.Factor(n.M))
	}
	e.over("row", n.M, func() {
		e.Block(e.scope, "for (int at = 0; at < row; ++at)", func() {
			e.over("col", n.N, func() {
				e.Line("%s -= %s * %s;", e.cell(n.X, row, "col"), e.cell(n.A, row, at), e.cell(n.X, at, "col"))
			})
		})
	})
}

// findRoot prints a search for a root; hecate.h has its rounds.
func (e *emitter) findRoot(n *plan.FindRoot) {
	search := e.scope.Name("search")
	e.Line("hecate_search %s = hecate_find(%s, %s, %s);", search, e.Top(n.Lo), e.Top(n.Hi), number(n.Tol))
	e.Block(e.scope, "while (!"+search+".done)", func() {
		e.set(n.X, search+".x")
		e.nodes(n.Body)
		e.Line("hecate_take(&%s, %s);", search, e.As(ir.Real, n.Val))
	})
	e.set(n.To, search+".x")
	e.Line("if (%s.failed && no_root == 0) no_root = %d;", search, n.Number)
}
