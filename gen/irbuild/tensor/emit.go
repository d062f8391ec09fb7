package tensor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Emission: a lazy product becomes an instruction whose loops are the variables that it reads.

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

// NewEmitter returns an emitter of an empty program.
func NewEmitter(name string, ds *diag.List) *Emitter {
	f := &ir.Func{Name: name}
	return &Emitter{Func: f, IR: &ir.Builder{F: f}, Diags: ds, Shifts: map[*ir.Value][]notation.Span{}}
}

// Build returns the builder of the program, for an instruction of the equation
// that is built.
func (e *Emitter) Build() *ir.Builder {
	e.IR.Eq, e.IR.Span = e.Eq, e.Span
	return e.IR
}

// SaveOrigin returns a function that restores the current equation and span.
func (e *Emitter) SaveOrigin() (restore func()) {
	eq, span := e.Eq, e.Span
	return func() { e.Eq, e.Span = eq, span }
}

// An Operand is a factor whose visible axis i is local loop at[i] of an instruction.
type Operand struct {
	factor Factor
	at     []int
}

// An Instr describes one instruction. Its loops are the loop variables that its
// operands read, in the order in which they were bound, and the local loops.
type Instr struct {
	Op     ir.Op
	Coef   []float64
	Locals []*ir.Axis // the axes of local loops
	Out    int        // the first Out local loops are the visible axes of the output, the others are summed over
	Args   []Operand
	Sum    []*LoopVar // variables that are summed over
	Keep   []*LoopVar // variables that are loops even if no operand reads them
	Over   []*LoopVar // variables that max, softmax and logsumexp run over, and that iota counts
	Guards []Affine   // conditions: each must be ≥ 0
	elem   ir.Elem    // of the output, Real by default
}

// Product is the product of the factors of t over its visible axes.
func Product(t *Tensor) Instr {
	return Instr{Op: ir.Prod, Coef: []float64{t.Coef}, Locals: t.Axes, Out: len(t.Axes), Args: t.Operands()}
}

// Emit appends the instruction and returns its output.
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
		in.Args = append(in.Args, ir.Arg{Val: o.factor.Val, Sub: e.Subscripts(o.factor.Sub, o.at, local, at)})
	}
	in.Guard = e.guards(&m, at)
	e.checkRange(in)
	for _, v := range m.Over {
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
		if drop && slices.Contains(m.Over, v) {
			continue
		}
		val.Axes, in.To, sub = append(val.Axes, v.Axis), append(in.To, ir.L(i)), append(sub, Subscript{-1, AffineOf(v)})
	}
	for i, a := range m.Locals[:m.Out] {
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

// loops lists the variables that become loops, in the order in which they were
// bound, without those that are summed over, and their numbers. A sum over a
// guarded variable runs in the loops of what the guard compares it with.
func (e *Emitter) loops(m *Instr) ([]*LoopVar, map[*LoopVar]int) {
	var s varSet
	for _, o := range m.Args {
		o.factor.eachVar(s.add)
	}
	for _, v := range slices.Concat(m.Keep, m.Over) {
		s.add(v)
	}
	for _, v := range slices.Concat(m.Sum, m.Over) {
		for _, g := range v.Guards {
			g.EachVar(s.add)
		}
	}
	for _, g := range m.Guards {
		g.EachVar(s.add)
	}
	vars := slices.DeleteFunc(s.sorted(), func(v *LoopVar) bool { return slices.Contains(m.Sum, v) })
	at := map[*LoopVar]int{}
	for i, v := range vars {
		at[v] = i
	}
	return vars, at
}

// guards are the guards of the instruction and of its loops, as far as all
// their variables are loops here.
func (e *Emitter) guards(m *Instr, at map[*LoopVar]int) []ir.Sub {
	loops := slices.Collect(maps.Keys(at))
	SortVars(loops)
	var all []Affine
	for _, v := range loops {
		all = append(all, v.Guards...)
	}
	var out []ir.Sub
	for _, g := range append(all, m.Guards...) {
		known := true
		g.EachVar(func(v *LoopVar) {
			_, ok := at[v]
			known = known && ok
		})
		if known {
			out = append(out, e.subscript(g, at))
		}
	}
	return out
}

// Subscripts are the subscripts of a factor by loop numbers: visible axis k is
// loop local[axes[k]], a variable v is loop at[v].
func (e *Emitter) Subscripts(subs []Subscript, axes, local []int, at map[*LoopVar]int) []ir.Sub {
	out := make([]ir.Sub, len(subs))
	for i, s := range subs {
		if s.Visible >= 0 {
			out[i] = ir.L(local[axes[s.Visible]])
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
			panic(fmt.Sprintf("tensor: BUG: index %s is not a loop of %s", t.Var.Name, e.Eq))
		}
		out.Terms = append(out.Terms, ir.Term{Loop: l, Coef: t.Coef})
	}
	if a.Via != nil {
		out.Indirect = &ir.Arg{Val: a.Via.Val, Sub: e.Subscripts(a.Via.Sub, nil, nil, at)}
	}
	return out
}

// shiftOf is the one index of the equation that is built that may leave an axis of
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

// Named gives the output of an instruction the name of its equation, if it has none.
func (e *Emitter) Named(v *ir.Value, name string) *ir.Value {
	if v.Def != nil && v.Name[0] == '%' {
		v.Name = e.Func.Fresh(ident.ASCII(name))
	}
	return v
}
