package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// readThrough makes an instruction read the arguments of its arguments where
// those are products or sums that are computed entry by entry: by nobody else,
// or so cheaply (a copy, a transposition, a view, a multiple by scalars) that
// computing them again costs no pass.
func (s *simplifier) readThrough(in *ir.Instr) {
	for i := 0; i < len(in.Args); {
		if !s.inline(in, i) {
			i++
		}
	}
}

// inline replaces argument i by what it is computed from.
func (s *simplifier) inline(in *ir.Instr, i int) bool {
	a := in.Args[i]
	d := a.Val.Def
	if s.onDiagonal(in, i) {
		return true
	}
	if d == nil || (d.Op != ir.Prod && d.Op != ir.Lin && !s.twice(d)) || !d.Elementwise() && !s.alike(in, d, a) {
		return false
	}
	alone := s.uses[a.Val] == 1
	switch {
	case in.Op == ir.Prod && d.Op == ir.Prod && (alone || copyLike(d)):
	case in.Op == ir.Prod && d.Op == ir.Prod && len(in.Reduced()) > 0 && outerLike(d):
	case in.Op == ir.Lin && d.Op == ir.Prod && len(d.Args) == 1:
	case in.Op == ir.Lin && d.Op == ir.Lin && alone && !ir.HasIndirect(a.Sub):
	case in.Op != ir.Prod && in.Op != ir.Lin && d.Op == ir.Prod && len(d.Args) == 1 && d.Coef[0] == 1:
	case s.twice(d):
	default:
		return false
	}
	args, ok := s.through(d, a)
	if !ok {
		return false
	}
	if s.twice(d) {
		args = args[:1]
	}
	coefs, ok := mergedCoefs(in, i, d)
	if !ok {
		return false
	}
	in.Args, in.Coef = slices.Concat(in.Args[:i], args, in.Args[i+1:]), coefs
	computes(in, d)
	s.uses[a.Val]--
	for _, x := range args {
		s.uses[x.Val]++
	}
	s.changed = true
	return true
}

// computes notes that an instruction computes what another one did.
func computes(in, other *ir.Instr) {
	for _, eq := range append([]string{other.Eq}, other.AlsoEqs...) {
		if eq != "" && eq != in.Eq && !slices.Contains(in.AlsoEqs, eq) {
			in.AlsoEqs = append(slices.Clip(in.AlsoEqs), eq)
		}
	}
}

// twice reports whether d is a condition with itself, so that condition spread
// over d's entries.
func (s *simplifier) twice(d *ir.Instr) bool {
	return (d.Op == ir.And || d.Op == ir.Or) && s.argKey(d.Args[0], nil) == s.argKey(d.Args[1], nil)
}

// alike reports whether d is computed entry by entry under guards that its
// reader has too, so that no entry is read where d is not computed. Only guards
// of whole slices count, those of a window's moments behind a state.
func (s *simplifier) alike(in, d *ir.Instr, a ir.Arg) bool {
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
		if !ok || !counts(g) || !s.guards(in, sub) {
			return false
		}
	}
	return true
}

// counts reports whether a guard compares with an integer that is the same for
// all entries.
func counts(g ir.Sub) bool { return g.Indirect != nil && len(g.Indirect.Sub) == 0 }

// guards reports whether an instruction has a guard.
func (s *simplifier) guards(in *ir.Instr, sub ir.Sub) bool {
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

// copyLike reports whether a product is one tensor times numbers that are the
// same for all entries.
func copyLike(d *ir.Instr) bool {
	n := 0
	for _, loops := range argLoops(d) {
		if len(loops) > 0 {
			n++
		}
	}
	return n <= 1
}

// outerLike reports whether a product spreads: each factor has fewer loops than
// the box. A sum over it does better with the factors, which it can sum one
// after the other: Σ_ij (e[i] k[j]) G[i,j] is Σ_i e[i] (Σ_j k[j] G[i,j]).
func outerLike(d *ir.Instr) bool {
	for _, loops := range argLoops(d) {
		if len(loops) >= len(d.Loops) {
			return false
		}
	}
	return len(d.Args) > 1
}

// through returns the arguments of d as they are read where d's output is read
// at a's subscripts.
func (s *simplifier) through(d *ir.Instr, a ir.Arg) ([]ir.Arg, bool) {
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
// like loop l: then a gather that misses d's output misses that argument too,
// and both read as zero.
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
