package gradient

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A rule's tests see only the primitives that it uses, so every primitive with
// a derivative has a little program of its own, and its row of the table is
// held to differences of that.

// primitiveSizes are the sizes of these programs.
var primitiveSizes = map[string]int{"a": 3, "b": 2}

// HasDerivative reports whether a primitive passes an adjoint to some argument.
func HasDerivative(op ir.Op) bool {
	switch op {
	case ir.Const, ir.SizeOf, ir.Iota, ir.Stop, ir.Sign, ir.Floor, ir.Less, ir.LessEq, ir.Equal, ir.And, ir.Or, ir.Not, ir.ToReal, ir.ScanOp:
		return false
	}
	return true
}

// Primitive holds the local derivative of a primitive to differences and says
// what is wrong with it, or "". Primitives without a derivative pass.
func Primitive(op ir.Op) string {
	f := primitive(op)
	if f == nil {
		return ""
	}
	pair := autodiff.NewPair(f)
	for round := range 3 {
		draw := sample.New(nil, nil, primitiveSizes, sample.ForPrimitive, 8*int(op)+round)
		params := draw.Params(f)
		positive(op, params)
		d := newFiniteDifference(f, primitiveSizes, params)
		d.weights = numeric.Tensors{}
		_, grads := numeric.ForwardBackward(f, pair, primitiveSizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
			d.weights[r.Name] = draw.Weights(out)
			return d.weights[r.Name]
		})
		for _, v := range f.Params {
			g := numeric.GradientOf(grads, params, v.Name)
			for i := range g.Data {
				if v.Elem != ir.Real {
					continue
				}
				if e := d.check(params[v.Name], i, g.Data[i], numeric.MaxNorm(g)); e.bad() {
					return fmt.Sprintf("%v: the adjoint of argument %s%s is %.9g, differences give %.9g", op, v.Name, numeric.AtIndex(numeric.Unravel(g.Shape, i)), g.Data[i], e.value)
				}
			}
		}
	}
	return ""
}

// positive moves arguments into the domain of a primitive.
func positive(op ir.Op, params numeric.Tensors) {
	if !slices.Contains([]ir.Op{ir.Log, ir.Sqrt, ir.Pow, ir.Log1p, ir.Div, ir.Mod}, op) {
		return
	}
	for _, t := range params {
		for i, x := range t.Data {
			t.Data[i] = 0.7 + x*x
		}
	}
}

// primitive is a program that is one instruction.
func primitive(op ir.Op) *ir.Func {
	if !HasDerivative(op) {
		return nil
	}
	f := &ir.Func{Name: "primitive." + op.String()}
	b := &ir.Builder{F: f}
	a, c := f.NewAxis("a"), f.NewAxis("b")
	axes := []*ir.Axis{a, c}
	x := f.AddParam("x", ir.Input, ir.Real, axes...)
	var out *ir.Value
	switch op {
	case ir.Prod:
		y := f.AddParam("y", ir.Input, ir.Real, axes...)
		out = b.Prod(axes, axes[:1], ir.Ls(1), 1.5, ir.All(x), ir.All(y))
	case ir.Lin:
		y := f.AddParam("y", ir.Input, ir.Real, axes...)
		out = b.Lin(axes, 0.5, []float64{2, -3}, ir.All(x), ir.All(y))
	case ir.Reshape:
		out = b.Reshape(x, c, a)
	case ir.Stack:
		y := f.AddParam("y", ir.Input, ir.Real, axes...)
		long := f.NewSizedAxis("2a", shape.Sym("a").Mul(shape.Int(2)))
		out = b.Stack([]*ir.Axis{long, c}, 0, x, y)
	case ir.Max, ir.Softmax, ir.LogSumExp:
		out = b.Norm(op, axes, []int{1}, nil, ir.All(x))
	case ir.TriSolve:
		out = trianglePrimitive(b, a, x)
	case ir.SolveOp:
		out = solvePrimitive(b, a, c, x)
	case ir.Select:
		cond := f.AddParam("c", ir.Constant, ir.Bool, axes...)
		y := f.AddParam("y", ir.Input, ir.Real, axes...)
		out = b.Map(op, cond, x, y)
	default:
		args := []*ir.Value{x}
		for len(args) < op.Info().Args {
			args = append(args, f.AddParam("y", ir.Input, ir.Real, axes...))
		}
		out = b.Map(op, args...)
	}
	f.Results = []ir.Result{{Name: "out", Val: out}}
	return f
}

// trianglePrimitive solves a system of the first axis for each column.
func trianglePrimitive(b *ir.Builder, a *ir.Axis, x *ir.Value) *ir.Value {
	y := b.F.AddParam("y", ir.Input, ir.Real, a, a)
	return b.Add(&ir.Instr{Op: ir.TriSolve, Loops: []*ir.Axis{a, x.Axes[1], a}, Over: []int{0, 2}, To: ir.Ls(2),
		Args: []ir.Arg{ir.At(y, ir.L(0), ir.L(2)), ir.All(x)}, Out: &ir.Value{Name: b.F.Fresh("%"), Elem: ir.Real, Axes: x.Axes}})
}

// solvePrimitive solves Σ tanh(ζ + x) + ½ ζ = y for each row.
func solvePrimitive(b *ir.Builder, a, c *ir.Axis, x *ir.Value) *ir.Value {
	r := &ir.Func{Name: "residual", Axes: []*ir.Axis{c}}
	z, p, q := r.AddParam("z", ir.Input, ir.Real), r.AddParam("x", ir.Input, ir.Real, c), r.AddParam("y", ir.Input, ir.Real)
	rb := &ir.Builder{F: r}
	sum := rb.Prod([]*ir.Axis{c}, nil, nil, 1, ir.All(rb.Map(ir.Tanh, rb.Lin([]*ir.Axis{c}, 0, []float64{1, 1}, ir.All(z), ir.All(p)))))
	r.Results = []ir.Result{{Name: "residual", Val: rb.Lin(nil, 0, []float64{1, 0.5, -1}, ir.All(sum), ir.All(z), ir.All(q))}}
	y := b.F.AddParam("y", ir.Input, ir.Real, a)
	in := &ir.Instr{Op: ir.SolveOp, Loops: []*ir.Axis{a, c}, Over: []int{1}, To: ir.Ls(1), Solve: &ir.Solve{Residual: r, Tol: 1e-10},
		Args: []ir.Arg{{Val: b.Const(-99)}, {Val: b.Const(99)}, ir.All(x), ir.All(y)}, Out: &ir.Value{Name: b.F.Fresh("%"), Elem: ir.Real, Axes: []*ir.Axis{a}}}
	return b.Add(in)
}
