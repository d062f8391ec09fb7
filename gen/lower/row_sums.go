package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Reductions over independent rows.

// splitRowSums rewrites sums over rows so that one pass serves them all. A sum
// over rows and columns becomes a sum over rows of sums over columns, with the
// row's factors outside, so that equal sums over columns are computed once. A
// linear combination of sums over rows becomes one sum over rows of the
// combination.
func (l *lowerer) splitRowSums(rec *recurrence) {
	f := rec.s.Body
	r := rec.rows
	var body []*ir.Instr
	for _, in := range f.Body {
		if r.sums[in] {
			body = append(body, l.columns(f, r, in, false)...)
			continue
		}
		body = append(body, in)
	}
	f.Body = body
	merge(f, f.Replace)
	for i := 0; i < len(f.Body); i++ {
		if parts := l.combination(rec, f.Body[i]); parts != nil {
			f.Body = slices.Replace(f.Body, i, i+1, parts...)
			i += len(parts) - 1
		}
	}
	rec.s.TakeResults()
	f.Sweep()
}

// columns separates the sum over columns from a sum over rows and returns the
// instructions that replace in.
func (l *lowerer) columns(f *ir.Func, r *independentRows, in *ir.Instr, always bool) []*ir.Instr {
	over := summedLoops(in)
	row := r.loop[in]
	delete(over, row)
	if len(over) == 0 || !fills(in) || len(in.Guard) > 0 {
		return []*ir.Instr{in}
	}
	below := 0
	for o := range over {
		if o < row {
			below++
		}
	}
	inner := split(f, in, over)
	if inner == nil && always {
		inner = extract(f, in, over, in.Args, nil)
	}
	if inner == nil {
		return []*ir.Instr{in}
	}
	r.loop[in] = row - below
	return []*ir.Instr{inner, in}
}

// combination returns the replacement of a sum or a multiple of sums over
// rows, or nil: terms that keep the row, and one sum over rows of them.
func (l *lowerer) combination(rec *recurrence, in *ir.Instr) []*ir.Instr {
	r, f := rec.rows, rec.s.Body
	if !linear(r, f, in) {
		return nil
	}
	axes := append([]*ir.Axis{r.axis}, in.Loops...)
	var out []*ir.Instr
	all := &ir.Instr{Op: in.Op, Loops: axes, To: ir.Ls(len(axes)), Coef: slices.Clone(in.Coef), Eq: in.Eq, Span: in.Span}
	for _, a := range in.Args {
		if !r.sum[a.Val] {
			all.Args = append(all.Args, ir.Arg{Val: a.Val, Sub: shifted(a.Sub)})
			continue
		}
		parts := l.columns(f, r, a.Val.Def, true)
		out = append(out, parts[:len(parts)-1]...)
		coef, factors := r.summand(a)
		if in.Op == ir.Prod {
			all.Coef[0] *= coef
			all.Args = append(all.Args, factors...)
			continue
		}
		term := &ir.Instr{Op: ir.Prod, Loops: axes, To: ir.Ls(len(axes)), Coef: []float64{coef}, Args: factors, Eq: in.Eq, Span: in.Span}
		define(f, term, axes)
		out = append(out, term)
		all.Args = append(all.Args, ir.All(term.Out))
	}
	define(f, all, axes)
	total := &ir.Instr{Op: ir.Prod, Loops: axes, Coef: []float64{1}, Eq: in.Eq, Span: in.Span,
		Args: []ir.Arg{ir.All(all.Out)}, Out: in.Out, To: shifted(in.To)}
	in.Out.Def = total
	r.loop[total], r.sums[total], r.sum[in.Out] = 0, true, true
	return append(out, all, total)
}

// summand is the contribution of each row to an argument that is a sum over
// rows, with the row as loop 0 in front of the reader's loops.
func (r *independentRows) summand(a ir.Arg) (float64, []ir.Arg) {
	d := a.Val.Def
	number := map[int]int{r.loop[d]: 0}
	for i, s := range d.To {
		from, _ := s.Loop()
		to, _ := a.Sub[i].Loop()
		number[from] = to + 1
	}
	var out []ir.Arg
	for _, x := range d.Args {
		out = append(out, ir.Arg{Val: x.Val, Sub: renumber(x.Sub, number)})
	}
	return d.Coef[0], out
}

// shifted makes room for a loop in front of all others.
func shifted(subs []ir.Sub) []ir.Sub {
	return ir.MapLoops(subs, func(l int) int { return l + 1 })
}

// linear reports whether an instruction is linear in sums over rows that
// nothing else reads: a sum of such, or a product with one of them.
func linear(r *independentRows, f *ir.Func, in *ir.Instr) bool {
	if !pointwise(in) || in.Op != ir.Prod && (in.Op != ir.Lin || in.Coef[len(in.Args)] != 0) {
		return false
	}
	n := f.Uses()
	sums := 0
	for _, a := range in.Args {
		d := a.Val.Def
		if !r.sum[a.Val] {
			if r.dep[a.Val] {
				return false
			}
			continue
		}
		plain := func(s ir.Sub) bool { _, ok := s.Loop(); return ok }
		if d == nil || !r.sums[d] || n[a.Val] != 1 || !all(a.Sub, plain) || !fills(d) || len(d.Guard) > 0 {
			return false
		}
		sums++
	}
	return sums > 0 && (sums == len(in.Args) || in.Op == ir.Prod && sums == 1)
}

func define(f *ir.Func, in *ir.Instr, axes []*ir.Axis) {
	in.Out = &ir.Value{Name: f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: in}
}
