package program

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Batching over heads (vmap). A page says what one head of a rule computes. The
// program of a rule with heads is that program mapped over an axis H: every learned
// parameter and every value that depends on one gets H, after the batch axis where
// it has one; tokens, tables of constants and positions are shared by all heads.
//
// A scan has one batch axis, so inside it the batch is the pairs (batch, head): its
// operands are reshaped from [L, H, …] to [L·H, …], and its results back. Its body
// does not change. The results y of all heads are concatenated: [L, T, H·d_v].

// A batcher writes the program of H heads from that of one.
type batcher struct {
	b          ir.Builder
	head       *ir.Axis // H
	batch      *ir.Axis // L, nil in first values that are the same for the whole batch
	batchHead  *ir.Axis // L·H
	vals       map[*ir.Value]*ir.Value
	perHead    map[*ir.Value]bool // values of one head that have the axis H
	flattened  map[*ir.Value]*ir.Value
	isConstant func(name string) bool
}

// OverHeads maps the program of a rule over the heads of the block; without heads it is f.
func OverHeads(blk *check.Block, f *ir.Func, ds *diag.List) *ir.Func {
	if f == nil || blk.Heads == nil {
		return f
	}
	if y := Output(f); y != nil {
		x := Input(f) // a frozen read of states alone has none
		if _, one := y.Axes[2].Size.Symbol(); !one || x != nil && slices.Contains(x.Axes, y.Axes[2]) {
			ds.Errorf(diag.ShapeMismatch, blk.Unit.Name.Span, "%s has no heads: an answer is as wide as a token, and several side by side are wider", blk.Name).
				Hint("answer with a vector of an axis of its own, such as d_v")
			return nil
		}
	}
	head := &ir.Axis{Name: ident.ASCII(blk.Heads.Name), Size: blk.Heads.Size.Rename(ident.ASCII)}
	m := &batcher{b: ir.Builder{F: &ir.Func{Name: f.Name, Axes: slices.Clone(f.Axes)}}, head: head,
		vals: map[*ir.Value]*ir.Value{}, perHead: map[*ir.Value]bool{}, flattened: map[*ir.Value]*ir.Value{}}
	if i := slices.IndexFunc(f.Axes, func(a *ir.Axis) bool { return a.Name == "L" }); i >= 0 {
		m.batch = f.Axes[i]
		m.batchHead = &ir.Axis{Name: m.batch.Name + "·" + head.Name, Size: m.batch.Size.Mul(head.Size)}
	}
	m.isConstant = func(name string) bool {
		return slices.ContainsFunc(blk.SymSeq, func(s *check.Symbol) bool { return s.Kind == check.Constant && ident.ASCII(s.Name) == name })
	}
	for _, p := range f.Params {
		m.param(p)
	}
	for _, in := range f.Body {
		m.instr(in)
	}
	for _, r := range f.Results {
		v := m.vals[r.Val]
		if !r.State || r.Val.Elem == ir.Real {
			v = m.broadcast(r.Val)
		}
		if !r.State {
			v = m.joinHeads(v)
		}
		m.b.F.Results = append(m.b.F.Results, ir.Result{Name: r.Name, Val: v, State: r.State, Eq: r.Eq})
	}
	ListAxes(m.b.F)
	return m.b.F
}

// param adds a parameter: one of each head, if it is learned or a state.
func (m *batcher) param(p *ir.Value) {
	own := (p.Role == ir.Outer && !m.isConstant(p.Name) || p.Role == ir.State) && p.Elem == ir.Real
	n := m.b.F.AddParam(p.Name, p.Role, p.Elem, m.axes(p.Axes, own)...)
	n.NoGrad = p.NoGrad
	m.vals[p], m.perHead[p] = n, own
}

// headPosition is the position of the axis H among others: after the batch axis, or first.
func (m *batcher) headPosition(axes []*ir.Axis) int { return slices.Index(axes, m.batch) + 1 }

func (m *batcher) axes(axes []*ir.Axis, own bool) []*ir.Axis {
	if !own {
		return axes
	}
	return slices.Insert(slices.Clone(axes), m.headPosition(axes), m.head)
}

// instr maps one instruction: if it reads a value of a head it gets a loop over them.
func (m *batcher) instr(in *ir.Instr) {
	if in.Scan != nil {
		m.scan(in)
		return
	}
	own := slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return m.perHead[v] })
	c := *in
	c.Args, c.Over = nil, nil
	loop := -1
	if own && in.Op != ir.Reshape {
		loop = m.headPosition(in.Loops)
		c.Loops = slices.Insert(slices.Clone(in.Loops), loop, m.head)
	}
	for _, a := range in.Args {
		if own && in.Op == ir.Stack { // has no loop that an argument lacks
			v, at := m.broadcast(a.Val), m.headPosition(a.Val.Axes)
			c.Args = append(c.Args, ir.Arg{Val: v, Sub: slices.Insert(m.subs(a.Sub, loop), at, ir.L(loop))})
			continue
		}
		c.Args = append(c.Args, m.arg(a, loop))
	}
	for _, l := range in.Over {
		c.Over = append(c.Over, shiftedLoop(l, loop))
	}
	c.Guard = m.subs(in.Guard, loop)
	c.To = m.subs(in.To, loop)
	if loop >= 0 {
		c.To = slices.Insert(c.To, m.headPosition(in.Out.Axes), ir.L(loop))
	}
	c.Out = &ir.Value{Name: m.b.F.Fresh(in.Out.Name), Elem: in.Out.Elem, Axes: m.axes(in.Out.Axes, own), NoGrad: in.Out.NoGrad}
	m.vals[in.Out], m.perHead[in.Out] = m.b.Add(&c), own
}

// shiftedLoop is the number of a loop after another one is inserted at a position; −1
// inserts none.
func shiftedLoop(l, at int) int {
	if at >= 0 && l >= at {
		return l + 1
	}
	return l
}

func (m *batcher) arg(a ir.Arg, loop int) ir.Arg {
	out := ir.Arg{Val: m.vals[a.Val], Sub: m.subs(a.Sub, loop)}
	if m.perHead[a.Val] && loop >= 0 {
		out.Sub = slices.Insert(out.Sub, m.headPosition(a.Val.Axes), ir.L(loop))
	}
	return out
}

func (m *batcher) subs(subs []ir.Sub, loop int) []ir.Sub {
	var out []ir.Sub
	for _, s := range subs {
		t := ir.Sub{Const: s.Const}
		for _, x := range s.Terms {
			t.Terms = append(t.Terms, ir.Term{Loop: shiftedLoop(x.Loop, loop), Coef: x.Coef})
		}
		if s.Indirect != nil {
			via := m.arg(*s.Indirect, loop)
			t.Indirect = &via
		}
		out = append(out, t)
	}
	return out
}

// broadcast is a value of every head: one that is the same for them is repeated.
func (m *batcher) broadcast(v *ir.Value) *ir.Value {
	if m.perHead[v] {
		return m.vals[v]
	}
	axes, n := m.axes(v.Axes, true), m.headPosition(v.Axes)
	return m.copy(axes, ir.At(m.vals[v], slices.Delete(ir.Ls(len(axes)), n, n+1)...))
}

// copy appends a copy, in which the loops run over axes.
func (m *batcher) copy(axes []*ir.Axis, from ir.Arg) *ir.Value {
	out := m.b.Lin(axes, 0, []float64{1}, from)
	out.Elem = from.Val.Elem
	return out
}

// joinHeads is [L, H, T, d_v] as [L, T, H·d_v].
func (m *batcher) joinHeads(v *ir.Value) *ir.Value {
	a := slices.Clone(v.Axes)
	a[1], a[2] = a[2], a[1]
	wide := &ir.Axis{Name: a[2].Name + "·" + a[3].Name, Size: a[2].Size.Mul(a[3].Size)}
	turned := m.copy(a, ir.At(v, ir.L(0), ir.L(2), ir.L(1), ir.L(3)))
	return m.b.Reshape(turned, a[0], a[1], wide)
}

// flatten is a value as a scan over pairs of batch and head reads it.
func (m *batcher) flatten(v *ir.Value) *ir.Value {
	if m.flattened[v] == nil {
		x := m.broadcast(v)
		if m.headPosition(v.Axes) == 0 { // the same for the whole batch
			axes := append([]*ir.Axis{m.batch}, x.Axes...)
			x = m.copy(axes, ir.At(x, ir.Ls(len(axes))[1:]...))
		}
		m.flattened[v] = m.b.Reshape(x, append([]*ir.Axis{m.batchHead}, x.Axes[2:]...)...)
		m.flattened[v].Name = m.b.F.Fresh(v.Name + ".pairs")
	}
	return m.flattened[v]
}

// scan maps a recurrence: its batch becomes pairs of batch and head, and its body stays.
func (m *batcher) scan(in *ir.Instr) {
	old := in.Scan
	m.b.Eq, m.b.Span = in.Eq, in.Span
	s := &ir.Scan{Batch: m.batchHead, Time: old.Time, Body: old.Body, Reverse: old.Reverse}
	out := &ir.Instr{Op: ir.ScanOp, Scan: s, Eq: in.Eq, AlsoEqs: in.AlsoEqs, Span: in.Span}
	made := map[*ir.Value]*ir.Value{}
	give := func(v *ir.Value) *ir.Value {
		if v == nil {
			return nil
		}
		n := &ir.Value{Name: m.b.F.Fresh(v.Name + ".pairs"), Elem: v.Elem, Axes: append([]*ir.Axis{m.batchHead}, v.Axes[1:]...), Def: out}
		made[v] = n
		return n
	}
	for _, c := range old.Carry {
		c.Init, c.Final = m.flatten(c.Init), give(c.Final)
		s.Carry = append(s.Carry, c)
	}
	for _, t := range old.Tokens {
		t.Val = m.flatten(t.Val)
		s.Tokens = append(s.Tokens, t)
	}
	for _, v := range old.Shared {
		if v.PerBatch || m.perHead[v.Val] {
			v.Val, v.PerBatch = m.flatten(v.Val), true
		} else {
			v.Val = m.vals[v.Val]
		}
		s.Shared = append(s.Shared, v)
	}
	for _, o := range old.Outs {
		o.Out = give(o.Out)
		s.Outs = append(s.Outs, o)
	}
	m.b.F.Body = append(m.b.F.Body, out)
	for _, v := range in.Defines() {
		axes := m.axes(v.Axes, true)
		m.vals[v], m.perHead[v] = m.b.Reshape(made[v], axes...), true
		m.vals[v].Name = m.b.F.Fresh(v.Name)
	}
}
