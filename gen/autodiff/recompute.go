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

// Weights, not cycles: of a byte moved in one direction, and of an operation and a function for
// each entry. Moving outweighs them, so that what one pass computes from saved values is not
// saved; among equal sets they choose the one with the least to compute.
const (
	priceMove     = 8
	priceSimple   = 1
	priceFunction = 4
)

// recomputable reports whether the backward may compute an instruction again: in one pass
// over the entries of its arguments, and with code for vectors.
func recomputable(in *ir.Instr) bool {
	switch in.Op {
	case ir.Prod:
		return ir.Identity(sortLoops(in.To), len(in.To)) && length(in) <= ir.ShortSum
	case ir.Narrow:
		return true
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
	case in.Op.Info().View:
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

// needs lists the values of the forward that the backward takes from it; all other values
// that it reads it computes again from them. Each value is two nodes of a network, between
// which the capacity is the cost of having it in memory.
func (p *pairer) needs(back []ir.Result) map[*ir.Value]bool {
	c, node := newCut(), map[*ir.Value]int{}
	given := map[*ir.Value]bool{}
	for _, r := range p.joint.Results {
		given[r.Val] = true
	}
	var want func(v *ir.Value) int
	want = func(v *ir.Value) int {
		if n, ok := node[v]; ok {
			return n + 1
		}
		n := c.add()
		node[v] = n
		again := v.Def != nil && recomputable(v.Def)
		save := entries(v) * v.Elem.Bytes() * priceMove
		switch {
		case again && (v.Def.Op.Info().View || v.Elem != ir.Real): // a view is no copy, and only numbers are saved
			save = infinite
		case v.Def != nil && !given[v]:
			save *= 2
		}
		c.edge(n, n+1, save)
		if !again {
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
	for v, n := range node {
		if v.Def != nil && !after[n] && after[n+1] {
			need[v] = true
		}
	}
	return need
}
