package simplify

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The order of a contraction. A sum of products over several loops is computed
// one loop at a time, smallest iteration space first, and the factors of a
// product are multiplied pairwise in the same manner (a greedy form of the
// matrix-chain and tensor-contraction orders).

// splitSum rewrites Σ_ij G[i,j] e[i] k[j] to Σ_i e[i] (Σ_j G[i,j] k[j]). A
// summed loop on which not all factors depend is summed first, over the
// factors that do; of several the one with the smallest iteration space. Each
// step removes a loop from the space of the rest, so it saves work at every
// size. Guards count as factors. What depends on no summed loop, the
// coefficient included, stays outside, so that sums which differ only there
// become one.
func (s *simplifier) splitSum(in *ir.Instr) {
	reduced := in.Reduced()
	var best *partial
	for i := len(reduced) - 1; i >= 0; i-- {
		if p := s.partialSum(in, reduced, reduced[i]); p != nil && (best == nil || len(p.loops) < len(best.loops)) {
			best = p
		}
	}
	if best != nil {
		s.apply(in, best)
		s.changed = true
		s.splitSum(in)
	}
}

// A partial is a sum that can be done first.
type partial struct {
	loops   []int // its box, kept loops first
	kept    int
	args    []int // the factors it takes
	inGuard []int
	onGuard []int // guards that stay outside
}

// partialSum returns the sum over loop r alone, or nil when the whole sum is
// over r. A factor that is broadcast over the output stays outside as a 1.
func (s *simplifier) partialSum(in *ir.Instr, reduced []int, r int) *partial {
	p := &partial{}
	takes := map[int]bool{}
	deps := argLoops(in)
	for i, d := range deps {
		if d[r] {
			p.args, takes[i] = append(p.args, i), true
		}
	}
	if len(p.args) == len(in.Args) && !broadcasts(in, deps) {
		return nil
	}
	// Loops that only these factors depend on are summed at the same time.
	sums := map[int]bool{}
	for _, q := range reduced {
		sums[q] = true
		for i, d := range deps {
			sums[q] = sums[q] && (!d[q] || takes[i])
		}
	}
	box := map[int]bool{r: true}
	for _, i := range p.args {
		maps.Copy(box, deps[i])
	}
	if !s.placeGuards(in, p, takes, deps, sums, box) {
		return nil
	}
	for _, g := range p.inGuard {
		in.Guard[g].Loops(box)
	}
	for l := range in.Loops {
		if box[l] && !sums[l] {
			p.loops = append(p.loops, l)
		}
	}
	p.kept = len(p.loops)
	for _, l := range reduced {
		if box[l] && sums[l] {
			p.loops = append(p.loops, l)
		}
	}
	return p
}

// broadcasts reports whether the output has a loop that nothing depends on.
func broadcasts(in *ir.Instr, deps []map[int]bool) bool {
	used := ir.LoopsOf(in.Guard)
	for _, d := range deps {
		maps.Copy(used, d)
	}
	for _, sub := range in.To {
		if l, ok := sub.Loop(); ok && !used[l] {
			return true
		}
	}
	return false
}

func argLoops(in *ir.Instr) []map[int]bool {
	out := make([]map[int]bool, len(in.Args))
	for i, a := range in.Args {
		out[i] = ir.LoopsOf(a.Sub)
	}
	return out
}

// placeGuards decides for each guard whether it stays inside or outside of the
// partial sum: inside when it depends on a loop that is summed there, and when
// it narrows the iteration space of the partial sum, which is zero elsewhere
// as the whole is; else outside. A factor that is read at a shifted subscript
// may be in range only under its guards, so guards stay with all factors that
// share a loop with them.
func (s *simplifier) placeGuards(in *ir.Instr, p *partial, takes map[int]bool, deps []map[int]bool, sums, box map[int]bool) bool {
	out := ir.Arg{Val: in.Out, Sub: in.To}
	written := ir.LoopsOf(in.To)
	for g := range in.Guard {
		loops := ir.LoopsOf(in.Guard[g : g+1])
		fits := func(inside bool) bool {
			ok := !inside || readsWholeAxes(in, out) || !intersects(written, loops)
			for i, a := range in.Args {
				ok = ok && (takes[i] == inside || readsWholeAxes(in, a) || !intersects(deps[i], loops))
			}
			return ok
		}
		switch {
		case fits(true) && (intersects(loops, sums) || len(union(loops, box)) == len(box)):
			p.inGuard = append(p.inGuard, g)
		case fits(false) && !intersects(loops, sums):
			p.onGuard = append(p.onGuard, g)
		default:
			return false
		}
	}
	return true
}

// readsWholeAxes reports whether every subscript is a loop over the whole axis, which
// is in range with no guard.
func readsWholeAxes(in *ir.Instr, a ir.Arg) bool {
	for i, s := range a.Sub {
		if l, ok := s.Loop(); !ok || in.Loops[l] != a.Val.Axes[i] {
			return false
		}
	}
	return true
}

func intersects(a, b map[int]bool) bool {
	for l := range a {
		if b[l] {
			return true
		}
	}
	return false
}

// apply computes the partial sum and makes the product read it.
func (s *simplifier) apply(in *ir.Instr, p *partial) {
	inner := s.inner(in, p)
	keep := func(all []ir.Sub, which []int) []ir.Sub {
		out := make([]ir.Sub, len(which))
		for i, g := range which {
			out[i] = all[g]
		}
		return out
	}
	sum := ir.Arg{Val: inner}
	for _, l := range p.loops[:p.kept] {
		sum.Sub = append(sum.Sub, ir.L(l))
	}
	var rest []ir.Arg
	for i, a := range in.Args {
		if !slices.Contains(p.args, i) {
			rest = append(rest, a)
		}
	}
	in.Args, in.Guard = append(rest, sum), keep(in.Guard, p.onGuard)
	s.uses[inner]++
	dropLoops(in, p.loops[p.kept:])
}

// inner appends the partial sum of its factors.
func (s *simplifier) inner(in *ir.Instr, p *partial) *ir.Value {
	at := make([]ir.Sub, len(in.Loops))
	sum := &ir.Instr{Op: ir.Prod, Coef: []float64{1}, To: ir.Ls(p.kept)}
	for n, l := range p.loops {
		at[l] = ir.L(n)
		sum.Loops = append(sum.Loops, in.Loops[l])
	}
	for _, i := range p.args {
		subs, _ := ir.SubstAll(in.Args[i].Sub, at)
		sum.Args = append(sum.Args, ir.Arg{Val: in.Args[i].Val, Sub: subs})
	}
	for _, g := range p.inGuard {
		sub, _ := in.Guard[g].Subst(at)
		sum.Guard = append(sum.Guard, sub)
	}
	return s.emit(sum, slices.Clone(sum.Loops[:p.kept]))
}

// dropLoops removes loops that nothing depends on any more.
func dropLoops(in *ir.Instr, gone []int) {
	to := make([]int, len(in.Loops))
	var loops []*ir.Axis
	for l := range in.Loops {
		if !slices.Contains(gone, l) {
			to[l] = len(loops)
			loops = append(loops, in.Loops[l])
		}
	}
	substituteLoops(in, loops, to)
}

// groupFactors is the second phase on one instruction: of three or more
// factors, those are multiplied first that together need fewer loops than the
// whole product, smallest iteration space first.
func groupFactors(s *simplifier, in *ir.Instr) *ir.Value {
	for in.Op == ir.Prod && len(in.Args) > 2 {
		i, j, loops := s.cheapestPair(in)
		if loops == nil {
			break
		}
		pair := &partial{loops: loops, kept: len(loops), args: []int{i, j}}
		for g := range in.Guard {
			pair.onGuard = append(pair.onGuard, g)
		}
		s.apply(in, pair)
	}
	return nil
}

// cheapestPair finds the two factors with the smallest common iteration space
// that is smaller than the instruction's.
func (s *simplifier) cheapestPair(in *ir.Instr) (int, int, []int) {
	deps := argLoops(in)
	bi, bj, best := -1, -1, len(in.Loops)
	for i := range in.Args {
		for j := i + 1; j < len(in.Args); j++ {
			n := len(union(deps[i], deps[j]))
			if ir.HasIndirect(in.Args[i].Sub) || ir.HasIndirect(in.Args[j].Sub) {
				continue // a gather stays where it is, as it is not read through
			}
			free := len(in.Guard) == 0 || (readsWholeAxes(in, in.Args[i]) && readsWholeAxes(in, in.Args[j]))
			if n < best && free {
				bi, bj, best = i, j, n
			}
		}
	}
	if bi < 0 {
		return 0, 0, nil
	}
	both := union(deps[bi], deps[bj])
	for _, i := range []int{bi, bj} {
		if order := plainLoops(in.Args[i].Sub); len(order) == len(both) {
			return bi, bj, order // a scaling: in the layout of what is scaled
		}
	}
	loops := []int{}
	for l := range in.Loops {
		if both[l] {
			loops = append(loops, l)
		}
	}
	return bi, bj, loops
}

// plainLoops are the loops of subscripts in their order, or nil where one is no plain loop.
func plainLoops(subs []ir.Sub) []int {
	var out []int
	for _, s := range subs {
		l, plain := s.Loop()
		if !plain || slices.Contains(out, l) {
			return nil
		}
		out = append(out, l)
	}
	return out
}

func union(a, b map[int]bool) map[int]bool {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
