package tensor

import (
	"testing"
	"unsafe"
)

// aligned wants n zeros at a cache line, for many lengths.
func aligned[T comparable](t *testing.T) {
	var zero T
	for n := range 300 {
		x := Make[T](n)
		if len(x) != n || cap(x) != n {
			t.Fatalf("Make(%d) has length %d and capacity %d", n, len(x), cap(x))
		}
		for i := range x {
			if at := uintptr(unsafe.Pointer(&x[0])); at%lineBytes != 0 || x[i] != zero {
				t.Fatalf("Make(%d)[%d] = %v, at %#x", n, i, x[i], at)
			}
		}
	}
}

func TestMake(t *testing.T) {
	aligned[float32](t)
	aligned[float64](t)
	aligned[int32](t)
	aligned[bool](t)
	if x := Make[[3]byte](5); len(x) != 5 { // does not divide a line
		t.Errorf("Make of 3 bytes has length %d", len(x))
	}
}

func TestLines(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {1, 16}, {15, 16}, {16, 16}, {17, 32}} {
		if got := Lines[float32](c[0]); got != c[1] {
			t.Errorf("%d float32 are lines of %d, want %d", c[0], got, c[1])
		}
	}
	if Lines[bool](1) != 64 || Lines[float64](9) != 16 || Lines[[3]byte](7) != 7 {
		t.Errorf("lines of bool %d, float64 %d, [3]byte %d", Lines[bool](1), Lines[float64](9), Lines[[3]byte](7))
	}
}
