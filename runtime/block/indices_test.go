package block_test

import (
	"errors"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// TestCheckIndices checks the ends of a range, at extra values, and at an int
// that would fall into the range if it were cut to 32 bits.
func TestCheckIndices(t *testing.T) {
	for _, ids := range [][]int32{nil, {0}, {4}, {-1, 2}} {
		if err := block.CheckIndices("ids", ids, 0, 4, -1); err != nil {
			t.Errorf("%v: %v", ids, err)
		}
	}
	for _, id := range []int{-2, 5, 1 << 32, -1 << 32} {
		var want *block.RangeError
		if err := block.CheckIndices("offset", []int{id}, 0, 4, -1); !errors.As(err, &want) || want.Got != id {
			t.Errorf("%d: %v", id, err)
		}
	}
}
