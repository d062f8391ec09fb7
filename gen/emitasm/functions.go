package emitasm

import "math"

// The elementary functions of the fused arithmetic, each written once as steps
// on lanes of float32. The assembly prints the steps on vectors and the Go
// twin, package kern, on numbers, so that both have the same bits.
//
// Errors are at most about two units in the last place; the tests of kern hold
// them to a bound.

// steps are the operations that both prints have, V being a vector or the name
// of a number. Comparisons give masks, all ones or all zeros.
type steps[V any] interface {
	number(x float32) V
	add(a, b V) V
	sub(a, b V) V
	mul(a, b V) V
	div(a, b V) V
	fma(neg bool, a, b, c V) V // a·b + c, or c − a·b
	sqrt(a V) V
	low(a, b V) V  // a < b ? a : b
	high(a, b V) V // a > b ? a : b
	compare(op string, a, b V) V
	and(a, b V) V
	or(a, b V) V
	not(a V) V
	choose(c, a, b V) V
	abs(a V) V
	nearest(a V) V     // to the nearest integer, ties to even
	floor(a V) V       //
	power(n V) V       // 2^n for an integer n from −126 to 127
	exponent(a V) V    // k with a = 2^k·m, 1 ≤ m < 2, of a positive normal number
	mantissa(a V) V    // m
	copysign(a, b V) V // |a| with the sign of b
}

// poly is c[0] + c[1]·x + …, from the last to the first.
func poly[V any](s steps[V], x V, c ...float64) V {
	p := s.number(float32(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		p = s.fma(false, p, x, s.number(float32(c[i])))
	}
	return p
}

const (
	ln2Hi = 0x1.62e4p-1 // 15 bits of ln 2: times an exponent it is exact
	ln2Lo = math.Ln2 - ln2Hi
)

// exp is 2^n·e^r with x = n·ln 2 + r, |r| ≤ ln 2/2, and e^r as a series to
// r^7. The scale goes on in two halves, so that results may be subnormal.
func exp[V any](s steps[V], x V) V {
	x = s.low(s.number(89), x) // NaN stays: it is the second
	x = s.high(s.number(-104), x)
	n := s.nearest(s.mul(x, s.number(math.Log2E)))
	r := s.fma(true, n, s.number(ln2Hi), x)
	r = s.fma(true, n, s.number(ln2Lo), r)
	p := poly(s, r, 1./2, 1./6, 1./24, 1./120, 1./720, 1./5040)
	y := s.add(s.fma(false, s.mul(r, r), p, r), s.number(1))
	half := s.floor(s.mul(n, s.number(0.5)))
	return s.mul(s.mul(y, s.power(half)), s.power(s.sub(n, half)))
}

// logParts is ln x for a positive normal x: with x = 2^k·m, √½ ≤ m < √2, t = m − 1 and
// s = t/(2 + t), ln m = t − t²/2 + s·(t²/2 + s²·(2/3 + 2/5·s² + …)).
func logParts[V any](s steps[V], x V, k V) V {
	m := s.mantissa(x)
	k = s.add(k, s.exponent(x))
	big := s.compare(">", m, s.number(math.Sqrt2))
	m = s.choose(big, s.mul(m, s.number(0.5)), m)
	k = s.choose(big, s.add(k, s.number(1)), k)
	t := s.sub(m, s.number(1))
	q := s.div(t, s.add(t, s.number(2)))
	z := s.mul(q, q)
	r := s.mul(z, poly(s, z, 2./3, 2./5, 2./7, 2./9))
	h := s.mul(s.mul(t, s.number(0.5)), t)
	low := s.fma(false, k, s.number(ln2Lo), s.mul(q, s.add(h, r)))
	return s.fma(false, k, s.number(ln2Hi), s.sub(t, s.sub(h, low)))
}

// log scales subnormals by 2^25, and treats the ends separately.
func log[V any](s steps[V], x V) V {
	zero, inf := s.number(0), s.number(float32(math.Inf(1)))
	small := s.compare("<", x, s.number(0x1p-126))
	y := logParts(s, s.choose(small, s.mul(x, s.number(0x1p25)), x), s.choose(small, s.number(-25), zero))
	y = s.choose(s.compare("<", x, inf), y, x) // +Inf and NaN
	y = s.choose(s.compare("==", x, zero), s.number(float32(math.Inf(-1))), y)
	return s.choose(s.compare("<", x, zero), s.number(float32(math.NaN())), y)
}

// log1p adds to ln(1 + x) what the rounding of 1 + x took away, divided by it.
func log1p[V any](s steps[V], x V) V {
	one := s.number(1)
	u := s.add(x, one)
	lost := s.choose(s.compare(">", x, one), s.sub(one, s.sub(u, x)), s.sub(x, s.sub(u, one)))
	y := s.add(log(s, u), s.div(lost, u))
	y = s.choose(s.compare("==", u, one), x, y)
	inf := s.number(float32(math.Inf(1)))
	y = s.choose(s.compare("==", x, inf), x, y)
	return s.choose(s.compare("==", u, s.number(0)), s.number(float32(math.Inf(-1))), y)
}

// sigmoid is 1/(1 + e^(−x)) for x ≥ 0 and e^x/(1 + e^x) below.
func sigmoid[V any](s steps[V], x V) V {
	one := s.number(1)
	e := exp(s, s.sub(s.number(0), s.abs(x)))
	return s.div(s.choose(s.compare(">=", x, s.number(0)), one, e), s.add(e, one))
}

// softplus is max(x, 0) + log1p(e^(−|x|)).
func softplus[V any](s steps[V], x V) V {
	e := exp(s, s.sub(s.number(0), s.abs(x)))
	return s.add(s.high(s.number(0), x), log1p(s, e))
}

// tanh is a series to x^11 below 0.35, and (1 − e^(−2|x|))/(1 + e^(−2|x|)) with
// the sign of x above.
func tanh[V any](s steps[V], x V) V {
	one := s.number(1)
	a := s.abs(x)
	z := s.mul(x, x)
	near := s.fma(false, s.mul(x, z), poly(s, z, -1./3, 2./15, -17./315, 62./2835, -1382./155925), x)
	e := exp(s, s.mul(a, s.number(-2)))
	far := s.copysign(s.div(s.sub(one, e), s.add(e, one)), x)
	return s.choose(s.compare("<", a, s.number(0.35)), near, far)
}

// erf is its series to x^19 below 0.9, and 1 − e^(−q(|x|)) with the sign of x above: q is −ln(1 − erf t) fitted by least
// squares on 0.9 ≤ t ≤ 4, where the fit costs erf 2e-9. From 4 on, float32 holds 1.
func erf[V any](s steps[V], x V) V {
	a := s.abs(x)
	z := s.mul(x, x)
	const scale = 2 / math.SqrtPi // less its 1, which is added exactly
	series := []float64{scale - 1}
	for n, factorial := 1, 1.0; n < 10; n++ {
		factorial *= -float64(n)
		series = append(series, scale/factorial/float64(2*n+1))
	}
	near := s.fma(false, x, poly(s, z, series...), x)
	t := s.low(s.number(4), a) // NaN stays: it is the second
	q := poly(s, t, 0.000166373924, 1.1277976, 0.636975467, 0.104114249, -0.0223155115, 0.00306557142, -0.000198228619)
	far := s.copysign(s.sub(s.number(1), exp(s, s.sub(s.number(0), q))), x)
	return s.choose(s.compare("<", a, s.number(0.9)), near, far)
}

// sign is −1, 0 or 1, and NaN for NaN.
func sign[V any](s steps[V], x V) V {
	zero := s.number(0)
	y := s.choose(s.compare(">", x, zero), s.number(1), s.choose(s.compare("<", x, zero), s.number(-1), x))
	return s.choose(s.compare("==", x, zero), zero, y)
}

// larger is the larger of two numbers, NaN if either is.
func larger[V any](s steps[V], x, y V) V {
	return s.choose(s.compare("!=", x, x), x, s.high(x, y))
}

// smaller is the smaller of two numbers, NaN if either is.
func smaller[V any](s steps[V], x, y V) V {
	return s.choose(s.compare("!=", x, x), x, s.low(x, y))
}

// runningMax is one step of a maximum: x where it is larger than what was gathered,
// or no number.
func runningMax[V any](s steps[V], top, x V) V {
	return s.choose(s.or(s.compare(">", x, top), s.compare("!=", x, x)), x, top)
}
