package ir

import (
	"github.com/nl-hecate/hecate/gen/shape"
)

// Bounds. An affine subscript is in range when its least and its greatest
// value are, which is decided on the size polynomials: every size is written
// as one plus a rest, and a polynomial without negative coefficients is never
// negative. Where that does not decide and there are guards, a few small sizes
// are tried; a subscript that leaves its axis at all of them is an error.
// Sizes may be related in ways that the program does not say (a window is no
// longer than a chunk), so leaving the axis at one of them is no error.

var one = shape.Int(1)

func (v *verifier) access(in *Instr, a Arg, what string, stacked bool) {
	if a.Val == nil {
		return
	}
	if len(a.Sub) != len(a.Val.Axes) {
		v.bad("%s: %s has %d axes but %d subscripts", what, a.Val.Name, len(a.Val.Axes), len(a.Sub))
		return
	}
	for i, s := range a.Sub {
		if !v.sub(in, s, what) || stacked || s.Indirect != nil {
			continue
		}
		size := a.Val.Axes[i].Size
		if !inRange(in, s, size) && (len(in.Guard) == 0 || !plausible(in, s, size)) {
			v.bad("%s: subscript %d of %s leaves its axis %s", what, i, a.Val.Name, a.Val.Axes[i].Name)
		}
	}
}

// sub checks loops and integer tensors of one subscript.
func (v *verifier) sub(in *Instr, s Sub, what string) bool {
	for _, t := range s.Terms {
		if t.Loop < 0 || t.Loop >= len(in.Loops) {
			v.bad("%s: loop %d does not exist", what, t.Loop)
			return false
		}
	}
	if s.Indirect == nil {
		return true
	}
	if !v.read(s.Indirect.Val, what) {
		return false
	}
	if s.Indirect.Val.Elem != Int {
		v.bad("%s: %s is no integer tensor", what, s.Indirect.Val.Name)
	}
	v.access(in, *s.Indirect, what, false)
	return true
}

// inRange decides 0 ≤ s < size for all points of the iteration space, guards
// aside.
func inRange(in *Instr, s Sub, size shape.Poly) bool {
	lo, hi := s.Const, s.Const
	for _, t := range s.Terms {
		span := in.Loops[t.Loop].Size.Sub(one).Mul(shape.Int(int64(t.Coef)))
		if t.Coef < 0 {
			lo = lo.Add(span)
		} else {
			hi = hi.Add(span)
		}
	}
	return NeverNegative(lo) && NeverNegative(size.Sub(one).Sub(hi))
}

// InRange reports whether a subscript of an instruction stays inside an axis,
// as far as Verify can tell.
func InRange(in *Instr, s Sub, size shape.Poly) bool {
	fixed := len(s.Terms) == 0 && len(in.Guard) == 0 // the same entry at every size
	return s.Indirect != nil || inRange(in, s, size) || !fixed && plausible(in, s, size)
}

// NeverNegative reports that p ≥ 0 whenever all sizes are at least one; false
// means unknown.
func NeverNegative(p shape.Poly) bool {
	q := p.Unfold()
	for _, s := range p.Symbols() {
		q = q.Replace(s, shape.Sym(s).Add(one))
	}
	p = q
	for _, m := range p.Monomials() {
		if m.Coef.Sign() < 0 {
			return false
		}
	}
	return true
}

// plausible tries small sizes.
func plausible(in *Instr, s Sub, size shape.Poly) bool {
	for _, base := range [][]int{{3, 4, 5}, {5, 2, 3}, {2, 5, 4}, {6, 1, 2}, {1, 6, 3}} {
		if holds(in, s, size, base) {
			return true
		}
	}
	return false
}

// holds tries one choice of sizes; an empty iteration space, or one whose size
// is unknown, counts as in range.
func holds(in *Instr, s Sub, size shape.Poly, base []int) bool {
	sizes := choose3(in, s, size, base)
	eval := func(p shape.Poly) int {
		n, err := p.Eval(sizes)
		if err != nil {
			return -1 << 40
		}
		return n
	}
	dims, points := make([]int, len(in.Loops)), 1
	for l, a := range in.Loops {
		dims[l] = eval(a.Size)
		points *= max(dims[l], 0)
	}
	n, c := eval(size), eval(s.Const)
	if points == 0 || points > 5000 || n < 0 || c < -1<<39 {
		return true
	}
	consts := make([]int, len(in.Guard))
	for i, g := range in.Guard {
		consts[i] = eval(g.Const)
	}
	idx := make([]int, len(dims))
	for p := range points {
		for l := len(dims) - 1; l >= 0; l-- {
			idx[l], p = p%dims[l], p/dims[l]
		}
		if x := affine(s, c, idx); guarded(in, consts, idx) && (x < 0 || x >= n) {
			return false
		}
	}
	return true
}

func affine(s Sub, c int, idx []int) int {
	for _, t := range s.Terms {
		c += t.Coef * idx[t.Loop]
	}
	return c
}

func guarded(in *Instr, consts, idx []int) bool {
	for i, g := range in.Guard {
		if g.Indirect == nil && affine(g, consts[i], idx) < 0 {
			return false
		}
	}
	return true
}

// choose3 assigns the sizes three values in turn.
func choose3(in *Instr, s Sub, size shape.Poly, base []int) map[string]int {
	out := map[string]int{}
	give := func(p shape.Poly) {
		for _, x := range p.Symbols() {
			if _, ok := out[x]; !ok {
				out[x] = base[len(out)%len(base)]
			}
		}
	}
	for _, a := range in.Loops {
		give(a.Size)
	}
	give(size)
	give(s.Const)
	for _, g := range in.Guard {
		give(g.Const)
	}
	return out
}
