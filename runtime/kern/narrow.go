package kern

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/num"
)

// Narrow is x itself, or where to has entries a copy of it, rounded to bfloat16, from entry at of to on; it
// panics if to has not at+len(x) of them.
func Narrow[F num.Float](to []F, at int, x []F) []F {
	if len(to) == 0 {
		return x
	}
	y := to[at:][:len(x)]
	if single, ok := any(x).([]float32); ok {
		narrow32(any(y).([]float32), single)
		return y
	}
	for i, v := range x {
		y[i] = BFloat16(v)
	}
	return y
}

func narrow32(y, x []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = math.Float32frombits(narrowBits(math.Float32bits(v)))
	}
}

// narrowBits rounds the bits of a float32.
func narrowBits(bits uint32) uint32 {
	if bits&0x7fffffff > 0x7f800000 {
		return bits | 1<<22 // rounding up may not carry a NaN to an infinity
	}
	return (bits + 0x7fff + bits>>16&1) &^ 0xffff
}

// BFloat16 rounds to the nearest number of bfloat16, to the even one of two. NaN stays NaN.
func BFloat16[F num.Float](x F) F {
	single := float32(x)
	if F(single) != x && x == x {
		single = toOdd(float64(x), single)
	}
	return F(math.Float32frombits(narrowBits(math.Float32bits(single))))
}

// toOdd is x in float32, rounded so that rounding once more rounds as once (Boldo and Melquiond
// 2008): towards zero, and with the last bit set, for x is not exact.
func toOdd(x float64, nearest float32) float32 {
	bits := math.Float32bits(nearest)
	if math.Abs(float64(nearest)) > math.Abs(x) {
		bits--
	}
	return math.Float32frombits(bits | 1)
}
