// Package interptest runs programs on random numbers and compares results, for
// tests of passes that keep values.
package interptest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// sameTol is the agreement of two orders of the same sums in float64.
const sameTol = 1e-11

// Inputs are random parameters of a program; indices run from −1, which reads as zero.
func Inputs(f *ir.Func, sizes map[string]int, seed uint64) map[string]*interp.Tensor {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = 0.7 * rng.NormFloat64()
			if p.Elem != ir.Real {
				x.Data[i] = float64(rng.IntN(3) - 1)
			}
		}
		out[p.Name] = x
	}
	return out
}

// Compare fails where results differ by more than rounding.
func Compare(t *testing.T, what string, want, got map[string]*interp.Tensor) {
	t.Helper()
	for n, w := range want {
		g := got[n]
		if g == nil {
			t.Fatalf("%s: result %s is missing", what, n)
		}
		for i, x := range w.Data {
			if !(math.Abs(x-g.Data[i]) <= sameTol*(1+math.Abs(x))) {
				t.Fatalf("%s: %s[%d] = %g, want %g", what, n, i, g.Data[i], x)
			}
		}
	}
}
