package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A step that takes several tokens at once consists of products of matrices
// with passes over their entries between them. What pays here is that these
// passes walk memory entry by entry, and that there are few of them: a sum over
// a whole matrix is taken row by row first, a value that is read along its
// columns lies in columns, and a sum of products is added to where it goes.

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
			turn(body, in)
		}
	}
	statesLast(s)
}

// statesLast moves the next states that nothing else reads to the end, where
// the old ones are not needed any more and can be overwritten.
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
	if in.Op != ir.Prod || len(in.Guard) > 0 || !plainTo(in) || asMatmul(in) != nil {
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

// turn reorders the axes of a value that is computed entry by entry so that the
// last one walks as many of its arguments entry by entry as any would.
func turn(f *ir.Func, in *ir.Instr) {
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

// moved is xs with the entry at p last.
func moved[T any](xs []T, p int) []T {
	out := slices.Delete(slices.Clone(xs), p, p+1)
	return append(out, xs[p])
}

// A sink is the sum that a product is added to, and how often.
type sink struct {
	sum  *ir.Instr
	coef float64
	at   []int // the axis of the sum for each axis of the product
	add  bool  // something is there before
}

// sinks finds the products that one sum reads and nothing else, and takes them
// out of it. The rest of the sum comes first, then they are added in order.
func (r *region) sinks() {
	uses := map[*ir.Value]int{}
	for _, in := range r.body {
		for _, v := range in.Reads() {
			uses[v]++
		}
	}
	for _, in := range r.body {
		if in.Op != ir.Lin || !pointwise(in) || !r.oneHome(in.Out) {
			continue
		}
		var args []ir.Arg
		var coef []float64
		rest := len(in.Args) - 1
		for k, a := range in.Args {
			p := a.Val.Def
			at, plain := axesOf(in, a)
			if p == nil || !plain || uses[a.Val] > 1 || r.kept(a.Val) || !slices.Contains(r.body, p) || !r.isProduct(p) {
				args, coef = append(args, a), append(coef, in.Coef[k])
				continue
			}
			r.into[p] = &sink{sum: in, coef: in.Coef[k], at: at}
			r.parts[in] = append(r.parts[in], p)
		}
		if len(r.parts[in]) > 0 {
			in.Args, in.Coef = args, append(coef, in.Coef[rest+1])
		}
	}
}

// oneHome reports whether a value has one place and is not added to another.
func (r *region) oneHome(v *ir.Value) bool {
	more := r.l.more[v]
	return len(more) == 0 || len(more) == 1 && !more[0].add && more[0].opt == nil && r.l.places[v] == nil
}

// axesOf is the axis of a sum's output for each axis of an argument that is read
// at all of its loops.
func axesOf(in *ir.Instr, a ir.Arg) ([]int, bool) {
	if len(a.Sub) != len(in.To) {
		return nil, false
	}
	var at []int
	for _, s := range a.Sub {
		l, ok := s.Loop()
		p := slices.IndexFunc(in.To, func(t ir.Sub) bool { k, _ := t.Loop(); return k == l })
		if !ok || p < 0 || slices.Contains(at, p) {
			return nil, false
		}
		at = append(at, p)
	}
	return at, true
}

// scheduleSum schedules a sum and behind it the products that are added to it.
func (r *region) scheduleSum(in *ir.Instr) {
	empty := len(in.Args) == 0 && in.Coef[0] == 0
	if !empty {
		r.schedule(in)
		r.begun[in.Out] = r.def[in.Out]
	}
	for i, p := range r.parts[in] {
		r.into[p].add = !empty || i > 0
		r.schedule(p)
		if empty && i == 0 {
			r.begun[in.Out] = r.def[p.Out]
		}
	}
	r.def[in.Out] = len(r.groups) - 1
}

// home gives a sum with products a place, and the products theirs in it.
func (r *region) home(p *ir.Instr) {
	s := r.into[p]
	v := s.sum.Out
	if more := r.l.more[v]; len(more) > 0 {
		r.l.places[v] = more[0].at
		delete(r.l.more, v)
	} else if r.l.places[v] == nil {
		r.l.places[v] = r.local(v, r.alloc(v))
	}
	to := r.l.places[v]
	r.l.places[p.Out] = func(idx []plan.Index) plan.Access {
		out := make([]plan.Index, len(idx))
		for i, x := range idx {
			out[s.at[i]] = x
		}
		return to(out)
	}
}

// reuse lets a triangular solve run where its right side lies when nothing else
// reads that.
func (r *region) reuse(in *ir.Instr) {
	b := in.Args[1]
	if r.l.places[in.Out] != nil || b.Val.Def == nil || r.inline[b.Val] || r.held[b.Val] || r.l.places[b.Val] == nil || len(r.l.more[b.Val]) > 0 ||
		!slices.Contains(r.body, b.Val.Def) || !slices.EqualFunc(b.Sub, in.To, ir.Sub.Equal) || !slices.Equal(b.Val.Axes, in.Out.Axes) {
		return
	}
	reads := 0
	for _, x := range r.body {
		for _, v := range x.Reads() {
			if v == b.Val {
				reads++
			}
		}
	}
	if reads == 1 {
		r.l.places[in.Out] = r.l.places[b.Val]
	}
}
