package simplify

import (
	"cmp"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A fixed order of factors and loops, so that equal instructions have equal
// texts.

// sortFactors sorts scalars first, then by descending number of axes, then by
// the order of definition.
func (s *simplifier) sortFactors(in *ir.Instr) {
	rank := func(a ir.Arg) int {
		if n := len(a.Val.Axes); n > 0 {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(in.Args, func(a, b ir.Arg) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(s.order[a.Val], s.order[b.Val]),
			cmp.Compare(s.subsKey(a.Sub, nil), s.subsKey(b.Sub, nil)))
	})
}

// reorder numbers the loops by the output's subscripts, summed loops last.
func reorder(in *ir.Instr) {
	to := make([]int, len(in.Loops))
	for i := range to {
		to[i] = -1
	}
	n := 0
	for _, s := range in.To {
		if l, ok := s.Loop(); ok && to[l] < 0 {
			to[l], n = n, n+1
		}
	}
	for l := range to {
		if to[l] < 0 {
			to[l], n = n, n+1
		}
	}
	renumber(in, to)
}

// renumber moves loop l to place to[l].
func renumber(in *ir.Instr, to []int) {
	loops := make([]*ir.Axis, len(in.Loops))
	for l, n := range to {
		loops[n] = in.Loops[l]
	}
	substituteLoops(in, loops, to)
	for i, l := range in.Over {
		in.Over[i] = to[l]
	}
	slices.Sort(in.Over)
}

// substituteLoops replaces the loops of an instruction; loop l is loop to[l] of the new ones.
func substituteLoops(in *ir.Instr, loops []*ir.Axis, to []int) {
	at := ir.Renumber(to)
	in.Loops = loops
	in.To, _ = ir.SubstAll(in.To, at)
	in.Guard, _ = ir.SubstAll(in.Guard, at)
	for i, a := range in.Args {
		in.Args[i].Sub, _ = ir.SubstAll(a.Sub, at)
	}
}
