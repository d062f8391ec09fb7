package gradient

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// The tests of a rule see only the primitives that the rule uses, so each row of the table
// of adjoints is tested on a program that is the primitive alone.

// HasDerivative reports whether a primitive passes an adjoint to some argument.
func HasDerivative(op ir.Op) bool {
	switch op {
	case ir.Const, ir.SizeOf, ir.Iota, ir.Stop, ir.Sign, ir.Floor, ir.Less, ir.LessEq, ir.Equal, ir.And, ir.Or, ir.Not, ir.ToReal, ir.ScanOp:
		return false
	}
	return true
}

// Primitive compares the local derivatives of a primitive with finite differences and
// returns what is wrong, or "". Primitives without a derivative pass.
func Primitive(op ir.Op) string {
	f := irtest.Primitive(op)
	if f == nil || !HasDerivative(op) {
		return ""
	}
	pair := autodiff.NewPair(f)
	for round := range 3 {
		draw := sample.New(nil, nil, irtest.Sizes, sample.ForPrimitive, 8*int(op)+round)
		params := draw.Params(f)
		positive(op, params)
		d := newFiniteDifference(f, irtest.Sizes, params)
		d.weights = numeric.Tensors{}
		_, grads := numeric.ForwardBackward(f, pair, irtest.Sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
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

// positive moves the arguments of a primitive into its domain.
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
