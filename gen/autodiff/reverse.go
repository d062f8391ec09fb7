// Package autodiff differentiates tensor programs by reverse accumulation
// (Griewank, Walther, Evaluating Derivatives, chapter 3).
//
// Reverse walks the instructions of a program, its Wengert list, from the results
// to the parameters. Because an instruction reads and writes at explicit
// subscripts, one rule covers all structure: the adjoint of an argument runs over
// the same loops under the same guards, reads the adjoint of the output where the
// output was written, and is added where the argument was read. A gather becomes a
// scatter, a broadcast a sum and a contraction two contractions. Primitives differ
// in their local derivative only: one row each in the table of file vjp.go.
//
// NewPair divides a program and its adjoint into a forward and a backward and
// decides what the forward saves.
package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A reverser holds the contributions to adjoints that were found so far.
type reverser struct {
	b             *ir.Builder
	active        map[*ir.Value]bool
	contributions map[*ir.Value][]*ir.Value
	sum           map[*ir.Value]*ir.Value
	mask          map[*ir.Value]ir.Arg // adjoints that a choice made zero: where it did not
}

// Reverse appends the adjoints of wrt to b, given the adjoints of some values
// of the program, and returns them. A value that receives no contribution has
// no entry.
func Reverse(b *ir.Builder, seeds map[*ir.Value]*ir.Value, wrt []*ir.Value) map[*ir.Value]*ir.Value {
	r := &reverser{b: b, active: activity(b.F, wrt), contributions: map[*ir.Value][]*ir.Value{}, sum: map[*ir.Value]*ir.Value{}, mask: map[*ir.Value]ir.Arg{}}
	body := b.F.Body[:len(b.F.Body):len(b.F.Body)]
	for _, in := range body {
		for _, out := range in.Defines() {
			if s := seeds[out]; s != nil {
				r.contributions[out] = append(r.contributions[out], s)
			}
		}
	}
	for _, p := range b.F.Params {
		if s := seeds[p]; s != nil {
			r.contributions[p] = append(r.contributions[p], s)
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

// activity is forward activity analysis: it marks every value that depends on
// wrt.
func activity(f *ir.Func, wrt []*ir.Value) map[*ir.Value]bool {
	active := map[*ir.Value]bool{}
	for _, v := range wrt {
		active[v] = true
	}
	for _, in := range f.Body {
		if in.Op == ir.Stop || !slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return active[v] }) {
			continue
		}
		for _, v := range in.Defines() {
			active[v] = v.Elem == ir.Real
		}
	}
	return active
}

// adjoint is the sum of the contributions to v, or nil.
func (r *reverser) adjoint(v *ir.Value) *ir.Value {
	if s := r.sum[v]; s != nil {
		return s
	}
	parts := r.contributions[v]
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
	r.combineMasks(r.sum[v], parts)
	return r.sum[v]
}

// combineMasks records the mask of a sum all of whose contributions have one.
func (r *reverser) combineMasks(sum *ir.Value, parts []*ir.Value) {
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
	switch in.Op {
	case ir.ScanOp:
		r.scan(in)
		return
	case ir.SolveOp:
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
			r.contributions[a.Val] = append(r.contributions[a.Val], part)
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

// contribute adds coef·bar·Π factors to argument k, where it was read. Where a
// later choice did not take the output, the argument receives an exact zero,
// even if a factor is infinite or NaN there: the derivative of max(sqrt(s), ε)
// at s = 0 is 0.
func (l *local) contribute(k int, coef float64, factors ...ir.Arg) *ir.Value {
	args := append([]ir.Arg{l.bar}, factors...)
	if !l.masked || len(factors) == 0 {
		return l.add(k, coef, args...)
	}
	part := l.add(k, 1, l.elementwise(ir.Select, l.taken, l.prod(coef, args...), l.zero()))
	l.recordMask(k, part, l.taken)
	return part
}

// add sums coef·Π args over the instruction's iteration space into argument k.
func (l *local) add(k int, coef float64, args ...ir.Arg) *ir.Value {
	a := l.in.Args[k]
	part := l.r.b.Add(&ir.Instr{Op: ir.Prod, Loops: l.in.Loops, Guard: l.in.Guard,
		Out: l.fresh(a.Val.Axes), To: a.Sub, Args: args, Coef: []float64{coef}})
	if l.masked {
		l.recordMask(k, part, l.taken)
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

// recordMask records the mask of an elementwise contribution to argument k.
func (l *local) recordMask(k int, part *ir.Value, taken ir.Arg) {
	a := l.in.Args[k]
	if ir.Identity(a.Sub, len(l.in.Loops)) && slices.Equal(a.Val.Axes, l.in.Loops) && len(l.in.Guard) == 0 {
		l.r.mask[part] = taken
	}
}

func (l *local) fresh(axes []*ir.Axis) *ir.Value {
	return &ir.Value{Name: l.r.b.F.Fresh("%"), Elem: ir.Real, Axes: axes}
}

// elementwise computes a function of scalars over the instruction's loops,
// under its guards: outside of them the arguments may be out of range.
func (l *local) elementwise(op ir.Op, args ...ir.Arg) ir.Arg {
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

// guarded appends an elementwise instruction over those loops only that its
// arguments and guards depend on: 1/n of a row's norm n is one number per row.
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
	used := ir.LoopsOf(l.in.Guard)
	for _, a := range args {
		a.Loops(used)
	}
	return used
}

// arg and out are the instruction's own reads and its output at the loops.
func (l *local) arg(k int) ir.Arg { return l.in.Args[k] }
func (l *local) out() ir.Arg      { return ir.Arg{Val: l.in.Out, Sub: l.in.To} }
