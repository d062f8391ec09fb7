package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Steps over a chunk of tokens consist of matrix products with elementwise
// passes between them. Here the passes are made few and contiguous: a sum over
// a whole matrix is taken row by row first, a value that is read along its
// columns is stored by columns, and a sum of products is accumulated in place.

// chunkStep rewrites the body of such a step.
func (l *lowerer) chunkStep(s *ir.Scan) {
	body := s.Body
	var out []*ir.Instr
	for _, in := range body.Body {
		if inner := rowByRow(body, in); inner != nil {
			out = append(out, inner)
		}
		out = append(out, in)
	}
	body.Body = out
	given := map[*ir.Value]bool{}
	for _, r := range body.Results {
		given[r.Val] = true
	}
	for _, in := range body.Body {
		if in.Out != nil && !given[in.Out] {
			transposeForStride(body, in)
		}
	}
	statesLast(s)
}

// statesLast moves the next states that nothing else reads to the end, where
// the old ones are dead and can be overwritten.
func statesLast(s *ir.Scan) {
	for _, c := range s.Carry {
		in := c.Next.Def
		at := slices.Index(s.Body.Body, in)
		if in == nil || at < 0 || slices.ContainsFunc(s.Body.Body, func(x *ir.Instr) bool { return slices.Contains(x.Reads(), c.Next) }) {
			continue
		}
		s.Body.Body = append(slices.Delete(s.Body.Body, at, at+1), in)
	}
}

// rowByRow makes the sum over the last loop of a sum over several an
// instruction of its own, which it returns, or nil.
func rowByRow(f *ir.Func, in *ir.Instr) *ir.Instr {
	if in.Op != ir.Prod || len(in.Guard) > 0 || !fills(in) || asMatmul(in) != nil {
		return nil
	}
	over := in.Reduced()
	if len(over) < 2 {
		return nil
	}
	last := over[len(over)-1]
	inner := &ir.Instr{Op: ir.Prod, Loops: in.Loops, Args: in.Args, Coef: []float64{1}, Eq: in.Eq, Span: in.Span}
	inner.To = slices.Clone(in.To)
	axes := slices.Clone(in.Out.Axes)
	for _, o := range over[:len(over)-1] {
		inner.To, axes = append(inner.To, ir.L(o)), append(axes, in.Loops[o])
	}
	inner.Out = &ir.Value{Name: f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: inner}
	dropLoops(in, map[int]bool{last: true}, []ir.Arg{{Val: inner.Out, Sub: inner.To}})
	return inner
}

// transposeForStride permutes the axes of an elementwise value so that the
// last one has unit stride in as many of its arguments as possible.
func transposeForStride(f *ir.Func, in *ir.Instr) {
	n := len(in.To) - 1
	if !pointwise(in) || n < 1 {
		return
	}
	loop := func(p int) int { l, _ := in.To[p].Loop(); return l }
	best := n
	for p := n - 1; p >= 0; p-- {
		if strides(in, loop(p)) < strides(in, loop(best)) {
			best = p
		}
	}
	if best == n {
		return
	}
	in.To = moved(in.To, best)
	in.Out.Axes = moved(in.Out.Axes, best)
	for _, reader := range f.Body {
		for i, a := range reader.Args {
			if a.Val == in.Out {
				reader.Args[i].Sub = moved(a.Sub, best)
			}
		}
	}
}

// moved is xs with the entry at p moved to the end.
func moved[T any](xs []T, p int) []T {
	out := slices.Delete(slices.Clone(xs), p, p+1)
	return append(out, xs[p])
}
