package irtest

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Primitive returns a program over the sizes a and b of Sizes that is one
// instruction of a primitive, with the constants that it needs. Every primitive
// has one but the scan, which random programs have; for that it returns nil. So a
// table over primitives is tested for holes by a walk over ir.Ops.
func Primitive(op ir.Op) *ir.Func {
	if op == ir.ScanOp {
		return nil
	}
	f := &ir.Func{Name: "primitive." + op.String()}
	b := &ir.Builder{F: f}
	a, c := f.NewAxis("a"), f.NewAxis("b")
	axes := []*ir.Axis{a, c}
	input := func(name string, axes ...*ir.Axis) *ir.Value { return f.AddParam(name, ir.Input, ir.Real, axes...) }
	truth := func(name string) *ir.Value { return f.AddParam(name, ir.Constant, ir.Bool, axes...) }
	var out *ir.Value
	switch op {
	case ir.Const:
		out = b.Const(1.5, axes...)
	case ir.SizeOf:
		out = b.Add(&ir.Instr{Op: op, Poly: a.Size, Out: &ir.Value{Name: f.Fresh("%"), Elem: ir.Real}})
	case ir.Iota:
		out = b.Elementwise(op, axes)
		out.Def.Over = []int{1}
	case ir.Prod:
		out = b.Prod(axes, axes[:1], ir.Ls(1), 1.5, ir.All(input("x", axes...)), ir.All(input("y", axes...)))
	case ir.Lin:
		out = b.Lin(axes, 0.5, []float64{2, -3}, ir.All(input("x", axes...)), ir.All(input("y", axes...)))
	case ir.Reshape:
		out = b.Reshape(input("x", axes...), c, a)
	case ir.Narrow:
		out = b.Narrow(input("x", axes...))
	case ir.Stack:
		long := f.NewSizedAxis("2a", shape.Sym("a").Mul(shape.Int(2)))
		out = b.Stack([]*ir.Axis{long, c}, 0, input("x", axes...), input("y", axes...))
	case ir.Max, ir.Softmax, ir.LogSumExp:
		out = b.Norm(op, axes, []int{1}, nil, ir.All(input("x", axes...)))
	case ir.TriSolve:
		out = triangularSystem(b, a, input("x", axes...))
	case ir.SolveOp:
		out = root(b, a, c, input("x", axes...))
	case ir.Select:
		x := input("x", axes...)
		out = b.Map(op, truth("c"), x, input("y", axes...))
	case ir.Not, ir.ToReal:
		out = b.Map(op, truth("x"))
	case ir.And, ir.Or:
		out = b.Map(op, truth("x"), truth("y"))
	default:
		args := []*ir.Value{input("x", axes...)}
		for len(args) < op.Info().Args {
			args = append(args, input("y", axes...))
		}
		out = b.Map(op, args...)
	}
	f.Results = []ir.Result{{Name: "out", Val: out}}
	return f
}

// triangularSystem solves a system of the first axis for each column.
func triangularSystem(b *ir.Builder, a *ir.Axis, x *ir.Value) *ir.Value {
	y := b.F.AddParam("y", ir.Input, ir.Real, a, a)
	return b.Add(&ir.Instr{Op: ir.TriSolve, Loops: []*ir.Axis{a, x.Axes[1], a}, Over: []int{0, 2}, To: ir.Ls(2),
		Args: []ir.Arg{ir.At(y, ir.L(0), ir.L(2)), ir.All(x)}, Out: &ir.Value{Name: b.F.Fresh("%"), Elem: ir.Real, Axes: x.Axes}})
}

// root finds the root ζ of Σ tanh(ζ + x) + ½ ζ = y for each row.
func root(b *ir.Builder, a, c *ir.Axis, x *ir.Value) *ir.Value {
	r := &ir.Func{Name: "residual", Axes: []*ir.Axis{c}}
	z, p, q := r.AddParam("z", ir.Input, ir.Real), r.AddParam("x", ir.Input, ir.Real, c), r.AddParam("y", ir.Input, ir.Real)
	rb := &ir.Builder{F: r}
	sum := rb.Prod([]*ir.Axis{c}, nil, nil, 1, ir.All(rb.Map(ir.Tanh, rb.Lin([]*ir.Axis{c}, 0, []float64{1, 1}, ir.All(z), ir.All(p)))))
	r.Results = []ir.Result{{Name: "residual", Val: rb.Lin(nil, 0, []float64{1, 0.5, -1}, ir.All(sum), ir.All(z), ir.All(q))}}
	y := b.F.AddParam("y", ir.Input, ir.Real, a)
	return b.Add(&ir.Instr{Op: ir.SolveOp, Loops: []*ir.Axis{a, c}, Over: []int{1}, To: ir.Ls(1), Solve: &ir.Solve{Residual: r, Tol: 1e-10},
		Args: []ir.Arg{{Val: b.Const(-99)}, {Val: b.Const(99)}, ir.All(x), ir.All(y)}, Out: &ir.Value{Name: b.F.Fresh("%"), Elem: ir.Real, Axes: []*ir.Axis{a}}})
}
