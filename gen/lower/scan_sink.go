package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Sinking out of the time loop. What is computed from the results of a step and
// not read by the next one is computed for all tokens at once, after the
// recurrence.

// sink moves values computed from sums over rows, and values that do not
// depend on the state, after the recurrence: each such output becomes an
// instruction of the program over the whole batch and all tokens.
func (l *lowerer) sink(rec *recurrence) {
	rec.confirmRows()
	s, r := rec.s, rec.rows
	for _, o := range slices.Clone(s.Outs) {
		// A sum over rows and tokens runs over tokens after the recurrence:
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
	l.mergeAndSweep(s)
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

// total sums a series over tokens, and over the batch unless the output has
// it.
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
