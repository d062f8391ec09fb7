// Package irbuild turns a checked block into tensor programs.
//
// An expression is built as a lazy product of factors. Each factor reads a
// value at subscripts; a subscript is either a visible axis of the
// expression's type, or affine in the loop variables in scope: the lane, the
// token, the indices that Σ and left-hand sides bind. So A[i] of a matrix is a
// vector whose factor has i in one subscript and the visible axis in the
// other, k_t is a factor with lane and token in its first two, and a product
// becomes an instruction only when something needs its entries: a sum, a
// function, or a name. Which loops an instruction has then follows from the
// variables its factors mention.
package irbuild

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A ten is the value of an expression: a tensor over its visible axes.
type ten struct {
	axes []*ir.Axis
	row  bool // a transposed vector
	elem ir.Elem
	coef float64
	fs   []factor
}

// A factor reads val; slot subscripts are visible axes of the ten.
type factor struct {
	val *ir.Value
	sub []vsub
}

// A vsub is one subscript: visible axis number slot, or aff when slot is −1.
type vsub struct {
	slot int
	aff  affine
}

// An affine is a sum of loop variables, a constant and possibly an integer
// tensor's entry.
type affine struct {
	terms []aterm
	c     shape.Poly
	via   *factor
}

type aterm struct {
	v *loopVar
	c int
}

// A loopVar is a bound index. Guards are the conditions under which its points
// count; each is an affine that must be ≥ 0.
type loopVar struct {
	name   string
	axis   *ir.Axis
	seq    int
	guards []affine
}

func literal(c float64) *ten { return &ten{elem: ir.Real, coef: c} }

func (t *ten) isLiteral() bool { return len(t.fs) == 0 && len(t.axes) == 0 && t.elem == ir.Real }

func (t *ten) clone() *ten {
	u := *t
	u.axes = slices.Clone(t.axes)
	u.fs = make([]factor, len(t.fs))
	for i, f := range t.fs {
		u.fs[i] = factor{f.val, slices.Clone(f.sub)}
	}
	return &u
}

func (t *ten) scale(c float64) *ten {
	u := t.clone()
	u.coef *= c
	return u
}

func varAff(v *loopVar) affine { return affine{terms: []aterm{{v, 1}}} }

func (a affine) add(b affine, sign int) affine {
	out := affine{terms: slices.Clone(a.terms), c: a.c, via: a.via}
	for _, t := range b.terms {
		out.addTerm(t.v, sign*t.c)
	}
	if sign > 0 {
		out.c = out.c.Add(b.c)
	} else {
		out.c = out.c.Sub(b.c)
	}
	if b.via != nil && sign > 0 && out.via == nil {
		out.via = b.via
	}
	return out
}

func (a *affine) addTerm(v *loopVar, c int) {
	for i := range a.terms {
		if a.terms[i].v == v {
			a.terms[i].c += c
			if a.terms[i].c == 0 {
				a.terms = slices.Delete(a.terms, i, i+1)
			}
			return
		}
	}
	a.terms = append(a.terms, aterm{v, c})
}

// single returns the variable when a is one variable and nothing else.
func (a affine) single() *loopVar {
	if a.via == nil && a.c.IsZero() && len(a.terms) == 1 && a.terms[0].c == 1 {
		return a.terms[0].v
	}
	return nil
}

func (a affine) vars(add func(*loopVar)) {
	for _, t := range a.terms {
		add(t.v)
	}
	if a.via != nil {
		a.via.vars(add)
	}
}

func (f *factor) vars(add func(*loopVar)) {
	for _, s := range f.sub {
		if s.slot < 0 {
			s.aff.vars(add)
		}
	}
}

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
		out.Via = &ir.Arg{Val: a.via.val, Sub: e.subs(a.via.sub, nil, nil, at)}
	}
	return out
}

// one turns t into a single factor with coefficient 1.
func (e *builder) one(t *ten) *ten {
	if len(t.fs) == 1 && t.coef == 1 && t.full() {
		return t
	}
	if len(t.fs) == 0 {
		c := e.emit(emission{op: ir.Const, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes)})
		return c
	}
	out := e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), args: t.place(upTo(len(t.axes)))})
	out.row = t.row
	return out
}

// full reports whether a single factor has every visible axis exactly once.
func (t *ten) full() bool {
	seen := make([]bool, len(t.axes))
	for _, s := range t.fs[0].sub {
		if s.slot >= 0 {
			if seen[s.slot] {
				return false
			}
			seen[s.slot] = true
		}
	}
	return !slices.Contains(seen, false)
}

// pack turns t into a value whose axes are the given variables, then t's
// visible axes, in order; it copies only when it must.
func (e *builder) pack(t *ten, vars []*loopVar) *ir.Value {
	t = e.one(t)
	f := t.fs[0]
	if len(f.sub) == len(vars)+len(t.axes) {
		same := true
		for i, s := range f.sub {
			if i < len(vars) {
				same = same && s.slot < 0 && s.aff.single() == vars[i]
			} else {
				same = same && s.slot == i-len(vars)
			}
		}
		if same {
			return f.val
		}
	}
	out := e.emit(emission{op: ir.Prod, coef: []float64{1}, locals: t.axes, out: len(t.axes), keep: vars, args: t.place(upTo(len(t.axes))), elem: t.elem})
	return out.fs[0].val
}

// lift makes loop variables visible axes, in the given order before or among
// the axes that are visible already: `out[i∈r] = e` and softmax_{j∈c}(e).
func (e *builder) lift(t *ten, vars []*loopVar) *ten {
	if len(t.fs) == 0 {
		t = e.spread(t, vars)
	}
	t = e.one(t)
	plain := map[*loopVar]int{}
	for _, s := range t.fs[0].sub {
		if s.slot < 0 {
			if v := s.aff.single(); v != nil {
				plain[v]++
			} else {
				s.aff.vars(func(v *loopVar) { plain[v] += 2 })
			}
		}
	}
	for _, v := range vars {
		if plain[v] != 1 {
			t = e.spread(t, vars)
			break
		}
	}
	u := t.clone()
	u.axes = nil
	for _, v := range vars {
		u.axes = append(u.axes, v.axis)
	}
	u.axes = append(u.axes, t.axes...)
	for i, s := range u.fs[0].sub {
		if s.slot >= 0 {
			u.fs[0].sub[i].slot += len(vars)
			continue
		}
		if v := s.aff.single(); v != nil {
			if k := slices.Index(vars, v); k >= 0 {
				u.fs[0].sub[i] = vsub{slot: k}
			}
		}
	}
	return u
}

// spread copies t so that the variables are loops of it.
func (e *builder) spread(t *ten, vars []*loopVar) *ten {
	if len(t.fs) == 0 {
		return e.emit(emission{op: ir.Const, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: vars})
	}
	return e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: vars,
		args: t.place(upTo(len(t.axes))), elem: t.elem})
}
