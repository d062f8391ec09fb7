package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Code motion out of the time loop. What does not depend on the state of a
// recurrence is computed for all tokens at once, in front of it.

// dependent marks the values of a body that depend on the state.
func (rec *recurrence) dependent(s *ir.Scan) map[*ir.Value]bool {
	dep := map[*ir.Value]bool{}
	for _, c := range s.Carry {
		dep[c.Param] = true
	}
	for p := range rec.before {
		dep[p] = true
	}
	for p := range rec.after {
		dep[p] = true
	}
	for _, in := range s.Body.Body {
		if slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return dep[v] }) {
			for _, v := range in.Defines() {
				dep[v] = true
			}
		}
	}
	return dep
}

// hoist moves values that do not depend on the state in front of the
// recurrence, for all tokens at once. One as large as the state is computed
// where it is read, or at its token.
func (l *lowerer) hoist(rec *recurrence, s *ir.Scan) {
	dep := rec.dependent(s)
	rank := 1
	for _, c := range s.Carry {
		rank = max(rank, len(c.Param.Axes))
	}
	var kept []*ir.Instr
	for _, in := range s.Body.Body {
		switch {
		case in.Out == nil || dep[in.Out]:
			kept = append(kept, in)
		case costless(in) || pointwise(in) && (len(in.Out.Axes) >= rank || len(in.Out.Axes) == 0 && !expensive(in)):
			rec.inline[in.Out] = true
			kept = append(kept, in)
		case !rec.hoistable(s, in) || len(in.Out.Axes) >= rank:
			kept = append(kept, in)
		default:
			l.outside(rec, s, in, true)
		}
	}
	s.Body.Body = kept
}

// hoistable reports whether an instruction reads only what is known outside.
func (rec *recurrence) hoistable(s *ir.Scan, in *ir.Instr) bool {
	return all(in.Reads(), func(v *ir.Value) bool {
		return slices.ContainsFunc(s.Tokens, func(t ir.ScanInput) bool {
			return t.Param == v && (in.Op != ir.Reshape || t.Window == nil)
		}) || in.Op != ir.Reshape && slices.ContainsFunc(s.Shared, func(t ir.SharedArg) bool { return t.Param == v })
	})
}

// outside appends to the program a copy of a body's instruction that runs for
// the whole batch and all tokens, in front of the recurrence or after it, and
// returns its output. In front, the body reads it as a token.
func (l *lowerer) outside(rec *recurrence, s *ir.Scan, in *ir.Instr, front bool) *ir.Value {
	if in.Op == ir.Reshape {
		return l.reshapeOutside(rec, s, in, front)
	}
	over := append([]*ir.Axis{s.Batch, s.Time}, in.Loops...)
	out := &ir.Instr{Op: in.Op, Loops: over, Coef: in.Coef, Poly: in.Poly, Eq: in.Eq, Span: in.Span, Solve: in.Solve}
	for _, o := range in.Over {
		out.Over = append(out.Over, o+2)
	}
	out.Guard = l.outerSubs(s, in.Guard)
	out.To = append(ir.Ls(2), l.outerSubs(s, in.To)...)
	for _, a := range in.Args {
		out.Args = append(out.Args, l.outerArg(s, a))
	}
	axes := append([]*ir.Axis{s.Batch, s.Time}, in.Out.Axes...)
	out.Out = &ir.Value{Name: l.f.Fresh(in.Out.Name), Elem: in.Out.Elem, Axes: axes, Def: out}
	l.insert(rec, out, front)
	if front {
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: in.Out, Val: out.Out})
		in.Out.Def = nil
	}
	return out.Out
}

// insert inserts an instruction in front of a recurrence, or after it and what
// was inserted there before.
func (l *lowerer) insert(rec *recurrence, in *ir.Instr, front bool) {
	at := slices.Index(l.f.Body, rec.in)
	if !front {
		at += 1 + rec.inserted
		rec.inserted++
	}
	l.f.Body = slices.Insert(l.f.Body, at, in)
}

// reshapeOutside is outside for a reshaped token, or for a value that was sunk
// before.
func (l *lowerer) reshapeOutside(rec *recurrence, s *ir.Scan, in *ir.Instr, front bool) *ir.Value {
	var t ir.ScanInput
	if v := l.sunk[in.Args[0].Val]; v != nil {
		t.Val = v
	} else {
		t = s.Tokens[slices.IndexFunc(s.Tokens, func(t ir.ScanInput) bool { return t.Param == in.Args[0].Val })]
	}
	axes := append(slices.Clone(t.Val.Axes[:2]), in.Out.Axes...)
	out := &ir.Instr{Op: ir.Reshape, Args: []ir.Arg{{Val: t.Val}}, Eq: in.Eq, Span: in.Span}
	out.Out = &ir.Value{Name: l.f.Fresh(in.Out.Name), Elem: in.Out.Elem, Axes: axes, Def: out}
	l.insert(rec, out, front)
	if front {
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: in.Out, Val: out.Out, Base: t.Base})
		in.Out.Def = nil
	}
	return out.Out
}

// outerSubs renumbers subscripts past the two loops of batch and tokens.
func (l *lowerer) outerSubs(s *ir.Scan, subs []ir.Sub) []ir.Sub {
	out := make([]ir.Sub, len(subs))
	for i, x := range subs {
		out[i].Const = x.Const
		for _, t := range x.Terms {
			out[i].Terms = append(out[i].Terms, ir.Term{Loop: t.Loop + 2, Coef: t.Coef})
		}
		if x.Indirect != nil {
			a := l.outerArg(s, *x.Indirect)
			out[i].Indirect = &a
			if counted(s, x.Indirect.Val) {
				out[i].Terms = append(out[i].Terms, ir.Term{Loop: 1, Coef: 1})
			}
		}
	}
	return out
}

// counted reports whether a value of a body counts tokens.
func counted(s *ir.Scan, v *ir.Value) bool {
	return slices.ContainsFunc(s.Tokens, func(t ir.ScanInput) bool { return t.Param == v && t.Count })
}

// outerArg reads outside the series of a token or a shared value of a body.
func (l *lowerer) outerArg(s *ir.Scan, a ir.Arg) ir.Arg {
	sub := l.outerSubs(s, a.Sub)
	if v := l.sunk[a.Val]; v != nil {
		return ir.Arg{Val: v, Sub: append(ir.Ls(2), sub...)}
	}
	for _, t := range s.Tokens {
		if t.Param != a.Val {
			continue
		}
		if t.Count {
			return ir.Arg{Val: t.Val, Sub: ir.Ls(1)}
		}
		time := ir.Sub{Terms: []ir.Term{{Loop: 1, Coef: 1}}, Const: t.Base}
		if t.Window != nil {
			for _, x := range sub[0].Terms {
				time.Terms = append(time.Terms, ir.Term{Loop: x.Loop, Coef: -x.Coef})
			}
			time.Const = time.Const.Sub(sub[0].Const)
			sub = sub[1:]
		}
		return ir.Arg{Val: t.Val, Sub: append([]ir.Sub{ir.L(0), time}, sub...)}
	}
	for _, v := range s.Shared {
		if v.Param != a.Val {
			continue
		}
		if v.PerBatch {
			sub = append([]ir.Sub{ir.L(0)}, sub...)
		}
		return ir.Arg{Val: v.Val, Sub: sub}
	}
	for _, o := range s.Outs {
		if o.Val == a.Val && !o.Sum {
			return ir.Arg{Val: o.Out, Sub: append(ir.Ls(2), sub...)}
		}
	}
	panic("lower: BUG: " + a.Val.Name + " is not known outside the recurrence")
}

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
