package ir

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/shape"
)

// A triangular solve has two loops t and i over one axis, both in Over. With A
// its first argument, B its second, X its output and p a point of all other
// loops,
//
//	X[t, p] + Σ_{i<t} A[t, i, p] X[i, p] = B[t, p]
//
// Only the strictly lower triangle of A is read; its diagonal is taken to be
// one. Other loops that A does not have are columns, and those that it has are
// a batch of matrices.
//
//	%x [c, d] = trisolve t:c j:d i:c over t i : A[t, i] B[t, j]
//
// The transposed system runs from the last row to the first. It is the same
// primitive at reversed subscripts: the output may be written at the end of
// the axis minus t instead of at t.
//
//	%w [c, d] at [c - 1 - t, j] = trisolve t:c i:c j:d over t i : A[c - 1 - i, c - 1 - t] B[c - 1 - t, j]

// Triangle returns the two loops of a triangular solve: t, which the output
// has, and i, which runs over the rows before it.
func (in *Instr) Triangle() (t, i int) {
	t, i = in.Over[0], in.Over[1]
	for _, s := range in.To {
		for _, x := range s.Terms {
			if x.Loop == i {
				return i, t
			}
		}
	}
	return t, i
}

// FromEnd is the subscript that is the last entry of an axis minus loop l.
func FromEnd(last *Axis, l int) Sub {
	return Sub{Terms: []Term{{l, -1}}, Const: last.Size.Sub(shape.Int(1))}
}

// FromEnd returns the loop number when s is the last entry of an axis minus
// one loop.
func (s Sub) FromEnd(a *Axis) (int, bool) {
	if s.Indirect == nil && len(s.Terms) == 1 && s.Terms[0].Coef == -1 && s.Const.Equal(a.Size.Sub(shape.Int(1))) {
		return s.Terms[0].Loop, true
	}
	return 0, false
}

// triangle checks a triangular solve.
func (v *verifier) triangle(in *Instr) {
	if len(in.Over) != 2 || in.Over[0] == in.Over[1] || in.Loops[in.Over[0]] != in.Loops[in.Over[1]] {
		v.bad("%v is over two loops of one axis", in.Op)
		return
	}
	t, i := in.Triangle()
	seen := map[int]bool{}
	for k, s := range in.To {
		l, ok := s.Loop()
		if !ok && k < len(in.Out.Axes) {
			l, ok = s.FromEnd(in.Loops[t])
			ok = ok && l == t
		}
		if !ok || seen[l] {
			v.bad("%v writes at something else than its loops", in.Op)
			return
		}
		seen[l] = true
	}
	switch {
	case seen[i] || !seen[t] || len(seen) != len(in.Loops)-1:
		v.bad("%v writes one of its two loops and all others", in.Op)
	case LoopsOf(in.Args[1].Sub)[i]:
		v.bad("the right side of %v has the loop of the sum", in.Op)
	case HasIndirect(in.Args[0].Sub) || len(in.Guard) > 0:
		v.bad("%v reads its matrix everywhere, at its loops", in.Op)
	}
}

// Equal reports whether two subscripts without integer tensors are the same.
func (s Sub) Equal(t Sub) bool {
	return s.Indirect == nil && t.Indirect == nil && s.Const.Equal(t.Const) && slices.Equal(MergeTerms(slices.Clone(s.Terms)), MergeTerms(slices.Clone(t.Terms)))
}
