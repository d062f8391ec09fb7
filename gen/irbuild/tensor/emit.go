package tensor

import (
	"fmt"
	"github.com/nl-hecate/hecate/gen/ident"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// An Emitter appends instructions to one program. Each carries the equation
// and the span that are set when it is appended.
type Emitter struct {
	Func  *ir.Func
	IR    *ir.Builder
	Diags *diag.List
	Eq    string
	Span  notation.Span

	seq    int                           // of the last loop variable
	Shifts map[*ir.Value][]notation.Span // where a value is read at a sum of indices
}

func NewEmitter(name string, ds *diag.List) *Emitter {
	f := &ir.Func{Name: name}
	return &Emitter{Func: f, IR: &ir.Builder{F: f}, Diags: ds, Shifts: map[*ir.Value][]notation.Span{}}
}

// An Operand is a factor with each of its slots placed on a local loop.
type Operand struct {
	Factor    Factor
	positions []int
}

// An Instr is one instruction to be: locals are the loops that the type
// makes (the first out of them are the output's visible axes), sum the
// variables that are summed away.
type Instr struct {
	Op       ir.Op
	Coef     []float64
	Locals   []*ir.Axis
	Out      int
	Args     []Operand
	Sum      []*LoopVar
	Keep     []*LoopVar // variables that must be loops even if no factor reads them
	over     []int      // locals that are normalised over (max, softmax, logsumexp)
	OverVars []*LoopVar // variables that are normalised over
	elem     ir.Elem
	Guards   []Affine
}

// Emit appends the instruction and returns its output as a ten.
func (e *Emitter) Emit(m Instr) *Tensor {
	kept, at := e.loops(&m)
	n := len(kept)
	in := &ir.Instr{Op: m.Op, Coef: m.Coef, Eq: e.Eq, Span: e.Span}
	for _, v := range kept {
		in.Loops = append(in.Loops, v.Axis)
	}
	local := make([]int, len(m.Locals))
	for i, a := range m.Locals[:m.Out] {
		local[i] = len(in.Loops)
		in.Loops = append(in.Loops, a)
	}
	for _, v := range m.Sum {
		at[v] = len(in.Loops)
		in.Loops = append(in.Loops, v.Axis)
	}
	for i, a := range m.Locals[m.Out:] {
		local[m.Out+i] = len(in.Loops)
		in.Loops = append(in.Loops, a)
	}
	for _, o := range m.Args {
		in.Args = append(in.Args, ir.Arg{Val: o.Factor.Val, Sub: e.Subscripts(o.Factor.Sub, o.positions, local, at)})
	}
	in.Guard = e.guards(&m, at)
	e.checkRange(in)
	for _, l := range m.over {
		in.Over = append(in.Over, local[l])
	}
	for _, v := range m.OverVars {
		in.Over = append(in.Over, at[v])
	}
	out := &Tensor{Elem: m.elem, Coef: 1}
	if out.Elem == 0 {
		out.Elem = ir.Real
	}
	val := &ir.Value{Name: e.Func.Fresh("%"), Elem: out.Elem}
	drop := m.Op == ir.Max || m.Op == ir.LogSumExp
	var sub []Subscript
	for i, v := range kept {
		if drop && slices.Contains(m.OverVars, v) {
			continue
		}
		val.Axes, in.To, sub = append(val.Axes, v.Axis), append(in.To, ir.L(i)), append(sub, Subscript{-1, AffineOf(v)})
	}
	for i, a := range m.Locals[:m.Out] {
		if drop && slices.Contains(m.over, i) {
			continue
		}
		val.Axes, in.To = append(val.Axes, a), append(in.To, ir.L(n+i))
		sub = append(sub, Subscript{Visible: len(out.Axes)})
		out.Axes = append(out.Axes, a)
	}
	in.Out, val.Def = val, in
	e.Func.Body = append(e.Func.Body, in)
	out.Factors = []Factor{{val, sub}}
	return out
}

// checkRange reports an index that leaves the axis that it reads, at every size.
func (e *Emitter) checkRange(in *ir.Instr) {
	for _, a := range in.Args {
		for i, s := range a.Sub {
			if l, ok := s.Loop(); ok && in.Loops[l] == a.Val.Axes[i] {
				continue
			}
			if !ir.InRange(in, s, a.Val.Axes[i].Size) {
				e.Diags.Errorf(diag.BadIndex, e.shiftOf(a.Val), "an index of %s leaves its axis %s", strings.TrimPrefix(a.Val.Name, "%"), a.Val.Axes[i].Name).
					Hint("positions count from 0; bound the index by a condition, such as i < n − 1")
				return
			}
		}
	}
}

// loops lists the variables that become loops, in the order in which they
// were bound, without those that are summed away.
func (e *Emitter) loops(m *Instr) ([]*LoopVar, map[*LoopVar]int) {
	seen := map[*LoopVar]bool{}
	var vars []*LoopVar
	add := func(v *LoopVar) {
		if !seen[v] {
			seen[v] = true
			vars = append(vars, v)
		}
	}
	for _, o := range m.Args {
		o.Factor.EachVar(add)
	}
	for _, v := range slices.Concat(m.Keep, m.OverVars) {
		add(v)
	}
	// A sum over a guarded variable runs over what the guard compares it with.
	for _, v := range slices.Concat(m.Sum, m.OverVars) {
		for _, g := range v.Guards {
			g.EachVar(add)
		}
	}
	for _, g := range m.Guards {
		g.EachVar(add)
	}
	vars = slices.DeleteFunc(vars, func(v *LoopVar) bool { return slices.Contains(m.Sum, v) })
	slices.SortFunc(vars, func(a, b *LoopVar) int { return a.Seq - b.Seq })
	at := map[*LoopVar]int{}
	for i, v := range vars {
		at[v] = i
	}
	return vars, at
}

// guards are the guards of all loops whose variables are loops here.
func (e *Emitter) guards(m *Instr, at map[*LoopVar]int) []ir.Sub {
	var loops []*LoopVar
	for v := range at {
		loops = append(loops, v)
	}
	slices.SortFunc(loops, func(a, b *LoopVar) int { return a.Seq - b.Seq })
	var out []ir.Sub
	attach := func(g Affine) {
		all := true
		g.EachVar(func(v *LoopVar) {
			if _, ok := at[v]; !ok {
				all = false
			}
		})
		if all {
			out = append(out, e.subscript(g, at))
		}
	}
	for _, v := range loops {
		for _, g := range v.Guards {
			attach(g)
		}
	}
	for _, g := range m.Guards {
		attach(g)
	}
	return out
}

func (e *Emitter) Subscripts(vs []Subscript, slots, local []int, at map[*LoopVar]int) []ir.Sub {
	out := make([]ir.Sub, len(vs))
	for i, s := range vs {
		if s.Visible >= 0 {
			out[i] = ir.L(local[slots[s.Visible]])
			continue
		}
		out[i] = e.subscript(s.Affine, at)
	}
	return out
}

func (e *Emitter) subscript(a Affine, at map[*LoopVar]int) ir.Sub {
	out := ir.Sub{Const: a.Const}
	for _, t := range a.Terms {
		l, ok := at[t.Var]
		if !ok {
			panic(fmt.Sprintf("irbuild: BUG: index %s is not a loop of %s", t.Var.Name, e.Eq))
		}
		out.Terms = append(out.Terms, ir.Term{Loop: l, Coef: t.Coef})
	}
	if a.Via != nil {
		out.Indirect = &ir.Arg{Val: a.Via.Val, Sub: e.Subscripts(a.Via.Sub, nil, nil, at)}
	}
	return out
}

// shiftOf is the one index of the equation at hand that may leave an axis of
// v, or the equation.
func (e *Emitter) shiftOf(v *ir.Value) notation.Span {
	var found []notation.Span
	for _, s := range e.Shifts[v] {
		if s.File == e.Span.File && s.Start >= e.Span.Start && s.End <= e.Span.End {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return e.Span
}

// Named gives a value the name of its equation.
func (e *Emitter) Named(v *ir.Value, name string) *ir.Value {
	if v.Def != nil && v.Name[0] == '%' {
		v.Name = e.Func.Fresh(ident.ASCII(name))
	}
	return v
}
