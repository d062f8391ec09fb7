package numeric

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/interp"
)

func Stride(shape []int, axis int) int {
	n := 1
	for _, s := range shape[axis+1:] {
		n *= s
	}
	return n
}

// LargerShape are the shape and the number of entries of the side that is an array: the
// other one may be a number, or missing.
func LargerShape(left, right *interp.Tensor) (shape []int, n int) {
	if right != nil && len(right.Shape) > len(left.Shape) {
		left = right
	}
	return left.Shape, len(left.Data)
}

// Broadcast is entry i of n of a side: a number at each token stands for all entries there.
func Broadcast[N any](side []N, i, n int) N { return side[i*len(side)/n] }

// Unravel turns a flat index into one per axis.
func Unravel(shape []int, i int) []int {
	out := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// at prints an index for a message.
func AtIndex(idx []int) string {
	if len(idx) == 0 {
		return ""
	}
	return fmt.Sprint(" at ", idx)
}
