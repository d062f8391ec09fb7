// Package tensor holds the shapes of tensors, with a check of their sizes, and
// memory that is aligned to cache lines. Generated code works on slices whose
// sizes the page fixes; a Shape is for data from a file or a configuration.
package tensor

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrShape is wrapped by every error about a shape.
var ErrShape = errors.New("shape does not fit")

// A Shape is the length of every axis; the empty Shape is a scalar.
type Shape []int

// String prints a shape as [3 4]; a scalar is [].
func (s Shape) String() string { return fmt.Sprint([]int(s)) }

// Equal reports whether two shapes have the same axes.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Size returns the number of elements, or an error that wraps ErrShape if an
// axis is negative or the product does not fit an int.
func (s Shape) Size() (int, error) {
	n := 1
	for _, d := range s {
		if d < 0 {
			return 0, fmt.Errorf("tensor: %v has a negative axis: %w", s, ErrShape)
		}
		if d > 0 && n > math.MaxInt/d {
			return 0, fmt.Errorf("tensor: %v has too many elements: %w", s, ErrShape)
		}
		n *= d
	}
	return n, nil
}
