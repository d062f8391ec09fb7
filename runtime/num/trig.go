package num

// Sine and cosine. x = n·π/2 + y0 + y1 with |y0| ≤ π/4; two Taylor sums then
// compute sin and cos of the rest, and n mod 4 chooses between them.

import (
	"math"
	"math/bits"

	"github.com/nl-hecate/hecate/runtime/num/internal/table"
)

func sin(x float64) float64 {
	if math.Abs(x) < 0x1p-27 {
		return x
	}
	n, y0, y1 := reduce(x)
	return quarter(n, y0, y1)
}

func cos(x float64) float64 {
	n, y0, y1 := reduce(x)
	return quarter(n+1, y0, y1)
}

// quarter returns sin(n·π/2 + y0 + y1).
func quarter(n int, y0, y1 float64) float64 {
	switch n & 3 {
	case 0:
		return sinNear(y0, y1)
	case 1:
		return cosNear(y0, y1)
	case 2:
		return -sinNear(y0, y1)
	}
	return -cosNear(y0, y1)
}

// reduce returns x = n·π/2 + y0 + y1, n modulo 4; NaN for ±Inf and NaN.
func reduce(x float64) (n int, y0, y1 float64) {
	a := math.Abs(x)
	switch {
	case a <= math.Pi/4:
		return 0, x, 0
	case !(a <= math.MaxFloat64):
		return 0, math.NaN(), 0
	case a >= 0x1p20:
		n, y0, y1 = reduceHuge(a)
		if x < 0 {
			return -n, -y0, -y1
		}
		return n, y0, y1
	}
	fn := float64(x*table.TwoOverPi) + roundShift
	fn -= roundShift
	// The products with pieces of 33 bits are exact; the sums keep what they lose.
	s1 := x - float64(fn*table.HalfPi1)
	s2, e2 := twoSum(s1, -float64(fn*table.HalfPi2))
	s3, e3 := twoSum(s2, -float64(fn*table.HalfPi3))
	rest := e2 + (e3 - float64(fn*table.HalfPiTail))
	y0 = s3 + rest
	return int(fn), y0, (s3 - y0) + rest
}

// twoSum returns the rounded sum and what the rounding lost.
func twoSum(a, b float64) (s, lost float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// reduceHuge is reduce for x ≥ 2^20 by Payne and Hanek's way: of x·2/π only
// the bits modulo 4 and 190 more matter, so multiply the 53-bit mantissa by a
// window of 2/π that starts there.
func reduceHuge(x float64) (n int, y0, y1 float64) {
	ix := math.Float64bits(x)
	m := ix&(1<<52-1) | 1<<52
	e := int(ix>>52) - 1075 // x = m·2^e, e ≥ −32
	at := e - 2 + 64        // bit of the table (after 64 zeros) that weighs 2 times m's unit
	w2, w1, w0 := window(at)
	// The product modulo 2^192: its two highest bits count quarters of a turn.
	h1, l0 := bits.Mul64(w0, m)
	h2, l1 := bits.Mul64(w1, m)
	l1, c := bits.Add64(l1, h1, 0)
	l2 := w2*m + h2 + c
	n = int(l2 >> 62)
	l2, l1, l0 = l2<<2|l1>>62, l1<<2|l0>>62, l0<<2
	neg := l2>>63 == 1 // a fraction of ½ or more belongs to the next quarter
	if neg {
		n++
		l0, c = bits.Sub64(0, l0, 0)
		l1, c = bits.Sub64(0, l1, c)
		l2, _ = bits.Sub64(0, l2, c)
	}
	hi, lo := fraction(l2, l1, l0)
	if neg {
		hi, lo = -hi, -lo
	}
	p := float64(hi * table.HalfPiHi)
	rest := mulTail(hi, table.HalfPiHi, p) + (float64(hi*table.HalfPiLo) + float64(lo*table.HalfPiHi))
	y0 = p + rest
	return n, y0, (p - y0) + rest
}

// window returns 192 bits of the table from bit at onwards.
func window(at int) (w2, w1, w0 uint64) {
	i, s := at/64, uint(at%64)
	t := &table.TwoOverPiBits
	if s == 0 {
		return t[i], t[i+1], t[i+2]
	}
	return t[i]<<s | t[i+1]>>(64-s), t[i+1]<<s | t[i+2]>>(64-s), t[i+2]<<s | t[i+3]>>(64-s)
}

// fraction returns 0.w2w1w0 (binary) as a float64 and the next 53 bits after it.
func fraction(w2, w1, w0 uint64) (hi, lo float64) {
	lead := 0
	for lead < 128 && w2>>63 == 0 {
		z := min(max(bits.LeadingZeros64(w2), 1), 63)
		w2, w1, w0 = w2<<z|w1>>(64-z), w1<<z|w0>>(64-z), w0<<z
		lead += z
	}
	scale := math.Float64frombits(uint64(1023-lead) << 52)
	hi = float64(w2>>11) * 0x1p-53 * scale
	lo = float64((w2<<53|w1>>11)>>11) * 0x1p-106 * scale
	return hi, lo
}

// sinNear returns sin(x + xlo) for |x| ≤ π/4, terms to x^17.
func sinNear(x, xlo float64) float64 {
	z := float64(x * x)
	p := -1.0/1307674368000 + float64(z*(1.0/355687428096000))
	p = 1.0/6227020800 + float64(z*p)
	p = -1.0/39916800 + float64(z*p)
	p = 1.0/362880 + float64(z*p)
	p = -1.0/5040 + float64(z*p)
	p = 1.0/120 + float64(z*p)
	p = -1.0/6 + float64(z*p)
	return x + (float64(float64(z*x)*p) + float64(xlo*(1-float64(z*0.5))))
}

// cosNear returns cos(x + xlo) for |x| ≤ π/4, terms to x^18; 1 − z/2 is summed
// with what it loses.
func cosNear(x, xlo float64) float64 {
	z := float64(x * x)
	p := 1.0/20922789888000 - float64(z*(1.0/6402373705728000))
	p = -1.0/87178291200 + float64(z*p)
	p = 1.0/479001600 + float64(z*p)
	p = -1.0/3628800 + float64(z*p)
	p = 1.0/40320 + float64(z*p)
	p = -1.0/720 + float64(z*p)
	p = 1.0/24 + float64(z*p)
	h := float64(z * 0.5)
	w := 1 - h
	return w + (((1 - w) - h) + (float64(float64(z*z)*p) - float64(x*xlo)))
}
