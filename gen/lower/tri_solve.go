package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Triangular solves. The right side is copied to the place of the solution,
// and the system is solved there. Of the loops that the matrix does not have,
// those at the end that are contiguous are the columns; all others stay
// outside. At reversed subscripts the rows keep their places and are solved
// from the last to the first.

// triangle lowers a triangular solve.
func (r *region) triangle(in *ir.Instr) []plan.Node {
	g := &gemm{in: in}
	g.loops, g.vars = r.freshLoops(in)
	t, i := in.Triangle()
	size := in.Loops[t].Size
	down := slices.ContainsFunc(in.To, func(s ir.Sub) bool {
		l, ok := s.FromEnd(in.Loops[t])
		return ok && l == t
	})
	if down {
		for _, l := range []int{t, i} {
			last := plan.Fixed(size.Sub(shape.Int(1)))
			g.loops[l] = last.Add(plan.At(g.vars[l]), shape.Int(-1))
		}
	}
	w := r.leaf(nil)
	g.c = r.place(in.Out)(w.indices(in.To, g.loops))
	var copied []plan.Node
	if b := r.l.places[in.Args[1].Val]; b == nil || b(w.indices(in.Args[1].Sub, g.loops)).String() != g.c.String() {
		copied = r.copyTo(in, g, g.c, in.Args[1], func(l int) bool { return l != i })
	}
	g.a = r.place(in.Args[0].Val)(w.indices(in.Args[0].Sub, g.loops))
	if a := g.a.Flat(); !ir.NeverNegative(a.Coef(g.vars[t])) || !ir.NeverNegative(a.Coef(g.vars[i])) {
		copied = append(copied, r.turned(in, g)...)
	}
	g.b = g.a
	var batch, columns []int
	for l := range in.Loops {
		switch {
		case l == t || l == i:
		case uses(in.Args[0].Sub, l):
			batch = append(batch, l)
		default:
			columns = append(columns, l)
		}
	}
	n, outer := run{size: shape.Int(1)}, []int(nil)
	if len(columns) > 0 {
		n, outer = g.merge(columns)
	}
	x, a := g.c.Flat(), g.a.Flat()
	node := &plan.TriSolve{M: size, N: n.size, Down: down,
		X: plan.Matrix{At: g.c, Row: x.Coef(g.vars[t]), Col: n.stride[0]},
		A: plan.Matrix{At: g.a, Row: a.Coef(g.vars[t]), Col: a.Coef(g.vars[i])}}
	for _, l := range append([]int{t, i}, n.loops...) {
		node.X.At, node.A.At = node.X.At.Start(g.vars[l]), node.A.At.Start(g.vars[l])
	}
	return append(copied, around(append(outer, batch...), g.vars, in.Loops, []plan.Node{node})...)
}

// turned copies a matrix that is read backward along an axis.
func (r *region) turned(in *ir.Instr, g *gemm) []plan.Node {
	var axes []*ir.Axis
	var to []plan.Index
	has := func(l int) bool { return slices.Contains(in.Over, l) || uses(in.Args[0].Sub, l) }
	for l, a := range in.Loops {
		if has(l) {
			axes, to = append(axes, a), append(to, plan.At(g.vars[l]))
		}
	}
	buf := r.alloc(&ir.Value{Name: in.Args[0].Val.Name + ".turned", Elem: ir.Real, Axes: axes})
	g.a = plan.Access{Buf: buf, Index: append(slices.Clone(r.point), to...)}
	return r.copyTo(in, g, g.a, in.Args[0], has)
}

// copyTo copies an argument over some loops.
func (r *region) copyTo(in *ir.Instr, g *gemm, to plan.Access, from ir.Arg, has func(l int) bool) []plan.Node {
	w := r.leaf(nil)
	val := w.arg(from, g.loops)
	nodes := append(w.nodes, &plan.Store{To: to, Vals: []plan.Expr{val}})
	for k := len(to.Index) - 1; k >= 0; k-- {
		for l := range in.Loops {
			if has(l) && !to.Index[k].Coef(g.vars[l]).IsZero() {
				nodes = []plan.Node{full(g.vars[l], in.Loops[l].Size, plan.Plain, nodes)}
			}
		}
	}
	return nodes
}
