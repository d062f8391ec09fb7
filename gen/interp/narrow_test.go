package interp_test

import (
	"math"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
)

// TestBFloat16: to nearest, ties to even, at the ends of the exponents too.
func TestBFloat16(t *testing.T) {
	for x, want := range map[float64]float64{
		0: 0, 1: 1, 1 + 0x1p-8: 1, 1 + 0x1p-8 + 0x1p-30: 1 + 0x1p-7, 1 + 0x3p-8: 1 + 0x1p-6, -(1 + 0x3p-8): -(1 + 0x1p-6), 255.5: 256, 3.14159: 3.140625,
		0x1.fefp127: 0x1.fep127, 0x1.ffp127: math.Inf(1), -0x1.ffp127: math.Inf(-1), math.Inf(1): math.Inf(1),
		0x1p-133: 0x1p-133, 0x1p-134: 0, 0x3p-134: 0x1p-132,
	} {
		if got := interp.BFloat16(x); got != want {
			t.Errorf("%x: %x, want %x", x, got, want)
		}
	}
	if x := interp.BFloat16(math.NaN()); x == x {
		t.Error(x)
	}
}
