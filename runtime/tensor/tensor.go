// Package tensor holds shapes and dense views of floats.
//
// A Tensor is a slice of elements and a shape; the last axis is contiguous. It
// is a view: it owns nothing and copies nothing. Generated code works on
// slices and sizes known from the page; a Tensor is for the edges, where a
// shape comes from a file or a configuration and has to be checked.
package tensor

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// Panic messages for misuse by the caller.
const (
	BadIndex = "tensor: index out of range"
	BadAxes  = "tensor: wrong number of indices"
)

// ErrShape is wrapped by every error about a shape.
var ErrShape = errors.New("shape does not fit")

// A Shape is the length of every axis; the empty Shape is a scalar.
type Shape []int

// String prints a shape as [3 4]; a scalar is [].
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, n := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(n))
	}
	b.WriteByte(']')
	return b.String()
}

// Equal reports whether two shapes have the same axes.
func (s Shape) Equal(t Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i := range s {
		if s[i] != t[i] {
			return false
		}
	}
	return true
}

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

// A Tensor is a dense view, row by row.
type Tensor[F num.Float] struct {
	Data  []F
	Shape Shape
}

// Of returns a view of data under a shape, which it keeps. The name is for the
// message: the error wraps ErrShape if the shape has not len(data) elements.
func Of[F num.Float](name string, data []F, shape Shape) (Tensor[F], error) {
	n, err := shape.Size()
	if err != nil {
		return Tensor[F]{}, fmt.Errorf("%s: %w", name, err)
	}
	if n != len(data) {
		return Tensor[F]{}, fmt.Errorf("tensor: %s has %d elements, its shape %v has %d: %w", name, len(data), shape, n, ErrShape)
	}
	return Tensor[F]{Data: data, Shape: shape}, nil
}

// Zeros returns a new tensor of zeros, or an error that wraps ErrShape.
func Zeros[F num.Float](name string, shape Shape) (Tensor[F], error) {
	n, err := shape.Size()
	if err != nil {
		return Tensor[F]{}, fmt.Errorf("%s: %w", name, err)
	}
	return Tensor[F]{Data: make([]F, n), Shape: shape}, nil
}

// Expect returns an error that names the tensor and both shapes, and wraps
// ErrShape, unless the shape is want.
func (t Tensor[F]) Expect(name string, want Shape) error {
	if t.Shape.Equal(want) {
		return nil
	}
	return fmt.Errorf("tensor: %s has shape %v, want %v: %w", name, t.Shape, want, ErrShape)
}

// Row returns the view of element i of the first axis. It panics with BadAxes
// on a scalar and with BadIndex outside the axis.
func (t Tensor[F]) Row(i int) Tensor[F] {
	if len(t.Shape) == 0 {
		panic(BadAxes)
	}
	if i < 0 || i >= t.Shape[0] {
		panic(BadIndex)
	}
	n := len(t.Data) / t.Shape[0]
	return Tensor[F]{Data: t.Data[i*n : (i+1)*n : (i+1)*n], Shape: t.Shape[1:]}
}

// At returns one element. It panics with BadAxes unless there is one index per
// axis, and with BadIndex outside an axis.
func (t Tensor[F]) At(index ...int) F {
	if len(index) != len(t.Shape) {
		panic(BadAxes)
	}
	at := 0
	for axis, i := range index {
		if i < 0 || i >= t.Shape[axis] {
			panic(BadIndex)
		}
		at = at*t.Shape[axis] + i
	}
	return t.Data[at]
}
