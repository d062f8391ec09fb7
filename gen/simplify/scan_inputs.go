package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Rematerialisation of structured series. A structured matrix of every token
// that a recurrence multiplies with is computed in the step from its vectors
// instead of outside for all tokens, so that the product can be distributed
// over its terms there.

// moveIntoStep moves structured series into the body of a scan.
func (s *simplifier) moveIntoStep(in *ir.Instr) {
	sc := in.Scan
	if sc.Primal != nil || len(s.kept[in]) > 0 {
		return // what is replayed stays
	}
	for _, t := range slices.Clone(sc.Tokens) {
		if t.Window != nil || t.Count || !t.Base.IsZero() || len(t.Param.Axes) < 2 {
			continue
		}
		m := &mover{s: s, sc: sc, made: map[*ir.Value]*ir.Value{}}
		v := m.tokenValue(t.Val, 2)
		if v == nil || !m.distributes(t.Param, v) {
			continue
		}
		m.commit(t.Param, v)
		s.bodies[sc.Body], s.changed = false, true
	}
}

// A mover copies the computation of a series into a step.
type mover struct {
	s      *simplifier
	sc     *ir.Scan
	made   map[*ir.Value]*ir.Value // by the series
	body   []*ir.Instr
	tokens []ir.ScanInput
	shared []ir.SharedArg
}

// tokenValue is one token of v in the step, or nil. The first n axes of v are
// batch and time: two for a series, none for what all tokens see.
func (m *mover) tokenValue(v *ir.Value, n int) *ir.Value {
	d := v.Def
	if m.made[v] != nil {
		return m.made[v]
	}
	if d == nil || d.Op != ir.Prod && d.Op != ir.Lin && d.Op != ir.Const || len(d.Guard) > 0 || len(v.Axes) < n+1 || len(d.To) != len(v.Axes) {
		return nil
	}
	if _, diagonal := diagonalOf(d); !diagonal && !d.Elementwise() {
		return nil
	}
	slot, time := -1, -1
	if n == 2 {
		var okL, okT bool
		slot, okL = d.To[0].Loop()
		time, okT = d.To[1].Loop()
		if !okL || !okT || v.Axes[0] != m.sc.Batch || v.Axes[1] != m.sc.Time {
			return nil
		}
	}
	at, loops := make([]ir.Sub, len(d.Loops)), []*ir.Axis(nil)
	for l, a := range d.Loops {
		if l != slot && l != time {
			at[l], loops = ir.L(len(loops)), append(loops, a)
		}
	}
	in := &ir.Instr{Op: d.Op, Loops: loops, Coef: slices.Clone(d.Coef), Eq: d.Eq, AlsoEqs: d.AlsoEqs, Span: d.Span}
	in.To, _ = ir.SubstAll(d.To[n:], at)
	for _, a := range d.Args {
		x, ok := m.arg(a, slot, time, len(loops))
		if !ok {
			return nil
		}
		x.Sub, _ = ir.SubstAll(x.Sub, at)
		in.Args = append(in.Args, x)
	}
	in.Out = &ir.Value{Name: m.sc.Body.Fresh("%"), Elem: v.Elem, Axes: v.Axes[n:], Def: in}
	m.body = append(m.body, in)
	m.made[v] = in.Out
	return in.Out
}

// arg is an argument as the step reads it: a token of a series, or a value
// that all tokens see. Its subscripts are those of the other loops.
func (m *mover) arg(a ir.Arg, slot, time, rank int) (ir.Arg, bool) {
	n := 0
	for _, want := range []int{slot, time} {
		if n < len(a.Sub) {
			if l, ok := a.Sub[n].Loop(); ok && l == want {
				n++
			}
		}
	}
	rest := a.Sub[n:]
	used := ir.LoopsOf(rest)
	if used[slot] || used[time] || ir.HasIndirect(a.Sub) || n == 2 && a.Val.Axes[1] != m.sc.Time || n > 0 && a.Val.Axes[0] != m.sc.Batch {
		return ir.Arg{}, false
	}
	if len(rest) == rank && (n == 2 || n == 0 && rank > 1) {
		if v := m.tokenValue(a.Val, n); v != nil {
			return ir.Arg{Val: v, Sub: rest}, true
		}
	}
	return ir.Arg{Val: m.parameter(a.Val, n), Sub: rest}, true
}

// parameter is the step's parameter for a value that has the first n of batch
// and time as axes.
func (m *mover) parameter(v *ir.Value, n int) *ir.Value {
	if m.made[v] != nil {
		return m.made[v]
	}
	for _, t := range m.sc.Tokens {
		if t.Val == v && t.Window == nil && !t.Count && t.Base.IsZero() {
			return t.Param
		}
	}
	for _, x := range m.sc.Shared {
		if x.Val == v && x.PerBatch == (n == 1) {
			return x.Param
		}
	}
	p := &ir.Value{Name: m.sc.Body.Fresh(v.Label()), Elem: v.Elem, Axes: v.Axes[n:], Role: ir.Shared, NoGrad: v.Elem != ir.Real || v.NoGrad}
	if n == 2 {
		p.Role = ir.Token
		m.tokens = append(m.tokens, ir.ScanInput{Param: p, Val: v})
	} else {
		m.shared = append(m.shared, ir.SharedArg{Param: p, Val: v, PerBatch: n == 1})
	}
	m.made[v] = p
	return p
}

// distributes reports whether a product of the step would be distributed over
// the terms of v, were v in the place of a parameter.
func (m *mover) distributes(param, v *ir.Value) bool {
	inner := newSimplifier(m.sc.Body, nil)
	for _, in := range m.sc.Body.Body {
		if in.Op != ir.Prod || len(in.Guard) > 0 || len(in.Reduced()) == 0 || !wholeOutput(in) {
			continue
		}
		for i, a := range in.Args {
			if a.Val != param {
				continue
			}
			try := *in
			try.Args = slices.Clone(in.Args)
			try.Args[i].Val = v
			if inner.distributes(&try, i) {
				return true
			}
		}
	}
	return false
}

// commit adds v to the step in the place of a parameter.
func (m *mover) commit(param, v *ir.Value) {
	body := m.sc.Body
	for _, t := range m.tokens {
		body.Params = append(body.Params, t.Param)
	}
	for _, x := range m.shared {
		body.Params = append(body.Params, x.Param)
	}
	m.sc.Tokens, m.sc.Shared = append(m.sc.Tokens, m.tokens...), append(m.sc.Shared, m.shared...)
	m.sc.Tokens = slices.DeleteFunc(m.sc.Tokens, func(t ir.ScanInput) bool { return t.Param == param })
	body.Params = slices.DeleteFunc(body.Params, func(p *ir.Value) bool { return p == param })
	body.Body = append(m.body, body.Body...)
	m.sc.ReplaceInBody(param, v)
}
