package sample

import (
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// Stress tests look for what random numbers of moderate size do not show: learned
// parameters and tokens from a sixteenth to 256 times the usual size, so that gates
// saturate, alone and together; tokens that are all equal, so that states accumulate, or
// that alternate in sign. Declared sets are kept. A trajectory ends where it overflows.
// Equalities are only compared while numbers are mild enough for float64 to decide.
const (
	StressRounds = 8
	StressTol    = 1e-6 // the rounding error of sums of large numbers
	mildScales   = 2    // the first scales, at which equalities are compared
)

// StressScales are the sizes of learned parameters and tokens.
var StressScales = []float64{1.0 / 16, 1, 16, 256}

// StressScale draws one of the scales.
func StressScale(rng *rand.Rand, mild bool) float64 {
	n := len(StressScales)
	if mild {
		n = mildScales
	}
	return StressScales[rng.IntN(n)]
}

// StressTokens draws the tokens of a chunk: each with a scale of its own, or all equal, or
// equal with alternating signs.
func StressTokens(f *ir.Func, draw *Sampler, params numeric.Tensors, round int, mild bool) {
	for _, v := range f.Params {
		if v.Role != ir.Input || v.Elem != ir.Real {
			continue
		}
		t := draw.Draw(v)
		params[v.Name] = t
		k := TokenAxis(v)
		typ := draw.Frees[v.Name].Type
		if k < 0 || typ != nil && typ.Kind != notation.RealType {
			continue
		}
		stride, scale := 1, make([]float64, t.Shape[k])
		for _, size := range t.Shape[k+1:] {
			stride *= size
		}
		for n := range scale {
			scale[n] = StressScale(draw.Rand, mild)
		}
		for i := range t.Data {
			n := numeric.Unravel(t.Shape, i)[k]
			if n == 0 || round%4 < 2 {
				t.Data[i] *= scale[n]
				continue
			}
			t.Data[i] = t.Data[i-n*stride] // as the first token
			if round%4 == 3 && n%2 == 1 {
				t.Data[i] = -t.Data[i]
			}
		}
	}
}
