package num

// Logarithms. With x = 2^k·m, m in [0.6875, 1.375), and c the centre of m's
// interval:
//
//	ln x = k·ln2 − ln(Inv) + log1p(r),   r = m·Inv − 1,  Inv ≈ 1/c
//
// Inv has 10 bits, so with m split in two both halves of r are exact; k·ln2 +
// Hi is exact as well. Around 1 Inv is 1 and the sum is r alone, so nothing
// cancels.

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/num/internal/table"
)

const (
	logOffset  = 0x3fe6000000000000 // the pattern of 0.6875
	headMask   = ^uint64(1<<21 - 1) // the first 32 bits of a mantissa
	signOrBits = 0xfff << 52
)

// logParts returns ln x = hi + lo for a positive normal x, hi rounded to
// within 2^-7·ulp, and r2 the square of the reduced argument's head for pow.
func logParts(x float64) (hi, lo, r float64) {
	ix := math.Float64bits(x)
	tmp := ix - logOffset
	e := &table.Log[tmp>>45%128]
	k := float64(int64(tmp) >> 52)
	m := ix - tmp&signOrBits
	mh := math.Float64frombits(m & headMask)
	ml := math.Float64frombits(m) - mh
	rh := float64(mh*e.Inv) - 1
	rl := float64(ml * e.Inv)
	base := float64(k*table.Ln2Hi) + e.Hi
	r = rh + rl
	hi = base + r
	// What hi lost: base dominates r unless it is 0, where nothing is lost.
	lo = (base - hi) + rh + rl
	lo += float64(k*table.Ln2Lo) + e.Lo
	return hi, lo, r
}

// log1pTail returns log1p(r) − r + r²/2 for |r| ≤ 2^-7.
func log1pTail(r float64) float64 {
	r2 := float64(r * r)
	p := 1.0/7 - float64(r*(1.0/8))
	q := 1.0/5 - float64(r*(1.0/6))
	s := 1.0/3 - float64(r*0.25)
	p = s + float64(r2*(q+float64(r2*p)))
	return float64(float64(r2*r) * p)
}

func log64(x float64) float64 {
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		switch {
		case x == 0:
			return math.Inf(-1)
		case x < 0:
			return math.NaN()
		case x != x || x > 1:
			return x
		}
		// Subnormal: 54 octaves up and down again.
		hi, lo, r := logParts(x * 0x1p54)
		down := float64(54 * table.Ln2Hi)
		return hi - down + (lo + log1pTail(r) - float64(float64(r*r)*0.5) - float64(54*table.Ln2Lo))
	}
	hi, lo, r := logParts(x)
	return hi + (lo + (log1pTail(r) - float64(float64(r*r)*0.5)))
}

// logExtra returns ln x = hi + lo with about 68 good bits, x positive normal.
func logExtra(x float64) (hi, lo float64) {
	hi, lo, r := logParts(x)
	// r²/2 in two pieces, from the head of r.
	h := math.Float64frombits(math.Float64bits(r) & ^uint64(1<<27-1))
	l := r - h
	sq := float64(float64(h*h) * 0.5)
	rest := float64(l*h) + float64(float64(l*l)*0.5)
	s := hi - sq
	lost := (hi - s) - sq
	if math.Abs(hi) < sq {
		lost = hi - (s + sq)
	}
	r3 := float64(r * float64(r*r))
	far := float64(float64(float64(r3*r3)*r3) * (1.0/9 - float64(r*(0.1-float64(r*(1.0/11))))))
	lo += lost - rest + (log1pTail(r) + far)
	hi = s + lo
	return hi, (s - hi) + lo
}

func log1p(x float64) float64 {
	switch {
	case !(x > -1 && x < 0x1p54): // NaN too
		if x == -1 {
			return math.Inf(-1)
		}
		return log64(x)
	case math.Abs(x) < 0x1p-54:
		return x
	}
	u := 1 + x
	var lost float64
	if x >= 1 {
		lost = 1 - (u - x)
	} else {
		lost = x - (u - 1)
	}
	hi, lo, r := logParts(u)
	lo += log1pTail(r) - float64(float64(r*r)*0.5)
	if lost != 0 {
		lo += lost / u
	}
	return hi + lo
}
