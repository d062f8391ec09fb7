// Package autodiff adds adjoints to tensor programs.
//
// Reverse walks a program from its results to its parameters. Because an
// instruction reads and writes at explicit subscripts, one rule carries all
// structure: the adjoint of an argument runs over the same loops under the
// same guards, reads the adjoint of the output where the output was written,
// and adds into the argument where the argument was read. Gather becomes
// scatter, broadcast becomes a sum and a contraction becomes two, with no
// rule of their own. What differs from primitive to primitive is the local
// derivative: one row each in the table of file vjp.go.
package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A reverser holds the adjoints gathered so far.
type reverser struct {
	b      *ir.Builder
	active map[*ir.Value]bool
	parts  map[*ir.Value][]*ir.Value
	sum    map[*ir.Value]*ir.Value
	mask   map[*ir.Value]ir.Arg // adjoints that a choice made zero: where it did not
}

// Reverse appends to b the adjoints of wrt for the given adjoints of some
// values of the program, and returns them; a value that receives nothing has
// no entry.
func Reverse(b *ir.Builder, seeds map[*ir.Value]*ir.Value, wrt []*ir.Value) map[*ir.Value]*ir.Value {
	r := &reverser{b: b, active: activity(b.F, wrt), parts: map[*ir.Value][]*ir.Value{}, sum: map[*ir.Value]*ir.Value{}, mask: map[*ir.Value]ir.Arg{}}
	body := b.F.Body[:len(b.F.Body):len(b.F.Body)]
	for _, in := range body {
		for _, out := range outputs(in) {
			if s := seeds[out]; s != nil {
				r.parts[out] = append(r.parts[out], s)
			}
		}
	}
	for _, p := range b.F.Params {
		if s := seeds[p]; s != nil {
			r.parts[p] = append(r.parts[p], s)
		}
	}
	for i := len(body) - 1; i >= 0; i-- {
		r.instr(body[i])
	}
	out := map[*ir.Value]*ir.Value{}
	for _, v := range wrt {
		if a := r.adjoint(v); a != nil {
			out[v] = a
		}
	}
	return out
}

// activity marks every value that depends on wrt.
func activity(f *ir.Func, wrt []*ir.Value) map[*ir.Value]bool {
	active := map[*ir.Value]bool{}
	for _, v := range wrt {
		active[v] = true
	}
	for _, in := range f.Body {
		hit := false
		for _, v := range inputs(in) {
			hit = hit || active[v]
		}
		if !hit || in.Op == ir.Stop {
			continue
		}
		for _, v := range outputs(in) {
			active[v] = v.Elem == ir.Real
		}
	}
	return active
}

// inputs are the values that an instruction reads.
func inputs(in *ir.Instr) []*ir.Value { return in.Reads() }

// outputs are the values that an instruction defines.
func outputs(in *ir.Instr) []*ir.Value { return in.Defines() }

// adjoint is the sum of what v has received, or nil.
func (r *reverser) adjoint(v *ir.Value) *ir.Value {
	if s := r.sum[v]; s != nil {
		return s
	}
	parts := r.parts[v]
	switch len(parts) {
	case 0:
		return nil
	case 1:
		r.sum[v] = parts[0]
		return parts[0]
	}
	coefs, args := make([]float64, len(parts)), make([]ir.Arg, len(parts))
	for i, p := range parts {
		coefs[i], args[i] = 1, ir.All(p)
	}
	r.sum[v] = r.b.Lin(v.Axes, 0, coefs, args...)
	r.either(r.sum[v], parts)
	return r.sum[v]
}

// either notes the mask of a sum all of whose parts have one.
func (r *reverser) either(sum *ir.Value, parts []*ir.Value) {
	var any ir.Arg
	for i, p := range parts {
		m, ok := r.mask[p]
		if !ok {
			return
		}
		if any = m; i > 0 {
			any = ir.All(r.b.Elementwise(ir.Or, sum.Axes, r.mask[parts[i-1]], m))
		}
		r.mask[p] = any
	}
	r.mask[sum] = any
}

func (r *reverser) instr(in *ir.Instr) {
	r.b.Eq, r.b.Span = in.Eq, in.Span
	if in.Op == ir.ScanOp {
		r.scan(in)
		return
	}
	if in.Op == ir.SolveOp {
		r.solve(in)
		return
	}
	bar := r.adjoint(in.Out)
	if bar == nil || !r.active[in.Out] || len(in.Args) == 0 {
		return
	}
	row, ok := vjp[in.Op]
	if !ok {
		panic("autodiff: BUG: no row for " + in.Op.String())
	}
	for k, a := range in.Args {
		if !r.active[a.Val] {
			continue
		}
		l := &local{r: r, in: in, bar: ir.Arg{Val: bar, Sub: in.To}}
		l.taken, l.masked = l.mask(bar)
		if part := row(l, k); part != nil {
			r.parts[a.Val] = append(r.parts[a.Val], part)
		}
	}
}

// A local is one instruction with the adjoint of its output, as a row of the
// table sees it.
type local struct {
	r      *reverser
	in     *ir.Instr
	bar    ir.Arg
	taken  ir.Arg // where a later choice took the output, when masked
	masked bool
}

// into adds coef·bar·Π factors into argument k, where it was read. Where a
// choice further on did not take the output, the argument receives an exact
// zero, even if a factor is infinite or no number there: the derivative of
// max(sqrt(s), ε) at s = 0 is 0.
func (l *local) into(k int, coef float64, factors ...ir.Arg) *ir.Value {
	args := append([]ir.Arg{l.bar}, factors...)
	if !l.masked || len(factors) == 0 {
		return l.add(k, coef, args...)
	}
	part := l.add(k, 1, l.scalar(ir.Select, l.taken, l.prod(coef, args...), l.zero()))
	l.remember(k, part, l.taken)
	return part
}

// add sums coef·Π args over the instruction's box into argument k.
func (l *local) add(k int, coef float64, args ...ir.Arg) *ir.Value {
	a := l.in.Args[k]
	part := l.r.b.Add(&ir.Instr{Op: ir.Prod, Loops: l.in.Loops, Guard: l.in.Guard,
		Out: l.fresh(a.Val.Axes), To: a.Sub, Args: args, Coef: []float64{coef}})
	if l.masked {
		l.remember(k, part, l.taken)
	}
	return part
}

// mask returns the mask of the output's adjoint over the loops.
func (l *local) mask(bar *ir.Value) (ir.Arg, bool) {
	m, ok := l.r.mask[bar]
	if _, whole := l.in.OutputAxes(); !ok || !whole {
		return ir.Arg{}, false
	}
	subs, ok := ir.SubstAll(m.Sub, l.in.To)
	return ir.Arg{Val: m.Val, Sub: subs}, ok
}

// remember notes the mask of a part that goes into argument k entry by entry.
func (l *local) remember(k int, part *ir.Value, taken ir.Arg) {
	a := l.in.Args[k]
	if ir.Identity(a.Sub, len(l.in.Loops)) && slices.Equal(a.Val.Axes, l.in.Loops) && len(l.in.Guard) == 0 {
		l.r.mask[part] = taken
	}
}

func (l *local) fresh(axes []*ir.Axis) *ir.Value {
	return &ir.Value{Name: l.r.b.F.Fresh("%"), Elem: ir.Real, Axes: axes}
}

// scalar computes an entry-by-entry value over the instruction's loops, under
// its guards: outside them the arguments may be out of range.
func (l *local) scalar(op ir.Op, args ...ir.Arg) ir.Arg {
	in := &ir.Instr{Op: op, Args: args}
	return l.guarded(in, op.Info().Out)
}

// lin computes Σ c·arg + constant over the instruction's loops.
func (l *local) lin(constant float64, coefs []float64, args ...ir.Arg) ir.Arg {
	return l.guarded(&ir.Instr{Op: ir.Lin, Args: args, Coef: append(coefs, constant)}, ir.Real)
}

// prod computes c·Π args over the instruction's loops.
func (l *local) prod(coef float64, args ...ir.Arg) ir.Arg {
	return l.guarded(&ir.Instr{Op: ir.Prod, Args: args, Coef: []float64{coef}}, ir.Real)
}

// guarded places an entry-by-entry instruction over those of the loops that its
// arguments and guards depend on: 1/n of a row's norm n is one number a row,
// not one an entry.
func (l *local) guarded(in *ir.Instr, elem ir.Elem) ir.Arg {
	used := l.loopsOf(in.Args)
	to, sub := make([]ir.Sub, len(l.in.Loops)), []ir.Sub(nil)
	for i, a := range l.in.Loops {
		if used[i] {
			to[i] = ir.L(len(in.Loops))
			in.Loops, sub = append(in.Loops, a), append(sub, ir.L(i))
		}
	}
	for i, a := range in.Args {
		in.Args[i].Sub, _ = ir.SubstAll(a.Sub, to)
	}
	if len(l.in.Guard) > 0 {
		in.Guard, _ = ir.SubstAll(l.in.Guard, to)
	}
	in.To = ir.Ls(len(in.Loops))
	in.Out = l.fresh(in.Loops)
	in.Out.Elem = elem
	return ir.Arg{Val: l.r.b.Add(in), Sub: sub}
}

// loopsOf marks the loops that arguments and guards depend on.
func (l *local) loopsOf(args []ir.Arg) map[int]bool {
	used := map[int]bool{}
	var mark func(subs []ir.Sub)
	mark = func(subs []ir.Sub) {
		for _, s := range subs {
			for _, t := range s.Terms {
				used[t.Loop] = true
			}
			if s.Indirect != nil {
				mark(s.Indirect.Sub)
			}
		}
	}
	for _, a := range args {
		mark(a.Sub)
	}
	mark(l.in.Guard)
	return used
}

// arg and out are the instruction's own reads and its output at the loops.
func (l *local) arg(k int) ir.Arg { return l.in.Args[k] }
func (l *local) out() ir.Arg      { return ir.Arg{Val: l.in.Out, Sub: l.in.To} }
