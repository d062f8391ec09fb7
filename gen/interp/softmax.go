package interp

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// normalise evaluates max, softmax and logsumexp: for every point of the kept loops, over
// the loops in Over, where the guards hold. The maximum of the empty set is −∞. A NaN
// argument makes the result NaN. Exponentials are of differences to the maximum, so that
// none overflows.
func (m *machine) normalise(in *ir.Instr) func() {
	g := &group{m: m, op: in.Op, out: m.vals[in.Out]}
	n := m.nest(in, in.Args)
	order := []int{}
	for l := range in.Loops {
		if !slices.Contains(in.Over, l) {
			order = append(order, l)
		}
	}
	g.kept = len(order)
	order = append(order, in.Over...)
	n.each(func(a *access) { a.permute(order) })
	dims := make([]int, len(order))
	for i, l := range order {
		dims[i] = n.dims[l]
	}
	n.dims = dims
	// The last loop can be the row when it is reduced.
	if k := len(dims) - 1; k < g.kept || n.any(func(a *access) bool { return a.moves(k) }) {
		n.dims = append(dims, 1)
		n.each(func(a *access) { a.pad() })
	}
	n.idx, n.row.args = make([]int, len(n.dims)), make([]cursor, 1)
	g.at = make([]int, g.kept)
	return func() {
		empty := 0.0
		if in.Op != ir.Softmax {
			empty = math.Inf(-1)
		}
		for i := range g.out.Data {
			g.out.Data[i] = empty
		}
		n.run(func(r *row) { g.add(n.idx, r) })
		g.flush()
	}
}

func (a *access) permute(order []int) {
	old := a.stride
	a.stride = make([]int, len(order))
	for i, l := range order {
		a.stride[i] = old[l]
	}
	for _, d := range a.dyn {
		d.via.permute(order)
		d.shift.permute(order)
	}
}

// A group collects the entries that are normalised together.
type group struct {
	m    *machine
	op   ir.Op
	out  *Tensor
	kept int
	at   []int // the kept loops of the collected entries
	x    []float64
	to   []int
}

func (g *group) add(idx []int, r *row) {
	if !slices.Equal(g.at, idx[:g.kept]) {
		g.flush()
		copy(g.at, idx)
	}
	a := r.args[0]
	for i := range r.n {
		g.x = append(g.x, a.data[a.at+i*a.stride])
		g.to = append(g.to, r.to.at+i*r.to.stride)
	}
}

func (g *group) flush() {
	if len(g.x) == 0 {
		return
	}
	top := math.Inf(-1)
	for _, x := range g.x {
		if x > top || x != x {
			top = x
		}
	}
	switch {
	case g.op == ir.Max, g.op == ir.LogSumExp && math.IsInf(top, 0):
		g.out.Data[g.to[0]] = top
	default:
		g.exp(top)
	}
	g.x, g.to = g.x[:0], g.to[:0]
}

func (g *group) exp(top float64) {
	sum := 0.0
	for i, x := range g.x {
		g.x[i] = g.m.round(math.Exp(g.m.round(x - top)))
		sum = g.m.round(sum + g.x[i])
	}
	if g.op == ir.LogSumExp {
		g.out.Data[g.to[0]] = g.m.round(top + g.m.round(math.Log(sum)))
		return
	}
	for i, x := range g.x {
		g.out.Data[g.to[i]] = g.m.round(x / sum)
	}
}

// stack copies each argument to its place along the stacked axis: an
// argument's own box, moved by the constant of its subscript there.
func (m *machine) stack(in *ir.Instr) func() {
	out := m.vals[in.Out]
	stride := make([]int, len(out.Shape))
	for i, mul := len(out.Shape)-1, 1; i >= 0; i-- {
		stride[i] = mul
		mul *= out.Shape[i]
	}
	var nests []*nest
	for _, a := range in.Args {
		src := m.vals[a.Val]
		n := &nest{dims: src.Shape, to: access{t: out, stride: make([]int, len(src.Shape))}}
		from := access{t: src, stride: make([]int, len(src.Shape))}
		mul := 1
		for i := len(a.Sub) - 1; i >= 0; i-- {
			s := a.Sub[i]
			n.to.stride[i] = stride[s.Terms[0].Loop]
			n.to.base -= m.size(s.Const) * stride[s.Terms[0].Loop]
			from.stride[i] = mul
			mul *= src.Shape[i]
		}
		n.args = []access{from}
		nests = append(nests, n.prepare())
	}
	put := func(r *row) {
		a, o := r.args[0], r.to
		for i := range r.n {
			o.data[o.at+i*o.stride] = a.data[a.at+i*a.stride]
		}
	}
	return func() {
		for _, n := range nests {
			n.run(put)
		}
	}
}
