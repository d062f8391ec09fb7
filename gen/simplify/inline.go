package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Inlining. An instruction reads the arguments of its arguments where these
// are elementwise products or sums.

// inlineArgs inlines every argument that only this instruction reads, or that
// is so cheap (a copy, a transposition, a view, a multiple by scalars) that
// computing it again takes no pass over memory.
func (s *simplifier) inlineArgs(in *ir.Instr) {
	for i := 0; i < len(in.Args); {
		if !s.inline(in, i) {
			i++
		}
	}
}

// inline replaces argument i by what it is computed from and reports whether
// it did.
func (s *simplifier) inline(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	if s.substituteDiagonal(in, i) {
		return true
	}
	if d == nil || (d.Op != ir.Prod && d.Op != ir.Lin && !s.repeatsCondition(d)) || !d.Elementwise() && !s.underSameGuards(in, d, a) {
		return false
	}
	alone := s.uses[a.Val] == 1
	switch {
	case in.Op == ir.Prod && d.Op == ir.Prod && (alone || isScaling(d)):
	case in.Op == ir.Prod && d.Op == ir.Prod && len(in.Reduced()) > 0 && isOuterProduct(d):
	case in.Op == ir.Lin && d.Op == ir.Prod && len(d.Args) == 1:
	case in.Op == ir.Lin && d.Op == ir.Lin && alone && !ir.HasIndirect(a.Sub):
	case in.Op != ir.Prod && in.Op != ir.Lin && d.Op == ir.Prod && len(d.Args) == 1 && d.Coef[0] == 1:
	case s.repeatsCondition(d):
	default:
		return false
	}
	args, ok := s.substituted(d, a)
	if !ok {
		return false
	}
	if s.repeatsCondition(d) {
		args = args[:1]
	}
	coefs, ok := mergedCoefs(in, i, d)
	if !ok {
		return false
	}
	in.Args, in.Coef = slices.Concat(in.Args[:i], args, in.Args[i+1:]), coefs
	recordEquations(in, d)
	s.uses[a.Val]--
	for _, x := range args {
		s.uses[x.Val]++
	}
	s.changed = true
	return true
}

// recordEquations notes that an instruction now computes the equations of
// another one as well.
func recordEquations(in, other *ir.Instr) {
	for _, eq := range append([]string{other.Eq}, other.AlsoEqs...) {
		if eq != "" && eq != in.Eq && !slices.Contains(in.AlsoEqs, eq) {
			in.AlsoEqs = append(slices.Clip(in.AlsoEqs), eq)
		}
	}
}

// repeatsCondition reports whether d is a condition combined with itself,
// which broadcasts it.
func (s *simplifier) repeatsCondition(d *ir.Instr) bool {
	return (d.Op == ir.And || d.Op == ir.Or) && s.argKey(d.Args[0], nil) == s.argKey(d.Args[1], nil)
}

// underSameGuards reports whether d is elementwise under guards that its
// reader has too, so that no entry is read where d is not computed. Only
// guards of whole slices count, those of a window that reaches before the
// first token.
func (s *simplifier) underSameGuards(in, d *ir.Instr, a ir.Arg) bool {
	by, whole := d.OutputAxes()
	if !whole || len(d.Guard) == 0 {
		return false
	}
	at := make([]ir.Sub, len(d.Loops))
	for l, i := range by {
		at[l] = a.Sub[i]
	}
	for _, g := range d.Guard {
		sub, ok := g.Subst(at)
		if !ok || !comparesCount(g) || !s.hasGuard(in, sub) {
			return false
		}
	}
	return true
}

// comparesCount reports whether a guard compares with an integer that is the same for
// all entries.
func comparesCount(g ir.Sub) bool { return g.Indirect != nil && len(g.Indirect.Sub) == 0 }

// hasGuard reports whether an instruction has a guard.
func (s *simplifier) hasGuard(in *ir.Instr, sub ir.Sub) bool {
	key := s.subKey(sub, nil)
	return slices.ContainsFunc(in.Guard, func(g ir.Sub) bool { return s.subKey(g, nil) == key })
}

// mergedCoefs are the coefficients of a product or sum that reads another one as
// argument i, with that one's in its place; ok is false where rounding loses one.
func mergedCoefs(in *ir.Instr, i int, d *ir.Instr) (out []float64, ok bool) {
	if in.Op != ir.Prod && in.Op != ir.Lin {
		return in.Coef, true
	}
	at := min(i, len(in.Coef)-1) // a product has one
	coef, inner := slices.Clone(in.Coef), slices.Clone(d.Coef)
	for j := range inner {
		if inner[j], ok = timesCoef(coef[at], inner[j]); !ok {
			return nil, false
		}
	}
	if in.Op == ir.Lin && d.Op == ir.Lin {
		last := len(inner) - 1
		if coef[len(coef)-1], ok = plusCoef(coef[len(coef)-1], inner[last]); !ok {
			return nil, false
		}
		inner = inner[:last]
	}
	return slices.Concat(coef[:at], inner, coef[at+1:]), true
}

// isScaling reports whether a product is one tensor times numbers that are the
// same for all entries.
func isScaling(d *ir.Instr) bool {
	n := 0
	for _, loops := range argLoops(d) {
		if len(loops) > 0 {
			n++
		}
	}
	return n <= 1
}

// isOuterProduct reports whether each factor has fewer loops than the product.
// A sum over it is cheaper with the factors, which it sums one after the
// other: Σ_ij (e[i] k[j]) G[i,j] is Σ_i e[i] (Σ_j k[j] G[i,j]).
func isOuterProduct(d *ir.Instr) bool {
	for _, loops := range argLoops(d) {
		if len(loops) >= len(d.Loops) {
			return false
		}
	}
	return len(d.Args) > 1
}

// substituted returns the arguments of d at the subscripts at which d's output
// is read.
func (s *simplifier) substituted(d *ir.Instr, a ir.Arg) ([]ir.Arg, bool) {
	by, _ := d.OutputAxes()
	at := make([]ir.Sub, len(d.Loops))
	for l, i := range by {
		at[l] = a.Sub[i]
	}
	for l, sub := range at {
		if sub.Indirect != nil && !boundedBy(d, l) {
			return nil, false
		}
	}
	args := make([]ir.Arg, len(d.Args))
	for i, x := range d.Args {
		if ir.HasIndirect(x.Sub) {
			return nil, false
		}
		subs, ok := ir.SubstAll(x.Sub, at)
		if !ok {
			return nil, false
		}
		args[i] = ir.Arg{Val: x.Val, Sub: subs}
	}
	return args, true
}

// boundedBy reports whether an argument of d is read along an axis exactly
// like loop l: then a gather outside of d's output is outside of that argument
// too, and both read as zero.
func boundedBy(d *ir.Instr, l int) bool {
	for _, x := range d.Args {
		for i, sub := range x.Sub {
			if k, ok := sub.Loop(); ok && k == l && x.Val.Axes[i] == d.Loops[l] {
				return true
			}
		}
	}
	return false
}
