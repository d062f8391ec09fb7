// Package irtest makes random tensor programs for tests: small ones that use
// every kind of access, so that what holds for many of them is likely to hold.
package irtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Sizes are the sizes at which a random program may be run.
var Sizes = map[string]int{"L": 2, "T": 3, "a": 3, "b": 2, "w": 2}

// A maker is one program while it is made.
type maker struct {
	rng    *rand.Rand
	f      *ir.Func
	b      *ir.Builder
	axes   []*ir.Axis // that loops run over
	vals   []*ir.Value
	ids    []*ir.Value
	batch  *ir.Axis
	time   *ir.Axis
	window *ir.Axis
}

// Program returns a random program; its values are moderate and, but for
// Less, Abs and the like of parameters alone, smooth.
func Program(seed uint64) *ir.Func {
	m := &maker{rng: rand.New(rand.NewPCG(seed, 7)), f: &ir.Func{Name: fmt.Sprintf("random%d", seed)}}
	m.b = &ir.Builder{F: m.f}
	m.batch, m.time = m.f.NewAxis("L"), m.f.NewAxis("T")
	a, b := m.f.NewAxis("a"), m.f.NewAxis("b")
	m.window = m.f.NewAxis("w")
	long := m.f.NewSizedAxis("past", shape.Sym("T").Add(shape.Sym("w")).Sub(shape.Int(1)))
	m.axes = []*ir.Axis{a, b}
	m.param("s", ir.Input)
	m.param("x", ir.Input, a)
	m.param("y", ir.Outer, b)
	m.param("A", ir.Outer, a, a)
	m.param("B", ir.Input, a, b)
	m.ids = append(m.ids, m.f.AddParam("ia", ir.Input, ir.Int, a), m.f.AddParam("ib", ir.Input, ir.Int, b))
	series := []*ir.Value{m.f.AddParam("xs", ir.Input, ir.Real, m.batch, m.time, a), m.f.AddParam("ys", ir.Input, ir.Real, m.batch, m.time, b)}
	past := m.f.AddParam("past", ir.Input, ir.Real, m.batch, long, a)
	state := m.f.AddParam("M", ir.State, ir.Real, m.batch, a, b)
	m.some(3 + m.rng.IntN(5))
	if m.rng.IntN(2) == 0 {
		m.scan(series, past, state)
	}
	m.some(1 + m.rng.IntN(4))
	for i := range min(3, len(m.vals)) {
		v := m.vals[len(m.vals)-1-i]
		m.f.Results = append(m.f.Results, ir.Result{Name: fmt.Sprintf("r%d", i), Val: v})
	}
	return m.f
}

func (m *maker) param(name string, role ir.Role, axes ...*ir.Axis) {
	m.vals = append(m.vals, m.f.AddParam(name, role, ir.Real, axes...))
}

func (m *maker) pick() *ir.Value { return m.vals[m.rng.IntN(len(m.vals))] }

func (m *maker) some(n int) {
	for range n {
		m.vals = append(m.vals, m.instr())
	}
}

// loops is a random box.
func (m *maker) loops(n int) []*ir.Axis {
	var out []*ir.Axis
	for range n {
		out = append(out, m.axes[m.rng.IntN(len(m.axes))])
	}
	return out
}

func (m *maker) instr() *ir.Value {
	switch m.rng.IntN(8) {
	case 0, 1, 2:
		return m.product()
	case 3, 4:
		return m.linear()
	case 5:
		return m.norm()
	case 6:
		if m.rng.IntN(3) == 0 {
			return m.odd()
		}
	case 7:
		if m.rng.IntN(2) == 0 {
			return m.solve()
		}
	}
	ops := []ir.Op{ir.Tanh, ir.Sigmoid, ir.Softplus, ir.Sin, ir.Cos, ir.Erf}
	return m.scalar(ops[m.rng.IntN(len(ops))], 1)
}

// scalar applies an op entry by entry, written at permuted loops.
func (m *maker) scalar(op ir.Op, args int, coef ...float64) *ir.Value {
	in := &ir.Instr{Op: op, Loops: m.loops(m.rng.IntN(3)), Coef: coef}
	for range args {
		in.Args = append(in.Args, m.read(m.pick(), in))
	}
	var axes []*ir.Axis
	for _, l := range m.rng.Perm(len(in.Loops)) {
		axes, in.To = append(axes, in.Loops[l]), append(in.To, ir.L(l))
	}
	return m.add(in, axes)
}

func (m *maker) add(in *ir.Instr, axes []*ir.Axis) *ir.Value {
	elem := in.Op.Info().Out
	in.Out = &ir.Value{Name: m.f.Fresh("%"), Elem: elem, Axes: axes}
	return m.b.Add(in)
}

func (m *maker) linear() *ir.Value {
	n := m.rng.IntN(4)
	coef := make([]float64, n+1)
	for i := range coef {
		coef[i] = []float64{0, 1, 1, -1, 0.5, -2}[m.rng.IntN(6)]
	}
	return m.scalar(ir.Lin, n, coef...)
}

func (m *maker) product() *ir.Value {
	in := &ir.Instr{Op: ir.Prod, Loops: m.loops(1 + m.rng.IntN(3)), Coef: []float64{[]float64{1, 1, -1, 0.5, 0.25}[m.rng.IntN(5)]}}
	for range 1 + m.rng.IntN(3) {
		in.Args = append(in.Args, m.read(m.pick(), in))
	}
	var axes []*ir.Axis
	for _, l := range m.rng.Perm(len(in.Loops))[:m.rng.IntN(min(2, len(in.Loops))+1)] {
		axis, to := in.Loops[l], ir.L(l)
		if m.rng.IntN(6) == 0 {
			axis, to = m.axes[0], m.gather(in, l)
		}
		axes, in.To = append(axes, axis), append(in.To, to)
		if m.rng.IntN(8) == 0 && len(axes) < 2 {
			axes, in.To = append(axes, axis), append(in.To, to)
		}
	}
	return m.add(in, axes)
}

// gather is a subscript into axis a that comes from loop l.
func (m *maker) gather(in *ir.Instr, l int) ir.Sub {
	for _, id := range m.ids {
		if id.Axes[0] == in.Loops[l] {
			return ir.Sub{Indirect: &ir.Arg{Val: id, Sub: []ir.Sub{ir.L(l)}}}
		}
	}
	panic("irtest: BUG: no indices for " + in.Loops[l].Name)
}

// read reads v over the loops of in: at a loop of its axis, reversed, shifted
// under a guard, at entry 0, or through indices.
func (m *maker) read(v *ir.Value, in *ir.Instr) ir.Arg {
	arg := ir.Arg{Val: v}
	for _, axis := range v.Axes {
		var fit []int
		for l, a := range in.Loops {
			if a == axis {
				fit = append(fit, l)
			}
		}
		arg.Sub = append(arg.Sub, m.sub(axis, fit, in))
	}
	return arg
}

func (m *maker) sub(axis *ir.Axis, fit []int, in *ir.Instr) ir.Sub {
	if axis == m.axes[0] && len(in.Loops) > 0 && m.rng.IntN(8) == 0 && in.Op != ir.Softmax {
		return m.gather(in, m.rng.IntN(len(in.Loops)))
	}
	if len(fit) == 0 {
		return ir.Sub{}
	}
	l := fit[m.rng.IntN(len(fit))]
	switch m.rng.IntN(10) {
	case 0:
		return ir.Sub{Terms: []ir.Term{{Loop: l, Coef: -1}}, Const: axis.Size.Sub(shape.Int(1))}
	case 1:
		if k := fit[m.rng.IntN(len(fit))]; k != l {
			s := ir.Sub{Terms: []ir.Term{{Loop: l, Coef: 1}, {Loop: k, Coef: -1}}}
			in.Guard = append(in.Guard, s)
			return s
		}
	}
	return ir.L(l)
}

func (m *maker) norm() *ir.Value {
	op := []ir.Op{ir.Softmax, ir.LogSumExp}[m.rng.IntN(2)]
	loops := m.loops(1 + m.rng.IntN(2))
	in := &ir.Instr{Op: op, Loops: loops}
	arg := m.read(m.pick(), in)
	if op == ir.LogSumExp {
		in.Guard = nil // nothing left is −∞
		for i, s := range arg.Sub {
			if len(s.Terms) > 1 {
				arg.Sub[i] = ir.L(s.Terms[0].Loop)
			}
		}
	}
	return m.b.Norm(op, loops, []int{m.rng.IntN(len(loops))}, in.Guard, arg)
}

// solve finds z with Σ tanh(z/2 + q) + z/2 = p at each of some points, q running
// over an axis of its own.
func (m *maker) solve() *ir.Value {
	points, own := m.loops(m.rng.IntN(3)), m.axes[m.rng.IntN(2)]
	r := &ir.Func{Name: "z", Axes: m.axes}
	z, q, p := r.AddParam("z", ir.Input, ir.Real), r.AddParam("q", ir.Input, ir.Real, own), r.AddParam("p", ir.Input, ir.Real)
	b := &ir.Builder{F: r}
	t := b.Map(ir.Tanh, b.Lin([]*ir.Axis{own}, 0, []float64{0.5, 1}, ir.All(z), ir.All(q)))
	sum := b.Prod([]*ir.Axis{own}, nil, nil, 1, ir.All(t))
	r.Results = []ir.Result{{Name: "residual", Val: b.Lin(nil, 0, []float64{1, 0.5, -1}, ir.All(sum), ir.All(z), ir.All(p))}}
	in := &ir.Instr{Op: ir.SolveOp, Loops: append(points[:len(points):len(points)], own), Over: []int{len(points)}, To: ir.Ls(len(points)),
		Solve: &ir.Solve{Residual: r, Tol: 1e-10}, Args: []ir.Arg{ir.At(m.b.Const(-999)), ir.At(m.b.Const(1001))}}
	plain := func(loops []*ir.Axis) ir.Arg {
		a := m.read(m.pick(), &ir.Instr{Op: ir.Softmax, Loops: loops})
		for i, s := range a.Sub {
			if len(s.Terms) > 1 {
				a.Sub[i] = ir.L(s.Terms[0].Loop)
			}
		}
		return a
	}
	in.Args = append(in.Args, plain(in.Loops), plain(points))
	return m.add(in, points)
}

// odd makes one of the rarer instructions.
func (m *maker) odd() *ir.Value {
	x, y := m.f.Params[1], m.f.Params[2]
	switch m.rng.IntN(7) {
	case 0:
		cond := m.b.Elementwise(ir.Less, m.axes[:1], ir.All(x), ir.At(y, ir.Sub{}))
		return m.b.Elementwise(ir.Select, m.axes[:1], ir.All(cond), m.read(m.pick(), &ir.Instr{Op: ir.Softmax, Loops: m.axes[:1]}), ir.All(x))
	case 1:
		return m.b.Const(0.5, m.axes[m.rng.IntN(2)])
	case 2:
		return m.b.Const(0, m.axes...)
	case 3:
		return m.b.Elementwise(ir.Div, m.axes[:1], ir.All(x), ir.At(m.b.Const(4)))
	case 4:
		both := m.f.NewSizedAxis(m.f.Fresh("both"), shape.Sym("a").Add(shape.Sym("b")))
		v := m.b.Stack([]*ir.Axis{both}, 0, x, y)
		return m.b.Prod([]*ir.Axis{both}, nil, nil, 1, ir.All(v), ir.All(v))
	case 5:
		return m.triangle()
	}
	return m.b.Elementwise(ir.Pow, m.axes[:1], ir.All(x), ir.At(m.b.Const(2)))
}

// triangle solves a system of axis a for the columns of b, from either end.
func (m *maker) triangle() *ir.Value {
	a, b := m.axes[0], m.axes[1]
	x := m.f.Params[1]
	square := m.b.Prod([]*ir.Axis{a, a}, []*ir.Axis{a, a}, ir.Ls(2), 0.25, ir.At(x, ir.L(0)), ir.At(x, ir.L(1)))
	loops := []*ir.Axis{a, b, a}
	in := &ir.Instr{Op: ir.TriSolve, Loops: loops, Over: []int{0, 2}, To: ir.Ls(2), Args: []ir.Arg{ir.At(square, ir.L(0), ir.L(2)), {}}}
	if m.rng.IntN(2) == 0 {
		in.Args[0].Sub = []ir.Sub{ir.FromEnd(a, 2), ir.FromEnd(a, 0)}
		in.To[0] = ir.FromEnd(a, 0)
	}
	in.Args[1] = m.read(m.pick(), &ir.Instr{Op: ir.Softmax, Loops: loops[:2]})
	for i, s := range in.Args[1].Sub {
		if len(s.Terms) > 1 {
			in.Args[1].Sub[i] = ir.L(s.Terms[0].Loop)
		}
	}
	return m.add(in, loops[:2])
}

// recent sums over the moments of a window that the context has: each moment
// first copies the state for itself.
func (m *maker) recent(b *ir.Builder, w, carry, before *ir.Value) *ir.Value {
	since := func(loop int) []ir.Sub {
		return []ir.Sub{{Terms: []ir.Term{{Loop: loop, Coef: -1}}, Indirect: &ir.Arg{Val: before}}}
	}
	own := b.Prod([]*ir.Axis{m.window, m.axes[0], m.axes[1]}, []*ir.Axis{m.window, m.axes[0], m.axes[1]}, ir.Ls(3), 1, ir.At(carry, ir.L(1), ir.L(2)))
	own.Def.Guard = since(0)
	mix := b.Prod([]*ir.Axis{m.axes[0], m.axes[1], m.window}, m.axes, ir.Ls(2), 0.5, ir.At(w, ir.L(2), ir.L(0)), ir.At(own, ir.L(2), ir.L(0), ir.L(1)))
	mix.Def.Guard = since(2)
	return mix
}

// scan adds a recurrence with a random body.
func (m *maker) scan(series []*ir.Value, past, state *ir.Value) {
	body := &ir.Func{Name: "step"}
	in := &maker{rng: m.rng, f: body, b: &ir.Builder{F: body}, axes: m.axes}
	s := &ir.Scan{Batch: m.batch, Time: m.time, Body: body}
	carry := body.AddParam("M", ir.Carry, ir.Real, m.axes...)
	for _, x := range series {
		p := body.AddParam(x.Name, ir.Token, ir.Real, x.Axes[2:]...)
		s.Tokens = append(s.Tokens, ir.ScanInput{Param: p, Val: x})
		in.vals = append(in.vals, p)
	}
	w := body.AddParam("recent", ir.Token, ir.Real, m.window, m.axes[0])
	s.Tokens = append(s.Tokens, ir.ScanInput{Param: w, Val: past, Window: m.window, Base: shape.Sym("w").Sub(shape.Int(1))})
	before := body.AddParam("before", ir.Token, ir.Int)
	s.Tokens = append(s.Tokens, ir.ScanInput{Param: before, Val: m.f.AddParam(ir.Position, ir.State, ir.Int, m.batch), Count: true})
	for _, id := range m.ids {
		p := body.AddParam(id.Name, ir.Shared, ir.Int, id.Axes...)
		s.Shared = append(s.Shared, ir.SharedArg{Param: p, Val: id})
		in.ids = append(in.ids, p)
	}
	shared := m.pick()
	p := body.AddParam("shared", ir.Shared, ir.Real, shared.Axes...)
	s.Shared = append(s.Shared, ir.SharedArg{Param: p, Val: shared})
	own := body.AddParam("own", ir.Shared, ir.Real, m.axes...)
	s.Shared = append(s.Shared, ir.SharedArg{Param: own, Val: state, PerBatch: true})
	in.vals = append(in.vals, carry, p, w, own)
	in.some(2 + m.rng.IntN(4))
	mix := m.recent(in.b, w, carry, before)
	last := in.read(in.vals[len(in.vals)-1], &ir.Instr{Op: ir.Softmax, Loops: m.axes})
	for i, x := range last.Sub {
		if len(x.Terms) > 1 {
			last.Sub[i] = ir.L(x.Terms[0].Loop)
		}
	}
	next := in.b.Lin(m.axes, 0, []float64{0.5, 0.25, 0.25}, ir.All(carry), ir.All(mix), last)
	final := &ir.Value{Name: m.f.Fresh("M.next"), Elem: ir.Real, Axes: state.Axes}
	s.Carry = []ir.ScanState{{Param: carry, Next: next, Init: state, Final: final}}
	gives := in.vals[len(in.vals)-1]
	out := &ir.Value{Name: m.f.Fresh("out"), Elem: ir.Real, Axes: append([]*ir.Axis{m.batch, m.time}, gives.Axes...)}
	s.Outs = []ir.ScanOutput{{Val: gives, Out: out}}
	instr := &ir.Instr{Op: ir.ScanOp, Scan: s}
	final.Def, out.Def = instr, instr
	m.f.Body = append(m.f.Body, instr)
	m.f.Results = append(m.f.Results, ir.Result{Name: "out", Val: out}, ir.Result{Name: "M", Val: final, State: true})
	// What the program goes on with: sums over the batch and tokens.
	flat := m.b.Prod(final.Axes, m.axes, []ir.Sub{ir.L(1), ir.L(2)}, 0.5, ir.All(final))
	m.vals = append(m.vals, flat)
}
