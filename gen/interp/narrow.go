package interp

import "math"

// BFloat16 rounds a number to bfloat16, which has 8 significant bits and the exponents of float32: to
// nearest, ties to even.
func BFloat16(x float64) float64 {
	const smallest, largest = 0x1p-126, 0x1.fep127 // normal, finite
	_, e := math.Frexp(math.Max(math.Abs(x), smallest))
	unit := math.Ldexp(1, e-8)
	if x = math.RoundToEven(x/unit) * unit; math.Abs(x) > largest {
		return math.Copysign(math.Inf(1), x)
	}
	return x
}
