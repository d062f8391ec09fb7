package kern

import (
	"math"
	"math/rand/v2"
	"testing"
)

// nearestBFloat16 is the number of bfloat16 that is nearest to x, by trying the two around it.
func nearestBFloat16(x float64) float32 {
	low := math.Float32bits(float32(x)) &^ 0xffff
	if math.Abs(float64(math.Float32frombits(low))) > math.Abs(x) { // rounding to float32 went up
		low -= 1 << 16
	}
	high := low + 1<<16
	value := func(bits uint32) float64 {
		if bits&0x7fffffff == 0x7f800000 { // what would come after the largest
			return math.Copysign(0x1p128, x)
		}
		return float64(math.Float32frombits(bits))
	}
	below, above := math.Abs(x-value(low)), math.Abs(value(high)-x)
	if below < above || below == above && low>>16&1 == 0 {
		return math.Float32frombits(low)
	}
	return math.Float32frombits(high)
}

// TestBFloat16 rounds numbers of every size, those in the middle of two, and those beside the middle, in both
// widths.
func TestBFloat16(t *testing.T) {
	check := func(x float64) {
		want := math.Float32bits(nearestBFloat16(x))
		if got := math.Float32bits(float32(BFloat16(x))); got != want {
			t.Fatalf("BFloat16(%x) has bits %x, want %x", x, got, want)
		}
		if single := float32(x); float64(single) == x {
			if got := math.Float32bits(BFloat16(single)); got != want {
				t.Fatalf("BFloat16(float32 %x) has bits %x, want %x", x, got, want)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		x := float64(math.Float32frombits(rng.Uint32()))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		check(x)
		check(x * (1 + 0x1p-40)) // no number of float32
	}
	for high := uint32(0); high < 0x7f80; high++ {
		middle := float64(math.Float32frombits(high<<16 | 0x8000))
		for _, x := range []float64{middle, math.Nextafter(middle, 0), math.Nextafter(middle, math.Inf(1)), float64(math.Float32frombits(high << 16))} {
			check(x)
			check(-x)
		}
	}
	for _, bits := range []uint32{0x7fc00000, 0x7f800001, 0xffffffff, 0x7fffffff} {
		if x := BFloat16(math.Float32frombits(bits)); x == x {
			t.Errorf("NaN %x became %v", bits, x)
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1)} {
		if y := BFloat16(x); y != x {
			t.Errorf("%v became %v", x, y)
		}
	}
}

// TestNarrow: without memory an operand is what it was, with memory a copy at its place.
func TestNarrow(t *testing.T) {
	x := []float32{1, 1 + 0x1p-8, 1 + 0x1p-9, -3.14159}
	if y := Narrow(nil, 4, x); &y[0] != &x[0] {
		t.Error("a copy without memory for it")
	}
	to := []float32{0, 0, 7, 7, 7, 7, 0}
	y := Narrow(to, 2, x)
	if want := []float32{1, 1, 1, -3.140625}; &y[0] != &to[2] || y[0] != want[0] || y[1] != want[1] || y[2] != want[2] || y[3] != want[3] || len(y) != 4 || to[6] != 0 {
		t.Error(y, to)
	}
	if y := Narrow(to, 7, []float32{}); len(y) != 0 {
		t.Error(y)
	}
}
