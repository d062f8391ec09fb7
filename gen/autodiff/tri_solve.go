package autodiff

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The adjoint of a triangular solve (I + L) X = B, L strictly lower, is
// another one: with W the solution of (I + Lᵀ) W = X̄,
//
//	B̄ = W    L̄ = −W Xᵀ, strictly lower part
//
// The transposed system is the same primitive at reversed subscripts, so this
// row is its own derivative too.

// triSolveRow is the row of the table.
func triSolveRow(l *local, k int) *ir.Value {
	t, i := l.in.Triangle()
	w := l.transposed(t, i)
	if k == 1 {
		return l.rightAdjoint(w, i)
	}
	return l.matrixAdjoint(w, t, i)
}

// loopsWithout numbers the loops that are not left out; at[l] is the subscript
// of loop l.
func (l *local) loopsWithout(left func(loop int) bool) (loops []*ir.Axis, at []ir.Sub) {
	at = make([]ir.Sub, len(l.in.Loops))
	for n, a := range l.in.Loops {
		if !left(n) {
			at[n] = ir.L(len(loops))
			loops = append(loops, a)
		}
	}
	return loops, at
}

// substituted replaces every loop l of subs by at[l].
func substituted(subs, at []ir.Sub) []ir.Sub {
	out, ok := ir.SubstAll(subs, at)
	if !ok {
		panic("autodiff: BUG: a triangular solve is not at its loops")
	}
	return out
}

// transposed solves the transposed system for the adjoint of the output: W
// over the loops of the output.
func (l *local) transposed(t, i int) ir.Arg {
	in, axis := l.in, l.in.Loops[t]
	flip, sum := ir.Ls(len(in.Loops)), ir.Ls(len(in.Loops))
	flip[t] = ir.FromEnd(axis, t)
	sum[t], sum[i] = ir.FromEnd(axis, i), ir.FromEnd(axis, t)
	axes, at := l.loopsWithout(func(n int) bool { return n == i })
	var to []ir.Sub
	for n := range in.Loops {
		if n != i {
			to = append(to, flip[n])
		}
	}
	w := l.r.b.Add(&ir.Instr{Op: ir.TriSolve, Loops: in.Loops, Over: in.Over, Out: l.fresh(axes), To: to,
		Args: []ir.Arg{{Val: in.Args[0].Val, Sub: substituted(in.Args[0].Sub, sum)}, {Val: l.bar.Val, Sub: substituted(l.bar.Sub, flip)}}})
	sub := make([]ir.Sub, len(axes))
	for n := range in.Loops {
		if n != i {
			k, _ := at[n].Loop()
			sub[k] = ir.L(n)
		}
	}
	return ir.Arg{Val: w, Sub: sub}
}

// rightAdjoint adds W where the right side was read.
func (l *local) rightAdjoint(w ir.Arg, i int) *ir.Value {
	b := l.in.Args[1]
	loops, at := l.loopsWithout(func(n int) bool { return n == i })
	return l.r.b.Prod(loops, b.Val.Axes, substituted(b.Sub, at), 1, ir.Arg{Val: w.Val, Sub: substituted(w.Sub, at)})
}

// matrixAdjoint sums −W Xᵀ over the columns, as one product, and adds its
// strictly lower part where the matrix was read.
func (l *local) matrixAdjoint(w ir.Arg, t, i int) *ir.Value {
	in, a := l.in, l.in.Args[0]
	used := map[int]bool{t: true, i: true}
	a.Loops(used)
	loops, at := l.loopsWithout(func(n int) bool { return !used[n] })
	before := ir.Ls(len(in.Loops))
	before[t] = ir.L(i)
	x := ir.Arg{Val: in.Out, Sub: substituted(in.To, before)}
	var to []ir.Sub
	for n := range in.Loops {
		if used[n] {
			to = append(to, ir.L(n))
		}
	}
	all := l.r.b.Prod(in.Loops, loops, to, -1, w, x)
	row, _ := at[t].Loop()
	col, _ := at[i].Loop()
	lower := ir.MergeTerms([]ir.Term{{Loop: row, Coef: 1}, {Loop: col, Coef: -1}})
	return l.r.b.Add(&ir.Instr{Op: ir.Prod, Loops: loops, Guard: []ir.Sub{{Terms: lower, Const: shape.Int(-1)}},
		Out: l.fresh(a.Val.Axes), To: substituted(a.Sub, at), Args: []ir.Arg{ir.All(all)}, Coef: []float64{1}})
}
