package numeric

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
)

// Tolerances. Every comparison is written so that a NaN fails.
// tinyScale is the size below which the sides of a comparison are compared absolutely.
const tinyScale = 1e-3

// A Deviation is the largest error of a comparison and where it is.
type Deviation struct {
	Err   float64 // in units of the scale
	Index []int
	A, B  float64
	found bool
}

// Compare is the largest |a − b| over scale, which is the norm of both.
func Compare(a, b *interp.Tensor) Deviation {
	scale := math.Max(MaxNorm(a), MaxNorm(b))
	return CompareScaled(a, b, math.Max(scale, tinyScale))
}

func CompareScaled(a, b *interp.Tensor, scale float64) Deviation {
	var w Deviation
	for i := range a.Data {
		err := math.Abs(a.Data[i]-b.Data[i]) / scale
		if a.Data[i] == b.Data[i] { // equal infinities too
			err = 0
		}
		if !(err <= w.Err) || !w.found {
			w = Deviation{err, Unravel(a.Shape, i), a.Data[i], b.Data[i], true}
		}
		if err != err {
			break
		}
	}
	return w
}

// compareWide is compare for double-double numbers, by a scale of at least so much.
func CompareDoubleDouble(a, b *interp.DoubleDoubleTensor, scale float64) Deviation {
	for _, x := range slices.Concat(a.Data, b.Data) {
		scale = math.Max(scale, math.Abs(x.Hi))
	}
	var w Deviation
	for i, x := range a.Data {
		y := b.Data[i]
		err := math.Abs(x.Sub(y).Hi) / scale
		if x == y {
			err = 0
		}
		if !(err <= w.Err) || !w.found {
			w = Deviation{err, Unravel(a.Shape, i), x.Hi, y.Hi, true}
		}
		if err != err {
			break
		}
	}
	return w
}

func MaxNorm(t *interp.Tensor) float64 {
	n := 0.0
	for _, x := range t.Data {
		if a := math.Abs(x); !(a <= n) {
			n = a
		}
	}
	return n
}
