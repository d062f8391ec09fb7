package interp

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestEveryPrimitive fails on a primitive that an evaluator does not have. Each but the
// scan is run by itself: in float64, where it agrees bit for bit with the plain
// evaluator, in float32, and in double-double arithmetic where that supports it.
func TestEveryPrimitive(t *testing.T) {
	for _, op := range ir.Ops() {
		f := irtest.Primitive(op)
		if f == nil {
			continue
		}
		t.Run(op.String(), func(t *testing.T) {
			params := inputs(f, irtest.Sizes, rand.New(rand.NewPCG(uint64(op), 1)))
			for _, x := range params {
				for i, v := range x.Data {
					x.Data[i] = math.Abs(v) // in the domain of log, sqrt and pow
				}
			}
			want := plainRun(f, irtest.Sizes, params)["out"]
			agree(t, "float64", Run(f, irtest.Sizes, params)["out"].Data, want.Data, 0)
			single := Compile(f)
			single.Float32 = true
			agree(t, "float32", single.Run(irtest.Sizes, params)["out"].Data, want.Data, 1e-5)
			double, ok := RunDoubleDouble(f, irtest.Sizes, params)
			if ok == withoutDoubleDouble[op] {
				t.Fatalf("double-double arithmetic: %v", ok)
			}
			if ok {
				high := make([]float64, len(want.Data))
				for i, x := range double["out"].Data {
					high[i] = x.Hi
				}
				agree(t, "double-double", high, want.Data, 1e-14)
			}
		})
	}
}

func agree(t *testing.T, arithmetic string, got, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol*math.Max(1, math.Abs(w))) && got[i] != w {
			t.Errorf("%s: entry %d is %g, want %g", arithmetic, i, got[i], w)
		}
	}
}

// TestComparisonsAreTotal: a scalar primitive with a kink compares numbers, or has a
// reason not to be observed.
func TestComparisonsAreTotal(t *testing.T) {
	unobserved := map[ir.Op]string{
		ir.Floor: "jumps at every integer", ir.Mod: "jumps at every multiple",
		ir.And: "of truth values", ir.Or: "of truth values", ir.Not: "of truth values", ir.ToReal: "of integers and truth values",
	}
	for _, op := range ir.Ops() {
		if info := op.Info(); info.Elementwise && !info.Smooth && isComparison(op) == (unobserved[op] != "") {
			t.Errorf("%v: observed %v, and the reason against it is %q", op, isComparison(op), unobserved[op])
		}
	}
}
