package gokernel_test

import "github.com/nl-hecate/hecate/gen/ir"

// A rule is a program with one recurrence while it is built.
type rule struct {
	f    *ir.Func
	L, T *ir.Axis
	scan *ir.Scan
	in   *ir.Instr
	b    *ir.Builder // of the body
}

func newRule(name string) *rule {
	r := &rule{f: &ir.Func{Name: name}}
	r.L, r.T = r.f.NewAxis("L"), r.f.NewAxis("T")
	r.b = &ir.Builder{F: &ir.Func{Name: name + ".step"}, Eq: name + ".write"}
	r.scan = &ir.Scan{Batch: r.L, Time: r.T, Body: r.b.F}
	r.in = &ir.Instr{Op: ir.ScanOp, Scan: r.scan, Eq: name}
	return r
}

// token adds a series and returns the body's parameter.
func (r *rule) token(name string, axes ...*ir.Axis) *ir.Value {
	v := r.f.AddParam(name, ir.Input, ir.Real, append([]*ir.Axis{r.L, r.T}, axes...)...)
	p := r.b.F.AddParam(name, ir.Token, ir.Real, axes...)
	r.scan.Tokens = append(r.scan.Tokens, ir.ScanInput{Param: p, Val: v})
	return p
}

func (r *rule) shared(name string, axes ...*ir.Axis) *ir.Value {
	v := r.f.AddParam(name, ir.Outer, ir.Real, axes...)
	p := r.b.F.AddParam(name, ir.Shared, ir.Real, axes...)
	r.scan.Shared = append(r.scan.Shared, ir.SharedArg{Param: p, Val: v})
	return p
}

// state adds a state; next names what it becomes.
func (r *rule) state(name string, axes ...*ir.Axis) *ir.Value {
	v := r.f.AddParam(name, ir.State, ir.Real, append([]*ir.Axis{r.L}, axes...)...)
	p := r.b.F.AddParam(name, ir.Carry, ir.Real, axes...)
	r.scan.Carry = append(r.scan.Carry, ir.ScanState{Param: p, Init: v})
	return p
}

func (r *rule) next(state, next *ir.Value) {
	for i := range r.scan.Carry {
		if c := &r.scan.Carry[i]; c.Param == state {
			c.Next = next
			c.Final = &ir.Value{Name: state.Name + ".next", Elem: ir.Real, Axes: append([]*ir.Axis{r.L}, state.Axes...), Def: r.in}
			r.f.Results = append(r.f.Results, ir.Result{Name: state.Name, Val: c.Final, State: true})
		}
	}
}

func (r *rule) give(name string, v *ir.Value) *ir.Value {
	out := &ir.Value{Name: name, Elem: ir.Real, Axes: append([]*ir.Axis{r.L, r.T}, v.Axes...), Def: r.in}
	r.scan.Outs = append(r.scan.Outs, ir.ScanOutput{Val: v, Out: out})
	r.f.Results = append(r.f.Results, ir.Result{Name: name, Val: out})
	return out
}

func (r *rule) done() *ir.Func {
	r.f.Body = append(r.f.Body, r.in)
	return r.f
}

// matvec is M·k over rows i and columns j; write is c·a_i·k_j.
func matvec(b *ir.Builder, m, k *ir.Value) *ir.Value {
	return b.Prod(m.Axes, m.Axes[:1], ir.Ls(1), 1, ir.All(m), ir.At(k, ir.L(1)))
}

func scaled(b *ir.Builder, s, m *ir.Value) *ir.Value {
	return b.Prod(m.Axes, m.Axes, ir.Ls(2), 1, ir.At(s), ir.All(m))
}

func plus(b *ir.Builder, x, y *ir.Value, cx, cy float64) *ir.Value {
	return b.Lin(x.Axes, 0, []float64{cx, cy}, ir.All(x), ir.All(y))
}

func (r *rule) axis(name string) *ir.Axis { return r.f.NewAxis(name) }
