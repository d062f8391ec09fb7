package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Factoring (the distributive law from right to left). A sum of products with
// common factors is those factors times the sum of the rest:
//
//	e[i] k[j] + 2 f[i] k[j]              (e[i] + 2 f[i]) k[j]
//	Σ_j W[i,j] x[j] − Σ_j W[i,j] y[j]    Σ_j W[i,j] (x[j] − y[j])
//
// It saves a product, or a pass over W, for a sum over fewer loops, and is
// done where the sum has fewer loops and nothing else reads the products. Two
// sums over the same W give up their own factors too, as in s[i] (Σ_j W[i,j]
// x[j]); this saves nothing by itself but makes the first rewrite possible.

// A term is a product that is a summand, over the loops of the sum and then those
// that the term sums over itself.
type term struct {
	coef float64
	args []ir.Arg
	all  []*ir.Axis
	of   *ir.Instr // the instruction that computes it
}

// factorCommon rewrites a sum until no two of its terms have factors to share.
func (s *simplifier) factorCommon(in *ir.Instr) {
	if in.Op != ir.Lin || len(in.Guard) > 0 || !slices.Equal(in.Out.Axes, in.Loops) || !ir.Identity(in.To, len(in.Loops)) {
		return
	}
	for s.factorPair(in) {
		s.changed = true
	}
	if n := len(in.Args); n == 1 && in.Coef[n] == 0 {
		s.foldLin(in)
	}
}

func (s *simplifier) factorPair(in *ir.Instr) bool {
	for i := range in.Args {
		for j := i + 1; j < len(in.Args); j++ {
			a, b := s.term(in, i), s.term(in, j)
			if !slices.Equal(a.all, b.all) {
				continue
			}
			common := s.common(&a, &b)
			if len(common) == 0 || !s.isWorthwhile(a, b) {
				continue
			}
			if _, ok := plusCoef(a.coef, b.coef); len(a.args)+len(b.args) == 0 && !ok {
				continue
			}
			scale, rest := s.sumOfRests(a, b)
			sum := s.emit(&ir.Instr{Op: ir.Prod, Loops: a.all, To: ir.Ls(len(in.Loops)), Args: append(common, rest), Coef: []float64{scale}}, in.Loops)
			in.Args[i], in.Coef[i] = ir.All(sum), 1
			in.Args, in.Coef = slices.Delete(in.Args, j, j+1), slices.Delete(in.Coef, j, j+1)
			s.uses[sum]++
			if sum.Def != nil {
				recordEquations(sum.Def, a.of)
				recordEquations(sum.Def, b.of)
			}
			return true
		}
	}
	return false
}

// term is an argument of a sum as the product that computes it, if nothing else
// needs it, else as one factor.
func (s *simplifier) term(in *ir.Instr, i int) term {
	a := in.Args[i]
	d := a.Val.Def
	if d == nil || d.Op != ir.Prod || s.uses[a.Val] > 1 || len(d.Guard) > 0 || !ir.Identity(a.Sub, len(in.Loops)) ||
		len(d.Loops) < len(in.Loops) || !slices.Equal(d.Loops[:len(in.Loops)], in.Loops) || !ir.Identity(d.To, len(in.Loops)) {
		return term{in.Coef[i], []ir.Arg{a}, in.Loops, in}
	}
	return term{in.Coef[i] * d.Coef[0], slices.Clone(d.Args), d.Loops, d}
}

// common takes the factors out of two terms that both have.
func (s *simplifier) common(a, b *term) []ir.Arg {
	var both, rest []ir.Arg
	others := slices.Clone(b.args)
	for _, x := range a.args {
		key := s.argKey(x, nil)
		at := slices.IndexFunc(others, func(y ir.Arg) bool { return s.argKey(y, nil) == key })
		if at < 0 || ir.HasIndirect(x.Sub) {
			rest = append(rest, x)
			continue
		}
		both, others = append(both, x), slices.Delete(others, at, at+1)
	}
	a.args, b.args = rest, others
	return both
}

// isWorthwhile reports whether the sum of the rests of two terms is cheaper
// than both.
func (s *simplifier) isWorthwhile(a, b term) bool {
	loops := map[int]bool{}
	for _, x := range append(slices.Clone(a.args), b.args...) {
		if ir.HasIndirect(x.Sub) {
			return false
		}
		x.Loops(loops)
	}
	return len(loops) < len(a.all) || len(a.args) == 1 && len(b.args) == 1 && s.sameSum(a.args[0], b.args[0])
}

// sameSum reports whether two values are sums over the same loops with a factor
// in common, read at the same place.
func (s *simplifier) sameSum(a, b ir.Arg) bool {
	d, e := a.Val.Def, b.Val.Def
	if d == nil || e == nil || d.Op != ir.Prod || e.Op != ir.Prod || s.subsKey(a.Sub, nil) != s.subsKey(b.Sub, nil) {
		return false
	}
	x, y := term{args: slices.Clone(d.Args)}, term{args: slices.Clone(e.Args)}
	return len(d.Loops) > len(d.Out.Axes) && slices.Equal(d.Loops, e.Loops) && len(d.Guard)+len(e.Guard) == 0 && len(s.common(&x, &y)) > 0
}

// sumOfRests is the sum of the rests of two terms, divided by a scale that
// stays outside.
func (s *simplifier) sumOfRests(a, b term) (scale float64, out ir.Arg) {
	scale = a.coef
	if b.coef/scale*scale != b.coef {
		scale = 1
	}
	sum, constant := &ir.Instr{Op: ir.Lin}, 0.
	loops, at := box(a.all, append(slices.Clone(a.args), b.args...))
	for _, t := range []term{a, b} {
		if len(t.args) == 0 {
			constant += t.coef / scale
			continue
		}
		x := s.productOf(t)
		x.Sub, _ = ir.SubstAll(x.Sub, at)
		sum.Args, sum.Coef = append(sum.Args, x), append(sum.Coef, t.coef/scale)
	}
	for _, l := range loops {
		sum.Loops, out.Sub = append(sum.Loops, a.all[l]), append(out.Sub, ir.L(l))
	}
	sum.To, sum.Coef = ir.Ls(len(loops)), append(sum.Coef, constant)
	out.Val = s.emit(sum, slices.Clone(sum.Loops))
	s.uses[out.Val]++
	return scale, out
}

// productOf is the product of a term's factors as one value.
func (s *simplifier) productOf(t term) ir.Arg {
	if len(t.args) == 1 {
		return t.args[0]
	}
	loops, at := box(t.all, t.args)
	prod, out := &ir.Instr{Op: ir.Prod, To: ir.Ls(len(loops)), Coef: []float64{1}}, ir.Arg{}
	for _, x := range t.args {
		x.Sub, _ = ir.SubstAll(x.Sub, at)
		prod.Args = append(prod.Args, x)
	}
	for _, l := range loops {
		prod.Loops, out.Sub = append(prod.Loops, t.all[l]), append(out.Sub, ir.L(l))
	}
	out.Val = s.emit(prod, slices.Clone(prod.Loops))
	s.uses[out.Val]++
	return out
}

// box lists the loops that arguments depend on, and numbers them.
func box(all []*ir.Axis, args []ir.Arg) (loops []int, at []ir.Sub) {
	used := map[int]bool{}
	for _, x := range args {
		x.Loops(used)
	}
	at = make([]ir.Sub, len(all))
	for l := range all {
		if used[l] {
			at[l] = ir.L(len(loops))
			loops = append(loops, l)
		}
	}
	return loops, at
}
