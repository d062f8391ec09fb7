package sample

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// TestPolesAreTotal: a primitive that is infinite at moderate arguments has a pole, which is an
// error of the page and not an overflow.
func TestPolesAreTotal(t *testing.T) {
	overflows := ir.Pow // a power of zero is reported as an overflow
	moderate := []float64{-2, -1, -0.5, 0, 0.5, 1, 2}
	for _, op := range ir.Ops() {
		pole := false
		for _, x := range moderate {
			for _, y := range moderate {
				v := 0.0
				switch {
				case op.Unary() != nil:
					v = op.Unary()(x)
				case op.Binary() != nil:
					v = op.Binary()(x, y)
				}
				pole = pole || math.IsInf(v, 0)
			}
		}
		infinite := interp.NewTensor()
		infinite.Data[0] = math.Inf(1)
		if known := isUndefined(op, infinite); known != pole && op != overflows {
			t.Errorf("%v has a pole: %v, but isUndefined says %v", op, pole, known)
		}
	}
}
