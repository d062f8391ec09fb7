package lower

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Reassociation of products and sums of products: factors leave the sums that do
// not run over them, and the factors of a product are put into the order of the
// loops that they depend on.

// factor moves factors out of sums that do not run over them: Σ_j
// c·a_i·b_ij·d_j becomes c·a_i·(Σ_j b_ij·d_j), so that sums over the same
// factors become one.
func factor(f *ir.Func) {
	var body []*ir.Instr
	for _, in := range f.Body {
		if inner := split(f, in, summedLoops(in)); inner != nil {
			body = append(body, inner)
		}
		body = append(body, in)
	}
	f.Body = body
}

// summedLoops are the loops that the output does not have.
func summedLoops(in *ir.Instr) map[int]bool {
	out := map[int]bool{}
	for _, l := range in.Reduced() {
		out[l] = true
	}
	return out
}

// split makes the sum over the given loops an instruction of its own, which it
// returns, when in has factors outside of the sum; else nil.
func split(f *ir.Func, in *ir.Instr, over map[int]bool) *ir.Instr {
	if in.Op != ir.Prod || len(over) == 0 || len(in.Guard) > 0 || !fills(in) {
		return nil
	}
	var inside, outside []ir.Arg
	for _, a := range in.Args {
		if usesAny(a.Sub, over) {
			inside = append(inside, a)
		} else {
			outside = append(outside, a)
		}
	}
	covered := all(loopsOf(over), func(l int) bool {
		return slices.ContainsFunc(inside, func(a ir.Arg) bool { return uses(a.Sub, l) })
	})
	if len(outside) == 0 || len(inside) == 0 || !covered {
		return nil
	}
	return extract(f, in, over, inside, outside)
}

func loopsOf(over map[int]bool) []int { return slices.Sorted(maps.Keys(over)) }

func usesAny(subs []ir.Sub, over map[int]bool) bool {
	return slices.ContainsFunc(loopsOf(over), func(l int) bool { return uses(subs, l) })
}

// extract builds the inner sum and makes in the product around it.
func extract(f *ir.Func, in *ir.Instr, over map[int]bool, inside, outside []ir.Arg) *ir.Instr {
	inner := &ir.Instr{Op: ir.Prod, Coef: []float64{1}, Eq: in.Eq, Span: in.Span}
	number := map[int]int{} // loop of in → loop of inner
	var axes []*ir.Axis
	var at []ir.Sub
	for l := range in.Loops {
		used := slices.ContainsFunc(inside, func(a ir.Arg) bool { return uses(a.Sub, l) })
		if !over[l] && used {
			number[l] = len(inner.Loops)
			inner.To = append(inner.To, ir.L(len(inner.Loops)))
			inner.Loops, axes, at = append(inner.Loops, in.Loops[l]), append(axes, in.Loops[l]), append(at, ir.L(l))
		}
	}
	for _, l := range loopsOf(over) {
		number[l] = len(inner.Loops)
		inner.Loops = append(inner.Loops, in.Loops[l])
	}
	for _, a := range inside {
		inner.Args = append(inner.Args, ir.Arg{Val: a.Val, Sub: renumber(a.Sub, number)})
	}
	inner.Out = &ir.Value{Name: f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: inner}
	args := append(slices.Clone(outside), ir.Arg{Val: inner.Out, Sub: at})
	dropLoops(in, over, args)
	return inner
}

// renumber replaces loop numbers in subscripts.
func renumber(subs []ir.Sub, number map[int]int) []ir.Sub {
	return ir.MapLoops(subs, func(l int) int { return number[l] })
}

// dropLoops removes loops from an instruction and replaces its arguments.
func dropLoops(in *ir.Instr, over map[int]bool, args []ir.Arg) {
	number := map[int]int{}
	var loops []*ir.Axis
	for l, a := range in.Loops {
		if !over[l] {
			number[l] = len(loops)
			loops = append(loops, a)
		}
	}
	in.Loops, in.To, in.Args = loops, renumber(in.To, number), nil
	for _, a := range args {
		in.Args = append(in.Args, ir.Arg{Val: a.Val, Sub: renumber(a.Sub, number)})
	}
}

// sortFactors sorts the factors of products of three and more by the innermost
// loop that they depend on, the row first, so that the product of the leading
// ones can be hoisted.
func sortFactors(body []*ir.Instr, rows *independentRows) {
	for _, in := range body {
		if in.Op != ir.Prod || len(in.Args) < 3 {
			continue
		}
		rank := map[int]int{}
		for _, s := range in.To {
			for _, t := range s.Terms {
				if rank[t.Loop] == 0 {
					rank[t.Loop] = len(rank) + 2
				}
			}
		}
		for l := range in.Loops {
			if rank[l] == 0 {
				rank[l] = len(rank) + 2
			}
		}
		if rows != nil && rows.loopOf(in) >= 0 {
			rank[rows.loopOf(in)] = 1
		}
		depth := func(a ir.Arg) int {
			d := 0
			for l := range in.Loops {
				if uses(a.Sub, l) {
					d = max(d, rank[l])
				}
			}
			return d
		}
		slices.SortStableFunc(in.Args, func(a, b ir.Arg) int { return cmp.Compare(depth(a), depth(b)) })
	}
}

// Forward substitution of scaled vectors.

// factorOutScalings substitutes a scaled vector in a product that has an
// independent factor: e_i (θ k_j) becomes (θ e_i) k_j. The scaling is then one
// number per row, and no series of scaled vectors is written and read. The
// pass decides about one product at a time, so a replay decides as its forward
// does.
func (l *lowerer) factorOutScalings(body []*ir.Instr) {
	for _, in := range body {
		if in.Op != ir.Prod {
			continue
		}
		args, coef := []ir.Arg(nil), in.Coef[0]
		for n, a := range in.Args {
			inner := scalingOf(a)
			if inner == nil || !hasIndependentFactor(in, n) {
				args = append(args, a)
				continue
			}
			at := make([]ir.Sub, len(inner.Loops))
			for p, s := range inner.To {
				loop, _ := s.Loop()
				at[loop] = a.Sub[p]
			}
			for _, b := range inner.Args {
				sub, ok := ir.SubstAll(b.Sub, at)
				if !ok {
					fail("a factor of %s has no subscript", inner.Out.Name)
				}
				args = append(args, ir.Arg{Val: b.Val, Sub: sub})
			}
			coef *= inner.Coef[0]
			l.eqs[in] = slices.Concat(l.eqs[in], []string{inner.Eq}, inner.AlsoEqs, l.eqs[inner])
		}
		in.Args, in.Coef = args, []float64{coef}
	}
}

// scalingOf is the product that computes an argument, if it is a vector times
// numbers and each entry is read directly.
func scalingOf(a ir.Arg) *ir.Instr {
	in := a.Val.Def
	if in == nil || in.Op != ir.Prod || !pointwise(in) || ir.HasIndirect(a.Sub) {
		return nil
	}
	vectors := 0
	for _, b := range in.Args {
		if ir.HasIndirect(b.Sub) {
			return nil
		}
		if len(b.Sub) > 0 {
			vectors++
		}
	}
	if vectors != 1 || len(in.Args) == 1 {
		return nil
	}
	return in
}

// hasIndependentFactor reports whether a product has a factor that shares no
// loop with its argument n.
func hasIndependentFactor(in *ir.Instr, n int) bool {
	own := ir.LoopsOf(in.Args[n].Sub)
	return slices.ContainsFunc(in.Args, func(b ir.Arg) bool {
		return len(b.Sub) > 0 && !usesAny(b.Sub, own)
	})
}
