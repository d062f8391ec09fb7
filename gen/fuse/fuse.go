// Package fuse turns a kernel of the portable arithmetic into one of the fused
// arithmetic, which vector units compute fast and with the same bits at every
// width.
//
// The two differ in what is rounded and in the order of sums:
//
//	products   x·y + z is one fused multiply-add wherever a product meets a sum.
//	           A sum of several products adds them one after another, each fused;
//	           what is added to an entry or a scalar starts from that.
//	sums       the iterations of an innermost loop add to partial sums in turn,
//	           iteration j to sum j mod Loop.Sums, the first from the scalar and
//	           each other from zero; added as a tree (Tree) they are the scalar.
//	rows       sums over the rows of a recurrence run in blocks of rows (Blocks):
//	           the first block adds to the entries, each other to zeros, and then
//	           the blocks are added in order.
//
// All of it is fixed by shapes, never by a width of registers or a number of
// threads. Loops are changed in ways that keep the order of every sum: ends instead of
// conditions, and what is scattered over a window is summed for one entry after another
// (skew.go). What a target may take apart for itself is wrapped into a
// plan.Region; the rest of the kernel means the same to every target.
package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// PartialSums is the number of entries that a vector unit of the plan holds: partial
// sums of a loop over columns.
const PartialSums = 16

// RowPartialSums is the number of partial sums where rows are adjacent and the columns
// run one after another.
const RowPartialSums = 2

// Kernel returns the kernel in fused arithmetic, with its regions, or nil where
// sums over rows cannot be ordered by blocks. Buffers and scalars are shared
// with k, nodes are not.
func Kernel(k *plan.Kernel) *plan.Kernel {
	out := *k
	body, cells, ok := regions(accumulators(splitOptional(skewed(tighten(nodes(k.Body))))))
	if !ok {
		return nil
	}
	out.Body, out.Cells = body, cells
	return &out
}

// nodes copies nodes with their products fused.
func nodes(ns []plan.Node) []plan.Node {
	out := make([]plan.Node, len(ns))
	for i, n := range ns {
		out[i] = node(n)
	}
	return out
}

func node(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Loop:
		c := *n
		c.Body = nodes(n.Body)
		return &c
	case *plan.If:
		return &plan.If{Cond: n.Cond, Present: n.Present, Body: nodes(n.Body)}
	case *plan.FindRoot:
		c := *n
		c.Body, c.Lo, c.Hi, c.Val = nodes(n.Body), expr(n.Lo), expr(n.Hi), expr(n.Val)
		return &c
	case *plan.Let:
		return &plan.Let{To: n.To, Val: expr(n.Val)}
	case *plan.Accumulate:
		if n.Max {
			return &plan.Accumulate{To: n.To, Max: true, Val: expr(n.Val)}
		}
		return &plan.Accumulate{To: n.To, Set: true, Val: addFused(plan.Ref{To: n.To}, expr(n.Val))}
	case *plan.Store:
		if !n.Add {
			return &plan.Store{To: n.To, Vals: []plan.Expr{expr(n.Vals[0])}}
		}
		var sum plan.Expr = plan.Load{Access: n.To}
		for _, v := range n.Vals {
			sum = addFused(sum, expr(v))
		}
		return &plan.Store{To: n.To, Vals: []plan.Expr{sum}}
	}
	return n
}

// expr fuses the products of an expression.
func expr(e plan.Expr) plan.Expr {
	return plan.RewriteExpr(e, func(e plan.Expr) plan.Expr {
		if x, ok := e.(plan.Lin); ok {
			return lin(x)
		}
		return e
	})
}

// A term is a summand: Coef times X.
type term struct {
	coef float64
	x    plan.Expr
}

// terms are the summands of a sum, the constant first, with the signs of
// products in front of them.
func terms(x plan.Lin) []term {
	var out []term
	if x.Const != 0 || len(x.Args) == 0 {
		out = append(out, term{1, plan.Num{V: x.Const}})
	}
	for i, a := range x.Args {
		out = append(out, signed(x.Coef[i], a))
	}
	return out
}

func signed(c float64, a plan.Expr) term {
	if p, ok := a.(plan.Prod); ok && p.Coef == -1 {
		return term{-c, plan.Prod{Coef: 1, Args: p.Args}}
	}
	return term{c, a}
}

// product reports whether a term is rounded before it is added, unless fused.
func (t term) product() bool {
	p, ok := t.x.(plan.Prod)
	return t.coef != 1 && t.coef != -1 || ok && (len(p.Args) > 1 || p.Coef != 1)
}

// lin adds the terms of a sum from left to right. Of the first two, what is no
// product comes first, so that the other can be fused onto it.
func lin(x plan.Lin) plan.Expr {
	ts := terms(x)
	if len(ts) > 1 && ts[0].product() && !ts[1].product() {
		ts[0], ts[1] = ts[1], ts[0]
	}
	sum := ts[0].value()
	for _, t := range ts[1:] {
		sum = t.addTo(sum)
	}
	return sum
}

// value is a term on its own.
func (t term) value() plan.Expr {
	if t.coef == 1 {
		return t.x
	}
	if p, ok := t.x.(plan.Prod); ok {
		return plan.Prod{Coef: t.coef * p.Coef, Args: p.Args}
	}
	return plan.Prod{Coef: t.coef, Args: []plan.Expr{t.x}}
}

// addTo adds a term to a sum.
func (t term) addTo(sum plan.Expr) plan.Expr {
	c := t.coef
	p, ok := t.x.(plan.Prod)
	if !ok {
		if c == 1 || c == -1 {
			return plan.Lin{Coef: []float64{1, c}, Args: []plan.Expr{sum, t.x}}
		}
		return plan.Fma{Neg: c < 0, A: plan.Num{V: abs(c)}, B: t.x, C: sum}
	}
	c *= p.Coef
	last := len(p.Args) - 1
	if last == 0 && (c == 1 || c == -1) {
		return plan.Lin{Coef: []float64{1, c}, Args: []plan.Expr{sum, p.Args[0]}}
	}
	a := plan.Expr(plan.Prod{Coef: abs(c), Args: p.Args[:last]})
	switch {
	case last == 0:
		a = plan.Num{V: abs(c)}
	case abs(c) == 1 && last == 1:
		a = p.Args[0]
	}
	return plan.Fma{Neg: c < 0, A: a, B: p.Args[last], C: sum}
}

// addFused adds a fused value to a sum: a product, or the terms of a fused chain.
func addFused(sum, v plan.Expr) plan.Expr {
	switch v := v.(type) {
	case plan.Fma:
		return plan.Fma{Neg: v.Neg, A: v.A, B: v.B, C: addFused(sum, v.C)}
	case plan.Lin:
		if len(v.Args) == 2 && v.Const == 0 && v.Coef[0] == 1 {
			return plan.Lin{Coef: v.Coef, Args: []plan.Expr{addFused(sum, v.Args[0]), v.Args[1]}}
		}
	}
	t := signed(1, v)
	if p, ok := t.x.(plan.Prod); ok && len(p.Args) == 1 && p.Coef == 1 {
		t.x = p.Args[0]
	}
	return t.addTo(sum)
}

func abs(x float64) float64 { return max(x, -x) }

// tighten narrows loops instead of testing in them: where the whole body of a
// loop is under an index that rises or falls with its variable, the loop
// runs over the range where the index is at least zero.
//
//	for m in [0, w)            n = pos[i]
//		n = pos[i] + j − m     for m in [0, min(w, n + j + 1))
//		if n ≥ 0 { … }             …
func tighten(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range ns {
		loop, ok := n.(*plan.Loop)
		if !ok {
			out = append(out, n)
			continue
		}
		loop.Body = tighten(loop.Body)
		out = append(append(append(out, narrow(loop)...), hoisted(loop)...), loop)
	}
	return out
}

// hoisted moves gathers out of a loop in which they are the same in all iterations. One that is
// the same in all loops stays: where none of them runs there may be nothing to read.
func hoisted(loop *plan.Loop) []plan.Node {
	var out []plan.Node
	written := plan.Written(loop.Body)
	loop.Body = slices.DeleteFunc(slices.Clone(loop.Body), func(n plan.Node) bool {
		g, ok := n.(*plan.Gather)
		if !ok || loop.Kind != plan.Plain && loop.Kind != plan.Reduction || g.From.Mentions(loop.Var) || written[g.From.Buf.Base()] || len(g.From.Gathered()) > 0 || !g.Plus.Equal(plan.Index{}) || !mentionsAny(g.From) {
			return false
		}
		out = append(out, g)
		return true
	})
	return out
}

// mentionsAny reports whether an access is to one of several entries.
func mentionsAny(a plan.Access) bool {
	return slices.ContainsFunc(a.Index, func(x plan.Index) bool { return len(x.Terms) > 0 })
}

// narrow narrows one loop; it returns the Pick that moves out of it.
func narrow(loop *plan.Loop) []plan.Node {
	if len(loop.Lo) != 1 || !loop.Lo[0].Equal(plan.Index{}) || len(loop.Body) == 0 {
		return nil
	}
	pick, _ := loop.Body[0].(*plan.Gather)
	rest := loop.Body
	if pick != nil {
		rest = rest[1:]
	}
	if len(rest) != 1 {
		return nil
	}
	cond, ok := rest[0].(*plan.If)
	if !ok || cond.Present != nil || len(cond.Cond) != 1 {
		return nil
	}
	x := cond.Cond[0]
	var moved []plan.Node
	if pick != nil {
		if x.Var() != pick.To || uses(cond.Body, pick.To) || pick.From.Mentions(loop.Var) {
			return nil
		}
		first := &plan.Gather{To: pick.To, From: pick.From}
		x = plan.At(pick.To).Add(pick.Plus, shape.Int(1))
		moved = append(moved, first)
	}
	if !x.Coef(loop.Var).Equal(shape.Int(-1)) {
		return nil
	}
	end := x.Subst(loop.Var, plan.Fixed(shape.Int(1))).Add(plan.Fixed(shape.Int(2)), shape.Int(1))
	loop.Hi = append(append([]plan.Index(nil), loop.Hi...), end)
	loop.Body = cond.Body
	return moved
}

// uses reports whether nodes index anything with v.
func uses(ns []plan.Node, v *plan.Var) bool {
	found := false
	plan.EachIndex(ns, func(x plan.Index) { found = found || !x.Coef(v).IsZero() })
	return found
}
