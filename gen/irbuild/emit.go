package irbuild

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
)

// An operand is a factor with each of its slots placed on a local loop.
type operand struct {
	f     factor
	slots []int
}

// place gives every factor of t an operand with the same slot placement.
func (t *ten) place(slots []int) []operand {
	out := make([]operand, len(t.fs))
	for i, f := range t.fs {
		out[i] = operand{f, slots}
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// An emission is one instruction to be: locals are the loops that the type
// makes (the first out of them are the output's visible axes), sum the
// variables that are summed away.
type emission struct {
	op     ir.Op
	coef   []float64
	locals []*ir.Axis
	out    int
	args   []operand
	sum    []*loopVar
	keep   []*loopVar // variables that must be loops even if no factor reads them
	over   []int      // locals that are normalised over (max, softmax, logsumexp)
	overV  []*loopVar // variables that are normalised over
	elem   ir.Elem
	guards []affine
}

// emit appends the instruction and returns its output as a ten.
func (e *builder) emit(m emission) *ten {
	kept, at := e.loopsOf(&m)
	n := len(kept)
	in := &ir.Instr{Op: m.op, Coef: m.coef, Eq: e.eq, Span: e.span}
	for _, v := range kept {
		in.Loops = append(in.Loops, v.axis)
	}
	local := make([]int, len(m.locals))
	for i, a := range m.locals[:m.out] {
		local[i] = len(in.Loops)
		in.Loops = append(in.Loops, a)
	}
	for _, v := range m.sum {
		at[v] = len(in.Loops)
		in.Loops = append(in.Loops, v.axis)
	}
	for i, a := range m.locals[m.out:] {
		local[m.out+i] = len(in.Loops)
		in.Loops = append(in.Loops, a)
	}
	for _, o := range m.args {
		in.Args = append(in.Args, ir.Arg{Val: o.f.val, Sub: e.subs(o.f.sub, o.slots, local, at)})
	}
	in.Guard = e.guardsOf(&m, at)
	e.inside(in)
	for _, l := range m.over {
		in.Over = append(in.Over, local[l])
	}
	for _, v := range m.overV {
		in.Over = append(in.Over, at[v])
	}
	out := &ten{elem: m.elem, coef: 1}
	if out.elem == 0 {
		out.elem = ir.Real
	}
	val := &ir.Value{Name: e.f.Fresh("%"), Elem: out.elem}
	drop := m.op == ir.Max || m.op == ir.LogSumExp
	var sub []vsub
	for i, v := range kept {
		if drop && slices.Contains(m.overV, v) {
			continue
		}
		val.Axes, in.To, sub = append(val.Axes, v.axis), append(in.To, ir.L(i)), append(sub, vsub{-1, varAff(v)})
	}
	for i, a := range m.locals[:m.out] {
		if drop && slices.Contains(m.over, i) {
			continue
		}
		val.Axes, in.To = append(val.Axes, a), append(in.To, ir.L(n+i))
		sub = append(sub, vsub{slot: len(out.axes)})
		out.axes = append(out.axes, a)
	}
	in.Out, val.Def = val, in
	e.f.Body = append(e.f.Body, in)
	out.fs = []factor{{val, sub}}
	return out
}

// inside reports an index that leaves the axis that it reads, at every size.
func (e *builder) inside(in *ir.Instr) {
	for _, a := range in.Args {
		for i, s := range a.Sub {
			if l, ok := s.Loop(); ok && in.Loops[l] == a.Val.Axes[i] {
				continue
			}
			if !ir.InRange(in, s, a.Val.Axes[i].Size) {
				e.ds.Errorf(diag.BadIndex, e.shiftOf(a.Val), "an index of %s leaves its axis %s", strings.TrimPrefix(a.Val.Name, "%"), a.Val.Axes[i].Name).
					Hint("positions count from 0; bound the index by a condition, such as i < n − 1")
				return
			}
		}
	}
}

// loopsOf lists the variables that become loops, in the order in which they
// were bound, without those that are summed away.
func (e *builder) loopsOf(m *emission) ([]*loopVar, map[*loopVar]int) {
	seen := map[*loopVar]bool{}
	var vars []*loopVar
	add := func(v *loopVar) {
		if !seen[v] {
			seen[v] = true
			vars = append(vars, v)
		}
	}
	for _, o := range m.args {
		o.f.vars(add)
	}
	for _, v := range slices.Concat(m.keep, m.overV) {
		add(v)
	}
	// A sum over a guarded variable runs over what the guard compares it with.
	for _, v := range slices.Concat(m.sum, m.overV) {
		for _, g := range v.guards {
			g.vars(add)
		}
	}
	for _, g := range m.guards {
		g.vars(add)
	}
	vars = slices.DeleteFunc(vars, func(v *loopVar) bool { return slices.Contains(m.sum, v) })
	slices.SortFunc(vars, func(a, b *loopVar) int { return a.seq - b.seq })
	at := map[*loopVar]int{}
	for i, v := range vars {
		at[v] = i
	}
	return vars, at
}

// guardsOf are the guards of all loops whose variables are loops here.
func (e *builder) guardsOf(m *emission, at map[*loopVar]int) []ir.Sub {
	var loops []*loopVar
	for v := range at {
		loops = append(loops, v)
	}
	slices.SortFunc(loops, func(a, b *loopVar) int { return a.seq - b.seq })
	var out []ir.Sub
	attach := func(g affine) {
		all := true
		g.vars(func(v *loopVar) {
			if _, ok := at[v]; !ok {
				all = false
			}
		})
		if all {
			out = append(out, e.sub(g, at))
		}
	}
	for _, v := range loops {
		for _, g := range v.guards {
			attach(g)
		}
	}
	for _, g := range m.guards {
		attach(g)
	}
	return out
}

func (e *builder) subs(vs []vsub, slots, local []int, at map[*loopVar]int) []ir.Sub {
	out := make([]ir.Sub, len(vs))
	for i, s := range vs {
		if s.slot >= 0 {
			out[i] = ir.L(local[slots[s.slot]])
			continue
		}
		out[i] = e.sub(s.aff, at)
	}
	return out
}

func (e *builder) sub(a affine, at map[*loopVar]int) ir.Sub {
	out := ir.Sub{Const: a.c}
	for _, t := range a.terms {
		l, ok := at[t.v]
		if !ok {
			panic(fmt.Sprintf("irbuild: BUG: index %s is not a loop of %s", t.v.name, e.eq))
		}
		out.Terms = append(out.Terms, ir.Term{Loop: l, Coef: t.c})
	}
	if a.via != nil {
		out.Indirect = &ir.Arg{Val: a.via.val, Sub: e.subs(a.via.sub, nil, nil, at)}
	}
	return out
}
