package tensor

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func ExampleOf() {
	x, err := Of("x", []float32{1, 2, 3, 4, 5, 6}, Shape{2, 3})
	fmt.Println(x.Row(1).Data, x.At(0, 2), err)
	_, err = Of("w", []float32{1, 2, 3}, Shape{2, 2})
	fmt.Println(err)
	// Output:
	// [4 5 6] 3 <nil>
	// tensor: w has 3 elements, its shape [2 2] has 4: shape does not fit
}

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

func TestExpect(t *testing.T) {
	x, err := Zeros[float64]("x", Shape{2, 3})
	if err != nil || len(x.Data) != 6 {
		t.Fatal(x, err)
	}
	if err := x.Expect("x", Shape{2, 3}); err != nil {
		t.Error(err)
	}
	for _, s := range []Shape{{3, 2}, {6}, {2, 3, 1}} {
		if err := x.Expect("x", s); !errors.Is(err, ErrShape) {
			t.Errorf("Expect(%v) = %v, want ErrShape", s, err)
		}
	}
	if _, err := Zeros[float64]("x", Shape{-2}); !errors.Is(err, ErrShape) {
		t.Errorf("Zeros of a negative axis = %v", err)
	}
}

func TestMisuse(t *testing.T) {
	x, _ := Zeros[float64]("x", Shape{2, 3})
	for i, c := range []struct {
		want string
		f    func()
	}{
		{BadIndex, func() { x.Row(2) }}, {BadIndex, func() { x.At(0, 3) }}, {BadIndex, func() { x.At(-1, 0) }},
		{BadAxes, func() { x.At(1) }}, {BadAxes, func() { x.Row(0).Row(0).Row(0) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("row %d: panic %v, want %v", i, got, c.want)
				}
			}()
			c.f()
		}()
	}
}
