package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Which values of the forward the backward computes again: the minimum cut between what is
// at hand and what the adjoints read, as in Jain et al. 2020 (Checkmate) and in PyTorch's
// partitioner of ahead-of-time graphs. A value costs the bytes that it moves when it is
// saved, or only read when it is a parameter or a result anyway; or it costs what it takes
// to compute it again.

// sizeInCosts stands for every free size when costs are compared.
const sizeInCosts = 64

// Prices for each entry: of moving one in one direction, of an operation, and of a function.
const (
	priceMove     = 8
	priceSimple   = 1
	priceFunction = 4
)

// longestSum is the length of a sum that is computed again: that of a convolution over a few
// tokens.
const longestSum = 8

// recomputable reports whether the backward may compute an instruction again: in one pass
// over the entries of its arguments, and with code for vectors.
func recomputable(in *ir.Instr) bool {
	switch in.Op {
	case ir.Prod:
		return ir.Identity(sortLoops(in.To), len(in.To)) && length(in) <= longestSum
	case ir.Reshape: // a view of what is at hand
		from := in.Args[0].Val
		return from.Elem == ir.Int || from.Def == nil || !recomputable(from.Def)
	case ir.Override: // its value may be expensive
		return false
	}
	info := in.Op.Info()
	return info.Cost <= ir.Simple || info.Elementwise && info.Vector
}

// length is the number of terms of each sum of a product, or a large number where that
// depends on sizes.
func length(in *ir.Instr) int64 {
	n := int64(1)
	for l, a := range in.Loops {
		if slices.ContainsFunc(in.To, func(s ir.Sub) bool { return slices.Contains(s.Terms, ir.Term{Loop: l, Coef: 1}) }) {
			continue
		}
		c, ok := a.Size.Const()
		if !ok {
			return 1 << 32
		}
		n *= c
	}
	return n
}

// price is what it takes to compute an instruction again.
func price(in *ir.Instr, entries int64) int64 {
	switch cost := in.Op.Info().Cost; {
	case in.Op == ir.Reshape:
		return 0
	case in.Op == ir.Prod:
		return entries * priceSimple * length(in)
	case cost <= ir.Free:
		return 0
	case cost <= ir.Simple:
		return entries * priceSimple
	}
	return entries * priceFunction
}

// entries is the number of entries of a value when every size is sizeInCosts.
func entries(v *ir.Value) int64 {
	n := int64(1)
	for _, a := range v.Axes {
		sizes := map[string]int{}
		for _, s := range a.Size.Symbols() {
			sizes[s] = sizeInCosts
		}
		for _, q := range a.Size.Quotients() {
			sizes[q.Of] = sizeInCosts
		}
		size, err := a.Size.Eval(sizes)
		if err != nil {
			size = sizeInCosts
		}
		n *= int64(max(1, size))
	}
	return n
}

// bytes is the size of an entry.
func bytes(e ir.Elem) int64 {
	if e == ir.Bool {
		return 1
	}
	return 4
}

// A cut is a network: each value is an edge from in to out, whose capacity is the cost of
// having it in memory for the backward.
type cut struct {
	node map[*ir.Value]int // the number of in; that of out is one more
	to   [][]edge
}

type edge struct {
	to, back int // back is the number of the edge in the opposite direction, at to
	capacity int64
}

const (
	source   = 0
	sink     = 1
	infinite = int64(1) << 60
)

func (c *cut) edge(from, to int, capacity int64) {
	c.to[from] = append(c.to[from], edge{to, len(c.to[to]), capacity})
	c.to[to] = append(c.to[to], edge{from, len(c.to[from]) - 1, 0})
}

// needs lists the values of the forward that the backward takes from it; all other values
// that it reads it computes again from them.
func (p *pairer) needs(back []ir.Result) map[*ir.Value]bool {
	c := &cut{node: map[*ir.Value]int{}, to: make([][]edge, 2)}
	given := map[*ir.Value]bool{}
	for _, r := range p.joint.Results {
		given[r.Val] = true
	}
	var want func(v *ir.Value) int
	want = func(v *ir.Value) int {
		if n, ok := c.node[v]; ok {
			return n + 1
		}
		n := len(c.to)
		c.node[v] = n
		c.to = append(c.to, nil, nil)
		size := entries(v) * bytes(v.Elem)
		moves := int64(2)
		if v.Def == nil || given[v] {
			moves = 1
		}
		save := size * moves * priceMove
		if v.Def != nil && v.Def.Op == ir.Reshape && recomputable(v.Def) {
			save = infinite // a view is never a copy
		}
		if v.Def != nil && v.Elem != ir.Real && recomputable(v.Def) {
			save = infinite // saved tensors are numbers
		}
		c.edge(n, n+1, save)
		if v.Def == nil || !recomputable(v.Def) {
			c.edge(source, n, infinite)
			return n + 1
		}
		c.edge(source, n, price(v.Def, entries(v)))
		for _, x := range v.Def.Reads() {
			c.edge(want(x), n, infinite)
		}
		return n + 1
	}
	seen := map[*ir.Value]bool{}
	var visit func(v *ir.Value)
	visit = func(v *ir.Value) {
		switch {
		case seen[v]:
		case !p.adjoint[v]:
			seen[v] = true
			c.edge(want(v), sink, infinite)
		case v.Def != nil:
			seen[v] = true
			for _, x := range v.Def.Reads() {
				visit(x)
			}
		}
	}
	for _, r := range back {
		visit(r.Val)
	}
	c.fill()
	after := c.reachesSink()
	need := map[*ir.Value]bool{}
	for v, n := range c.node {
		if v.Def != nil && !after[n] && after[n+1] {
			need[v] = true
		}
	}
	return need
}

// fill finds the maximum flow by shortest augmenting paths (Edmonds and Karp 1972).
func (c *cut) fill() {
	for {
		from := make([]*edge, len(c.to))
		queue := []int{source}
		for len(queue) > 0 && from[sink] == nil {
			n := queue[0]
			queue = queue[1:]
			for i := range c.to[n] {
				if e := &c.to[n][i]; e.capacity > 0 && from[e.to] == nil && e.to != source {
					from[e.to] = e
					queue = append(queue, e.to)
				}
			}
		}
		if from[sink] == nil {
			return
		}
		least := infinite
		before := func(e *edge) int { return c.to[e.to][e.back].to }
		for e := from[sink]; e != nil; e = from[before(e)] {
			least = min(least, e.capacity)
		}
		for e := from[sink]; e != nil; e = from[before(e)] {
			e.capacity -= least
			c.to[e.to][e.back].capacity += least
		}
	}
}

// reachesSink are the nodes from which there still is a path to the sink: the backward's side
// of the minimum cut that is nearest to it, so that of equal cuts the one with the least to
// compute again is taken.
func (c *cut) reachesSink() []bool {
	out := make([]bool, len(c.to))
	out[sink] = true
	queue := []int{sink}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range c.to[n] {
			if !out[e.to] && c.to[e.to][e.back].capacity > 0 {
				out[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	return out
}
