package numeric

import (
	"math"

	"github.com/nl-hecate/hecate/gen/interp"
)

func AllFinite(all Tensors) bool {
	for _, t := range all {
		if !Finite(t) {
			return false
		}
	}
	return true
}

// Finite reports whether all entries are, in the float32 that kernels compute in.
func Finite(t *interp.Tensor) bool {
	for _, x := range t.Data {
		if !(math.Abs(x) <= math.MaxFloat32) {
			return false
		}
	}
	return true
}
