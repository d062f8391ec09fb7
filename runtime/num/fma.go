package num

import "math"

// FMA32 returns a·b + c with one rounding, to nearest even, for all float32:
// the fused multiply-add of IEEE 754, in Go and with the same bits everywhere.
//
// The product of two float32 is exact in float64. The sum is rounded there, to
// 53 bits, and then to float32, which is wrong only if the first rounding hits
// a midpoint of the second from beside it. Midpoints of normal results have the
// low 29 bits 1000…; for these and for small results the sum is rounded to odd
// instead, which never hits a midpoint from beside it.
func FMA32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	s := p + float64(c)
	if u := math.Float64bits(s); u&(1<<29-1) != 1<<28 && u<<1 >= smallestNormal<<53 {
		return float32(s)
	}
	return fmaNear(p, float64(c), s)
}

// smallestNormal is the exponent of the smallest normal float32, in a float64.
const smallestNormal = 1023 - 126

// fmaNear rounds p + c, which is s rounded to nearest, to odd and then to
// float32. The error of s is exact (the sum of two in the manner of Knuth); it
// is NaN, and nothing is to be mended, where s is not finite.
//
//go:noinline
func fmaNear(p, c, s float64) float32 {
	back := s - p
	e := (p - (s - back)) + (c - back)
	if u := math.Float64bits(s); u&1 == 0 && (e > 0 || e < 0) {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}
