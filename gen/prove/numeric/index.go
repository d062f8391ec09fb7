package numeric

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/interp"
)

// Unravel turns an index into row-major data into one index per axis.
func Unravel(shape []int, i int) []int {
	out := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// AtIndex prints an index for a message: " at [1 2]", or nothing for a scalar.
func AtIndex(idx []int) string {
	if len(idx) == 0 {
		return ""
	}
	return fmt.Sprint(" at ", idx)
}

// LargerShape returns the shape and the number of entries of the side with more axes. The
// other side is broadcast, or missing.
func LargerShape(left, right *interp.Tensor) (shape []int, n int) {
	if right != nil && len(right.Shape) > len(left.Shape) {
		left = right
	}
	return left.Shape, len(left.Data)
}

// Broadcast is entry i of n of a side whose leading axes may be all that it has.
func Broadcast[N any](side []N, i, n int) N { return side[i*len(side)/n] }
