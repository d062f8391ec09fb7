// Package numeric evaluates programs and their adjoints at points and compares the
// resulting tensors. Every comparison is written so that a NaN fails.
package numeric

import (
	"math"

	"github.com/nl-hecate/hecate/gen/interp"
)

// tinyScale is the size below which the sides of a comparison are compared absolutely.
const tinyScale = 1e-3

// A Deviation is the largest error of a comparison.
type Deviation struct {
	Err   float64 // relative to the scale
	Index []int   // of the entry
	A, B  float64 // the two values
	found bool
}

// Compare returns the largest |a − b| relative to the larger maximum norm of both.
func Compare(a, b *interp.Tensor) Deviation {
	return CompareScaled(a, b, math.Max(math.Max(MaxNorm(a), MaxNorm(b)), tinyScale))
}

// CompareScaled returns the largest |a − b| relative to a scale.
func CompareScaled(a, b *interp.Tensor, scale float64) Deviation {
	var w Deviation
	for i := range a.Data {
		err := math.Abs(a.Data[i]-b.Data[i]) / scale
		if a.Data[i] == b.Data[i] { // equal infinities too
			err = 0
		}
		if w.update(err, a.Shape, i, a.Data[i], b.Data[i]) {
			break
		}
	}
	return w
}

// CompareDoubleDouble is Compare for double-double numbers, relative to a scale of at
// least the given one.
func CompareDoubleDouble(a, b *interp.DoubleDoubleTensor, scale float64) Deviation {
	for i, x := range a.Data {
		scale = math.Max(scale, math.Max(math.Abs(x.Hi), math.Abs(b.Data[i].Hi)))
	}
	var w Deviation
	for i, x := range a.Data {
		y := b.Data[i]
		err := math.Abs(x.Sub(y).Hi) / scale
		if x == y {
			err = 0
		}
		if w.update(err, a.Shape, i, x.Hi, y.Hi) {
			break
		}
	}
	return w
}

// update takes the error of entry i into account and reports whether it is NaN.
func (w *Deviation) update(err float64, shape []int, i int, a, b float64) (isNaN bool) {
	if !(err <= w.Err) || !w.found {
		*w = Deviation{err, Unravel(shape, i), a, b, true}
	}
	return math.IsNaN(err)
}

// MaxNorm is the maximum norm, NaN where an entry is.
func MaxNorm(t *interp.Tensor) float64 {
	n := 0.0
	for _, x := range t.Data {
		if a := math.Abs(x); !(a <= n) {
			n = a
		}
	}
	return n
}

// Finite reports whether all entries are finite in float32, in which kernels compute.
func Finite(t *interp.Tensor) bool {
	for _, x := range t.Data {
		if !(math.Abs(x) <= math.MaxFloat32) {
			return false
		}
	}
	return true
}

// AllFinite reports whether all tensors are Finite.
func AllFinite(all Tensors) bool {
	for _, t := range all {
		if !Finite(t) {
			return false
		}
	}
	return true
}
