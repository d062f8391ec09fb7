package emitcuda

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Statements as one thread runs them, one after another.

func (f *function) nodes(ns []plan.Node) {
	for _, n := range clike.Statements(ns) {
		f.node(n)
	}
}

func (f *function) node(n plan.Node) {
	switch n := n.(type) {
	case *plan.Note:
		f.Line("// %s", clike.NoteText(n))
	case *plan.Loop:
		if sums := f.sumsOf(n); len(sums) > 0 {
			f.inRegisters(n, sums)
			return
		}
		f.loop(n, f.nodes)
	case *plan.If:
		f.block("if ("+f.cond(n)+")", func() { f.nodes(n.Body) })
	case *plan.FindRoot:
		f.findRoot(n)
	case *plan.Let:
		f.let(n)
	case *plan.Gather:
		f.pick(n)
	case *plan.Accumulate:
		f.acc(n)
	case *plan.Store:
		f.store(n)
	case *plan.Zero:
		f.zero(n, "0", "1")
	case *plan.Gemm:
		f.gemmEntries(n, "0", "1")
	case *plan.TriSolve:
		f.triangleColumns(n, "0", "1")
	default:
		panic(fmt.Sprintf("emitcuda: BUG: no text for %T", n))
	}
}

// loop prints a loop around a body. One whose variable the thread has is the
// condition that the variable is in it.
func (f *function) loop(n *plan.Loop, body func([]plan.Node)) {
	if f.fixed[n] {
		if guard := f.guards(n); guard != "" {
			f.block("if ("+guard+")", func() { body(n.Body) })
		} else {
			body(n.Body)
		}
		return
	}
	mark := f.e.scope.Mark()
	if from, ok := f.moved[n]; ok {
		val := f.Plain(from)
		v := f.e.scope.Name(n.Var.Name)
		f.vars[n.Var] = v
		f.Line("const int %s = %s;", v, val)
		f.block(fmt.Sprintf("if (%s >= %s && %s < %s)", v, f.Lo(n), v, f.Hi(n)), func() { body(n.Body) })
		f.e.scope.Release(mark)
		return
	}
	v := f.e.scope.Name(n.Var.Name)
	head := f.Head(n, v)
	f.vars[n.Var] = v
	f.unroll(n)
	f.block(head, func() { body(n.Body) })
	f.e.scope.Release(mark)
}

// unroll prints how far a compiler may unroll a loop: innermost ones of a fixed
// length a little, all others not at all. Left alone it unrolls until registers
// spill.
func (f *function) unroll(n *plan.Loop) {
	const most = 4
	times := most
	for _, m := range n.Body {
		switch m.(type) {
		case *plan.Loop, *plan.If, *plan.FindRoot, *plan.Gemm, *plan.TriSolve:
			times = 1
		}
	}
	b := dependence.BoxOf(n)
	if times == 1 || !b.Known || !f.e.constant(b.Extent()) || len(n.Lo) > 1 || len(n.Hi) > 1 {
		f.Line("#pragma unroll 1")
	} else if extent, ok := b.Extent().Const(); !ok || extent > most {
		f.Line("#pragma unroll %d", most)
	}
}

// guards prints what of a loop's ends is not settled by the box of threads.
func (f *function) guards(n *plan.Loop) string {
	var out []string
	box := dependence.BoxOf(n)
	for _, x := range n.Lo {
		if !x.Equal(plan.Fixed(box.Lo)) {
			out = append(out, fmt.Sprintf("%s >= %s", f.vars[n.Var], f.Plain(x)))
		}
	}
	for _, x := range n.Hi {
		if !x.Equal(plan.Fixed(box.Hi)) {
			out = append(out, fmt.Sprintf("%s < %s", f.vars[n.Var], f.Plain(x)))
		}
	}
	return strings.Join(out, " && ")
}

func (f *function) cond(n *plan.If) string {
	return f.Condition(n, func(b *plan.Buffer) string { return f.buffer(b) + " != nullptr" })
}

func (f *function) let(n *plan.Let) {
	val := f.As(n.To.Elem, n.Val)
	name := f.e.scope.Name(n.To.Name)
	f.locals[n.To] = name
	typ := f.Types[n.To.Elem]
	if !f.e.gathers[n.To] {
		typ = "const " + typ
	}
	f.Line("%s %s = %s;", typ, name, val)
}

func (f *function) pick(n *plan.Gather) {
	val := f.Expr(plan.Load{Access: n.From})
	if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
		val = f.Plus(val, n.Plus)
	}
	name := f.e.scope.Name(n.To.Name)
	f.vars[n.To] = name
	f.Line("const int %s = %s;", name, val)
}

// acc prints s += value, or s = hecate::max(s, value), which a NaN wins.
func (f *function) acc(n *plan.Accumulate) {
	name := f.local(n.To)
	if n.Max {
		f.Line("%s = hecate::max(%s, %s);", name, name, f.Top(n.Val))
		return
	}
	f.Line("%s", f.added(name, n.Val))
}

// added prints to += x, or to -= y where x is -y.
func (f *function) added(to string, x plan.Expr) string {
	if p, ok := x.(plan.Prod); ok && p.Coef == -1 && len(p.Args) > 0 {
		return fmt.Sprintf("%s -= %s;", to, f.Top(plan.Prod{Coef: 1, Args: p.Args}))
	}
	return fmt.Sprintf("%s += %s;", to, f.Top(x))
}

// store prints m[j] = value, or m[j] += value for each of several values.
func (f *function) store(n *plan.Store) {
	if t := f.tiles[n]; t != nil {
		f.intoTile(t, n)
		return
	}
	if sum := f.sums[n]; sum != "" {
		for _, v := range n.Vals {
			f.Line("%s", f.added(sum, v))
		}
		return
	}
	var conds []string
	if picked := n.To.Gathered(); len(picked) > 0 {
		conds = append(conds, f.InRange(picked))
	}
	if f.live != "" && f.private[n.To.Buf.Base()] == nil {
		conds = append(conds, f.live)
	}
	var lines []string
	f.target(n.To.Buf)
	to := f.entry(n.To)
	if n.Add {
		for _, v := range n.Vals {
			lines = append(lines, f.added(to, v))
		}
	} else {
		lines = append(lines, fmt.Sprintf("%s = %s;", to, f.As(n.To.Buf.Elem, n.Vals[0])))
	}
	switch {
	case len(conds) == 0:
		for _, l := range lines {
			f.Line("%s", l)
		}
	case len(lines) == 1:
		f.Line("if (%s) %s", strings.Join(conds, " && "), lines[0])
	default:
		f.block("if ("+strings.Join(conds, " && ")+")", func() {
			for _, l := range lines {
				f.Line("%s", l)
			}
		})
	}
}

// zero fills a buffer, from an entry in steps.
func (f *function) zero(n *plan.Zero, from, step string) {
	b := n.Buf.Base()
	at := "at"
	if p := f.private[b]; p != nil && p.each {
		at = fmt.Sprintf("at * %d + row", f.threads)
	}
	typ := "int"
	if !f.e.constant(b.Len()) {
		typ = "i64"
	}
	inc := "at += " + step
	if step == "1" {
		inc = "++at"
	}
	f.Line("for (%s at = %s; at < %s; %s) %s[%s] = %s;", typ, from, f.count(b.Len()), inc, f.target(b), at, f.Zero(b.Elem))
}
