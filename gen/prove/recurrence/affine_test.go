package recurrence

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestEveryPrimitiveHasALinearity fails on a hole of the table, and holds the rows that
// claim linearity to the interpreter: at the midpoint of two points an affine function
// has the mean of its values.
func TestEveryPrimitiveHasALinearity(t *testing.T) {
	for _, op := range ir.Ops() {
		switch l := linearityOf(op); l {
		case 0:
			t.Errorf("%v has no linearity", op)
		case nonlinear, withoutOperands:
		default:
			f := irtest.Primitive(op)
			args := f.Body[len(f.Body)-1].Args
			moving := map[string]bool{}
			for i, a := range args {
				fixed := l == linearBesides0 && i == 0 || l == linearBesides1 && i == 1 || l == multilinear && i > 0
				moving[a.Val.Name] = !fixed
			}
			if d := curvature(f, moving); !(d <= 1e-12) {
				t.Errorf("%v is not linear as its row says: off by %g", op, d)
			}
		}
	}
}

// curvature is the largest |f((p+q)/2) − (f(p)+f(q))/2| for points that differ in some
// parameters.
func curvature(f *ir.Func, moving map[string]bool) (worst float64) {
	rng := rand.New(rand.NewPCG(7, 7))
	at := [3]map[string]*interp.Tensor{{}, {}, {}}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, irtest.Sizes)...)
		y, mid := x.Clone(), x.Clone()
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
			if p.Elem == ir.Bool {
				x.Data[i] = float64(rng.IntN(2))
			}
			if y.Data[i] = x.Data[i]; moving[p.Name] {
				y.Data[i] = rng.NormFloat64()
			}
			mid.Data[i] = (x.Data[i] + y.Data[i]) / 2
		}
		at[0][p.Name], at[1][p.Name], at[2][p.Name] = x, y, mid
	}
	var out [3]*interp.Tensor
	for i := range at {
		out[i] = interp.Run(f, irtest.Sizes, at[i])["out"]
	}
	for i, m := range out[2].Data {
		worst = math.Max(worst, math.Abs(m-(out[0].Data[i]+out[1].Data[i])/2))
	}
	return worst
}
