package tensor

import (
	"errors"
	"math"
	"testing"
)

func TestSize(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		want  int
		ok    bool
	}{
		{nil, 1, true}, {Shape{0}, 0, true}, {Shape{3, 4}, 12, true}, {Shape{-1}, 0, false},
		{Shape{math.MaxInt, 2}, 0, false}, {Shape{1 << 40, 1 << 40}, 0, false},
		{Shape{0, math.MaxInt, math.MaxInt}, 0, true},
	} {
		got, err := c.shape.Size()
		if got != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, ErrShape) {
			t.Errorf("%v.Size() = %d, %v, want %d, ok %v", c.shape, got, err, c.want, c.ok)
		}
	}
}
