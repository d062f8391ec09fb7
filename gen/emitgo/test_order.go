package emitgo

import (
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The order of a unit is the degree of what it computes at a token, in the sizes
// of the unit: 2 where it multiplies matrices by vectors, 3 where it multiplies
// matrices by matrices. A test keeps the sizes of units of a high order small.

// leastOrder is that of a unit that multiplies no matrices by matrices: its test
// need not know it.
const leastOrder = 2

// order is the largest number of loops over sizes of the unit that are nested in
// one another in its kernels.
func (e *unitEmitter) order() int {
	own := map[string]bool{}
	for _, z := range e.free() {
		own[z.Name] = true
	}
	ofSize := func(p shape.Poly) int { // its degree in the sizes of the unit
		most := 0
		for _, m := range p.Monomials() {
			n := 0
			for _, f := range m.Syms {
				if own[f] {
					n++
				}
			}
			most = max(most, n)
		}
		return most
	}
	most := leastOrder
	for _, st := range e.u.Stages {
		for _, k := range []*plan.Kernel{st.Fwd, st.Bwd} {
			if k != nil {
				most = max(most, depth(k.Body, ofSize))
			}
		}
	}
	return most
}

// depth is the largest number of counted loops around a statement.
func depth(ns []plan.Node, count func(shape.Poly) int) int {
	most := 0
	for _, n := range ns {
		d := 0
		switch n := n.(type) {
		case *plan.Loop:
			own := 0
			for _, hi := range n.Hi {
				own = max(own, count(hi.Const))
			}
			d = own + depth(n.Body, count)
		case *plan.If:
			d = depth(n.Body, count)
		case *plan.Gemm:
			d = count(n.M) + count(n.N) + count(n.K)
		case *plan.TriSolve:
			d = 2*count(n.M) + count(n.N)
		}
		most = max(most, d)
	}
	return most
}
