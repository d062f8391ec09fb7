package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// spread rewrites sums over rows so that one pass serves them all. A sum over
// rows and columns becomes a sum over rows of sums over columns, factors that
// belong to the row outside, so that equal sums over columns are taken once.
// A linear combination of sums over rows becomes one sum over rows of the
// combination, so that each output is added to once for every row.
func (l *lowerer) spread(rec *recurrence) {
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
	l.pointResults(rec.s)
	f.Sweep()
}

// pointResults points carries and outs at what a rewrite left of them.
func (l *lowerer) pointResults(s *ir.Scan) {
	for i := range s.Carry {
		s.Carry[i].Next = s.Body.Results[i].Val
	}
	for i := range s.Outs {
		s.Outs[i].Val = s.Body.Results[len(s.Carry)+i].Val
	}
}

// columns splits the sum over columns off a sum over rows. It returns the
// instructions that replace in.
func (l *lowerer) columns(f *ir.Func, r *rows, in *ir.Instr, always bool) []*ir.Instr {
	over := summedLoops(in)
	row := r.loop[in]
	delete(over, row)
	if len(over) == 0 || !plainTo(in) || len(in.Guard) > 0 {
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

// combination returns what replaces a sum or a multiple of sums over rows, or
// nil when in is none: terms that keep the row, and one sum over rows of them.
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

// summand is what an argument that is a sum over rows adds for each row, with
// the row as loop 0 in front of the reader's loops.
func (r *rows) summand(a ir.Arg) (float64, []ir.Arg) {
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
	number := map[int]int{}
	for _, s := range subs {
		for _, t := range s.Terms {
			number[t.Loop] = t.Loop + 1
		}
		if s.Indirect != nil {
			for _, x := range s.Indirect.Sub {
				for _, t := range x.Terms {
					number[t.Loop] = t.Loop + 1
				}
			}
		}
	}
	return renumber(subs, number)
}

// linear reports whether an instruction is linear in sums over rows that
// nothing else reads: a sum of such, or a product with one of them.
func linear(r *rows, f *ir.Func, in *ir.Instr) bool {
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
		if d == nil || !r.sums[d] || n[a.Val] != 1 || !all(a.Sub, plain) || !plainTo(d) || len(d.Guard) > 0 {
			return false
		}
		sums++
	}
	return sums > 0 && (sums == len(in.Args) || in.Op == ir.Prod && sums == 1)
}

func define(f *ir.Func, in *ir.Instr, axes []*ir.Axis) {
	in.Out = &ir.Value{Name: f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: in}
}

// sink moves behind the recurrence what is computed from sums over rows, and
// what does not depend on the state: each such output becomes an instruction
// of the program over all lanes and tokens.
func (l *lowerer) sink(rec *recurrence) {
	rec.refind()
	s, r := rec.s, rec.rows
	for _, o := range slices.Clone(s.Outs) {
		// A sum over rows and tokens runs over tokens behind the recurrence:
		// inside, its order would depend on how many rows are in flight.
		direct := o.Val.Def != nil && r.sums[o.Val.Def] && !o.Sum
		if direct || r.dep[o.Val] && !r.sum[o.Val] {
			continue
		}
		v := l.outerValue(rec, o.Val)
		if o.Sum {
			v = l.total(rec, o, v)
		}
		l.replace(o.Out, v)
		rec.replace(o.Out, v)
		s.Outs = slices.DeleteFunc(s.Outs, func(x ir.ScanOutput) bool { return x.Out == o.Out })
	}
	l.tidy(s)
}

// outerValue is the series of a body's value, in the program.
func (l *lowerer) outerValue(rec *recurrence, v *ir.Value) *ir.Value {
	if o := l.sunk[v]; o != nil {
		return o
	}
	s, r := rec.s, rec.rows
	axes := append([]*ir.Axis{s.Batch, s.Time}, v.Axes...)
	switch {
	case v.Def == nil && !r.dep[v]:
		in := &ir.Instr{Op: ir.Lin, Loops: v.Axes, Out: v, To: ir.Ls(len(v.Axes)), Coef: []float64{1, 0}, Args: []ir.Arg{ir.All(v)}}
		l.sunk[v] = l.outside(rec, s, in, false)
	case v.Def == nil || r.sums[v.Def] || r.dep[v] && !r.sum[v]:
		out := &ir.Value{Name: l.f.Fresh(v.Name), Elem: ir.Real, Axes: axes, Def: rec.in}
		s.Outs = append(s.Outs, ir.ScanOutput{Val: v, Out: out})
		l.sunk[v] = out
	default:
		for _, x := range v.Def.Reads() {
			if x.Def != nil || r.dep[x] {
				l.outerValue(rec, x)
			}
		}
		l.sunk[v] = l.outside(rec, s, v.Def, false)
	}
	return l.sunk[v]
}

// total sums a series over tokens, and lanes unless the output has them.
func (l *lowerer) total(rec *recurrence, o ir.ScanOutput, v *ir.Value) *ir.Value {
	in := &ir.Instr{Op: ir.Prod, Loops: v.Axes, Coef: []float64{1}, Args: []ir.Arg{ir.All(v)}, Eq: rec.in.Eq, Span: rec.in.Span}
	for i := range v.Axes {
		if i > 1 || i == 0 && o.PerBatch {
			in.To = append(in.To, ir.L(i))
		}
	}
	in.Out = &ir.Value{Name: l.f.Fresh(o.Out.Name), Elem: ir.Real, Axes: o.Out.Axes, Def: in}
	l.insert(rec, in, false)
	return in.Out
}

// settle makes every state and output an instruction of its own that can
// store where it belongs: a copy where it is a parameter, is another state
// too, or is gathered in memory.
func (l *lowerer) settle(rec *recurrence) {
	for _, s := range rec.scans() {
		taken := map[*ir.Value]bool{}
		b := &ir.Builder{F: s.Body, Eq: rec.in.Eq, Span: rec.in.Span}
		for i := range s.Carry {
			c := &s.Carry[i]
			if taken[c.Next] || !rec.direct(c.Next) {
				c.Next = b.Lin(c.Next.Axes, 0, []float64{1}, ir.All(c.Next))
			}
			taken[c.Next] = true
		}
		for i := range s.Outs {
			o := &s.Outs[i]
			if !rec.direct(o.Val) || o.Sum && wholly(o.Val.Def) {
				o.Val = b.Lin(o.Val.Axes, 0, []float64{1}, ir.All(o.Val))
			}
		}
		for _, in := range slices.Clone(s.Body.Body) {
			if in.Op == ir.Reshape && in.Args[0].Val.Def == nil {
				v := in.Args[0].Val
				c := b.Lin(v.Axes, 0, []float64{1}, ir.All(v))
				s.Body.Body = s.Body.Body[:len(s.Body.Body)-1]
				s.Body.Body = slices.Insert(s.Body.Body, slices.Index(s.Body.Body, in), c.Def)
				in.Args[0].Val = c
			}
		}
	}
}

// direct reports whether the instruction of a value stores single entries.
func (rec *recurrence) direct(v *ir.Value) bool {
	in := v.Def
	if in == nil || rec.stream[v] {
		return false
	}
	if pointwise(in) || rec.chunks && wholly(in) {
		return true
	}
	if rec.rows == nil || in.Op != ir.Prod {
		return false
	}
	return rec.rows.sums[in] || len(in.Guard) == 0 && len(in.Out.Axes) == 1
}
