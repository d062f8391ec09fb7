package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

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
	own := map[int]bool{}
	for _, s := range in.Args[n].Sub {
		s.Loops(own)
	}
	return slices.ContainsFunc(in.Args, func(b ir.Arg) bool {
		return len(b.Sub) > 0 && !usesAny(b.Sub, own)
	})
}
