package num

// x^y = e^(y·ln x). An error of ln x is multiplied by y, up to 709 at the end
// of the range; so float64 carries ln x and the product in two floats each.

import "math"

func pow64(x, y float64) float64 {
	if v, done := powEasy(x, y); done {
		return v
	}
	neg := x < 0 // then y is an integer, powEasy saw to that
	a := math.Abs(x)
	var hi, lo float64
	if a < 0x1p-1022 {
		hi, lo = logExtra(a * 0x1p54)
		hi, lo = addTo(hi, lo, -54*math.Ln2, -(54 * ln2Tail))
	} else {
		hi, lo = logExtra(a)
	}
	ph := float64(y * hi)
	r := ph
	if math.Abs(ph) < 800 {
		r = expSum(ph, mulTail(y, hi, ph)+float64(y*lo))
	} else {
		r = expFar(ph, 0)
	}
	if neg && isOdd(y) {
		return -r
	}
	return r
}

// ln2Tail is ln 2 − float64(ln 2).
const ln2Tail = 0x1.abc9e3b39803fp-56

// addTo returns (h + l) + (c + ct) as a pair; h and c may be of any order.
func addTo(h, l, c, ct float64) (hi, lo float64) {
	s := h + c
	b := s - h
	lost := (h - (s - b)) + (c - b)
	lo = lost + (l + ct)
	hi = s + lo
	return hi, (s - hi) + lo
}

// mulTail returns a·b − p for p = float64(a·b), by splitting both in halves.
func mulTail(a, b, p float64) float64 {
	if math.Abs(a) > 0x1p900 || math.Abs(b) > 0x1p900 || math.Abs(p) < 0x1p-900 {
		return 0 // the halves would overflow or vanish; the result is 1, 0 or Inf
	}
	ah, al := split(a)
	bh, bl := split(b)
	return float64(al*bl) - (((p - float64(ah*bh)) - float64(al*bh)) - float64(ah*bl))
}

// split cuts x into a head of 26 bits and the rest, exactly.
func split(x float64) (head, rest float64) {
	head = math.Float64frombits(math.Float64bits(x) & ^uint64(1<<27-1))
	return head, x - head
}

func expSum(x, xlo float64) float64 {
	if !(x > -700 && x < 700) {
		return expFar(x, xlo)
	}
	s, t := expParts(x, xlo)
	return s + float64(s*t)
}

func pow32(x, y float32) float32 {
	if v, done := powEasy(float64(x), float64(y)); done {
		return float32(v)
	}
	r := exp64(float64(float64(y) * log64(math.Abs(float64(x)))))
	if x < 0 && isOdd(float64(y)) {
		r = -r
	}
	return float32(r)
}

// powEasy answers the small exponents and everything that IEEE 754 lists:
// zeros, infinities, NaN, and a negative x with y not an integer. What is left
// is finite and non-zero in both arguments.
func powEasy(x, y float64) (v float64, done bool) {
	switch {
	case y == 0 || x == 1:
		return 1, true
	case y == 1:
		return x, true
	case y == 2:
		return float64(x * x), true
	case y == 3:
		return float64(float64(x*x) * x), true
	case y == -1:
		return 1 / x, true
	case y == 0.5 && x > 0:
		return math.Sqrt(x), true
	case x != x || y != y:
		return math.NaN(), true
	case x == 0 || math.IsInf(x, 0):
		return powEnd(x, y), true
	case math.IsInf(y, 0):
		switch a := math.Abs(x); {
		case a == 1:
			return 1, true
		case (a > 1) == (y > 0):
			return math.Inf(1), true
		}
		return 0, true
	case x < 0 && math.Floor(y) != y:
		return math.NaN(), true
	}
	return 0, false
}

// powEnd is x^y for x = ±0 or ±Inf: 0 or Inf, negative for odd y.
func powEnd(x, y float64) float64 {
	r := math.Inf(1)
	if (x == 0) == (y > 0) {
		r = 0
	}
	if math.Signbit(x) && isOdd(y) {
		return -r
	}
	return r
}

// isOdd reports that y is an odd integer; above 2^53 every float64 is even.
func isOdd(y float64) bool {
	return math.Abs(y) < 0x1p53 && math.Floor(y) == y && int64(y)&1 == 1
}
