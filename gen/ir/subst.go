package ir

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/shape"
)

// Substitution of subscripts. An elementwise value can be inlined: where it is
// read at subscripts S, its arguments are read at their own subscripts with
// every loop replaced by the entry of S that the loop writes.

// Loops adds the loops that the subscript depends on to set.
func (s Sub) Loops(set map[int]bool) {
	for _, t := range s.Terms {
		if t.Coef != 0 {
			set[t.Loop] = true
		}
	}
	if s.Indirect != nil {
		s.Indirect.Loops(set)
	}
}

// Loops adds the loops that the subscripts of a depend on to set.
func (a Arg) Loops(set map[int]bool) {
	for _, s := range a.Sub {
		s.Loops(set)
	}
}

// LoopsOf returns the loops that subscripts depend on.
func LoopsOf(subs []Sub) map[int]bool {
	out := map[int]bool{}
	Arg{Sub: subs}.Loops(out)
	return out
}

// HasIndirect reports whether any subscript comes from an integer tensor.
func HasIndirect(subs []Sub) bool {
	return slices.ContainsFunc(subs, func(s Sub) bool { return s.Indirect != nil })
}

// Subst returns s with loop l replaced by at[l]. It fails where the result is
// no subscript: a multiple of an integer tensor's entry, or two of them.
func (s Sub) Subst(at []Sub) (Sub, bool) {
	out := Sub{Const: s.Const}
	if s.Indirect != nil {
		subs, ok := SubstAll(s.Indirect.Sub, at)
		if !ok {
			return Sub{}, false
		}
		out.Indirect = &Arg{s.Indirect.Val, subs}
	}
	for _, t := range s.Terms {
		r := at[t.Loop]
		if r.Indirect != nil {
			if t.Coef != 1 || out.Indirect != nil {
				return Sub{}, false
			}
			out.Indirect = r.Indirect
		}
		out.Const = out.Const.Add(r.Const.Mul(shape.Int(int64(t.Coef))))
		for _, u := range r.Terms {
			out.Terms = append(out.Terms, Term{u.Loop, u.Coef * t.Coef})
		}
	}
	out.Terms = MergeTerms(out.Terms)
	return out, true
}

// SubstAll substitutes in each of subs.
func SubstAll(subs, at []Sub) ([]Sub, bool) {
	out := make([]Sub, len(subs))
	for i, s := range subs {
		var ok bool
		if out[i], ok = s.Subst(at); !ok {
			return nil, false
		}
	}
	return out, true
}

// MapLoops renumbers the loops of subscripts.
func MapLoops(subs []Sub, to func(loop int) int) []Sub {
	out := make([]Sub, len(subs))
	for i, s := range subs {
		out[i].Const = s.Const
		for _, t := range s.Terms {
			out[i].Terms = append(out[i].Terms, Term{Loop: to(t.Loop), Coef: t.Coef})
		}
		if s.Indirect != nil {
			out[i].Indirect = &Arg{Val: s.Indirect.Val, Sub: MapLoops(s.Indirect.Sub, to)}
		}
	}
	return out
}

// MergeTerms sorts terms by loop, adds like ones and drops zeros.
func MergeTerms(ts []Term) []Term {
	slices.SortStableFunc(ts, func(a, b Term) int { return a.Loop - b.Loop })
	var out []Term
	for _, t := range ts {
		if n := len(out); n > 0 && out[n-1].Loop == t.Loop {
			out[n-1].Coef += t.Coef
			continue
		}
		out = append(out, t)
	}
	return slices.DeleteFunc(out, func(t Term) bool { return t.Coef == 0 })
}

// Renumber returns the plain subscripts that map loop l to loop to[l].
func Renumber(to []int) []Sub {
	out := make([]Sub, len(to))
	for l, n := range to {
		out[l] = L(n)
	}
	return out
}

// OutputAxes returns for every loop the output axis that it is the subscript
// of, when the instruction writes every entry of its output exactly once: To
// is a permutation of all loops, each over its whole axis. Guards are ignored.
func (in *Instr) OutputAxes() ([]int, bool) {
	if in.Out == nil || len(in.To) != len(in.Loops) || len(in.To) != len(in.Out.Axes) {
		return nil, false
	}
	by := make([]int, len(in.Loops))
	for i := range by {
		by[i] = -1
	}
	for i, s := range in.To {
		l, ok := s.Loop()
		if !ok || by[l] >= 0 || in.Out.Axes[i] != in.Loops[l] {
			return nil, false
		}
		by[l] = i
	}
	return by, true
}

// Elementwise reports whether each entry of the output is computed from
// entries of the arguments, with no guard and no sum.
func (in *Instr) Elementwise() bool {
	if len(in.Guard) > 0 || in.Op == Stack || (in.Op != Prod && !in.Op.Info().Elementwise) {
		return false
	}
	_, ok := in.OutputAxes()
	return ok
}

// Entrywise reports whether values have at most one axis, and each entry is computed from the entries at
// its own place, whatever the sizes: vectors of two calls may be joined and computed in one.
func (f *Func) Entrywise() bool {
	for _, in := range f.Body {
		if !in.Elementwise() || len(in.Loops) > 1 || in.Op == SizeOf || in.Op == Iota {
			return false
		}
		for _, a := range in.Args {
			for _, s := range a.Sub {
				if _, ok := s.Loop(); !ok {
					return false
				}
			}
		}
	}
	return true
}

// Reduced returns the loops of a product that its output does not depend on.
func (in *Instr) Reduced() []int {
	kept := LoopsOf(in.To)
	var out []int
	for l := range in.Loops {
		if !kept[l] {
			out = append(out, l)
		}
	}
	return out
}
