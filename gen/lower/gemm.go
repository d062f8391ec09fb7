package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Matrix products.

// A matmul is a sum of products of two arguments that is a matrix product for
// every point of some outer loops. Loops of the output that only the first
// argument has are rows m, those that only the second has are columns n; loops
// that both have and the output has not are summed, k; loops that all three
// have are a batch, and so are loops that run through an argument from its end.
type matmul struct{ m, n, k, batch []int }

// asMatmul recognises a matrix product, or returns nil: two arguments at plain
// loops, no guard, rows, columns and a summed loop, and no loop that only one
// argument sums over.
func asMatmul(in *ir.Instr) *matmul {
	if in.Op != ir.Prod || len(in.Args) != 2 || len(in.Guard) > 0 || !plainTo(in) {
		return nil
	}
	p := &matmul{}
	for i := range in.Loops {
		a, b, c := uses(in.Args[0].Sub, i), uses(in.Args[1].Sub, i), uses(in.To, i)
		reversed := runsBack(in.Args[0].Sub, i) || runsBack(in.Args[1].Sub, i)
		switch {
		case reversed && !c:
			return nil
		case reversed || a && b && c:
			p.batch = append(p.batch, i)
		case a && c:
			p.m = append(p.m, i)
		case b && c:
			p.n = append(p.n, i)
		case a && b:
			p.k = append(p.k, i)
		default:
			return nil
		}
	}
	affine := func(s ir.Sub) bool { return s.Indirect == nil }
	for _, a := range in.Args {
		if !all(a.Sub, affine) {
			return nil
		}
	}
	if len(p.m) == 0 || len(p.n) == 0 || len(p.k) == 0 {
		return nil
	}
	return p
}

// runsBack reports whether a subscript falls as a loop goes on.
func runsBack(subs []ir.Sub, loop int) bool {
	return slices.ContainsFunc(subs, func(s ir.Sub) bool {
		return slices.ContainsFunc(s.Terms, func(t ir.Term) bool { return t.Loop == loop && t.Coef < 0 })
	})
}

func all[T any](xs []T, ok func(T) bool) bool {
	return !slices.ContainsFunc(xs, func(x T) bool { return !ok(x) })
}

// A gemm is a matrix product while it is written.
type gemm struct {
	in      *ir.Instr
	loops   []plan.Index
	vars    []*plan.Var
	c, a, b plan.Access
}

// gemm lowers a matrix product. Loops of one kind that are contiguous in all
// three arrays are collapsed; the others stay outside.
func (r *region) gemm(in *ir.Instr) []plan.Node {
	p := asMatmul(in)
	g := &gemm{in: in}
	g.loops, g.vars = r.freshLoops(in)
	w := r.leaf(nil)
	g.c = r.place(in.Out)(w.indices(in.To, g.loops))
	g.a = r.place(in.Args[0].Val)(w.indices(in.Args[0].Sub, g.loops))
	g.b = r.place(in.Args[1].Val)(w.indices(in.Args[1].Sub, g.loops))
	m, mo := g.merge(p.m)
	n, no := g.merge(p.n)
	k, ko := g.merge(p.k)
	into := r.sumOf[in]
	if into == nil {
		into = &sumTarget{coef: 1}
	}
	node := &plan.Gemm{M: m.size, N: n.size, K: k.size, Coef: into.coef * in.Coef[0], Add: len(ko) > 0 || into.add,
		C: plan.Matrix{At: g.c, Row: m.stride[0], Col: n.stride[0]},
		A: plan.Matrix{At: g.a, Row: m.stride[1], Col: k.stride[1]},
		B: plan.Matrix{At: g.b, Row: k.stride[2], Col: n.stride[2]}}
	for _, l := range slices.Concat(m.loops, n.loops, k.loops) {
		v := g.vars[l]
		node.C.At, node.A.At, node.B.At = node.C.At.Start(v), node.A.At.Start(v), node.B.At.Start(v)
	}
	nodes := []plan.Node{node}
	for _, l := range slices.Backward(ko) {
		nodes = []plan.Node{full(g.vars[l], in.Loops[l].Size, plan.Reduction, nodes)}
	}
	nodes = around(slices.Concat(p.batch, mo, no), g.vars, in.Loops, nodes)
	if !into.add && (node.Add || !fills(in)) {
		nodes = append(r.clear(in.Out), nodes...)
	}
	return nodes
}

// A run is a set of loops that all three arrays see as one.
type run struct {
	loops  []int
	size   shape.Poly
	stride [3]shape.Poly // of C, A and B
}

// merge collapses the innermost loop with the loops before it that are
// contiguous with it, and returns the rest.
func (g *gemm) merge(loops []int) (run, []int) {
	strides := func(l int) (s [3]shape.Poly) {
		for i, x := range []plan.Access{g.c, g.a, g.b} {
			s[i] = x.Flat().Coef(g.vars[l])
		}
		return s
	}
	last := loops[len(loops)-1]
	out := run{loops: []int{last}, size: g.in.Loops[last].Size, stride: strides(last)}
	i := len(loops) - 2
	for ; i >= 0; i-- {
		s := strides(loops[i])
		for j := range s {
			if !s[j].Equal(out.stride[j].Mul(out.size)) {
				return out, loops[:i+1]
			}
		}
		out.loops = append(out.loops, loops[i])
		out.size = out.size.Mul(g.in.Loops[loops[i]].Size)
	}
	return out, loops[:i+1]
}

// plainTo reports whether the output's subscripts are distinct plain loops.
func plainTo(in *ir.Instr) bool {
	seen := map[int]bool{}
	for _, s := range in.To {
		l, ok := s.Loop()
		if !ok || seen[l] {
			return false
		}
		seen[l] = true
	}
	return true
}

// fills reports whether an instruction writes every entry of its output: each
// axis has a loop of its own of the same size.
func fills(in *ir.Instr) bool {
	seen := map[int]bool{}
	for i, s := range in.To {
		l, ok := s.Loop()
		if !ok || seen[l] || !in.Loops[l].Size.Equal(in.Out.Axes[i].Size) {
			return false
		}
		seen[l] = true
	}
	return true
}
