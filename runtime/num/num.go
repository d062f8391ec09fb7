// Package num is the portable arithmetic: elementary functions with the same bits everywhere.
// The fused arithmetic (package cpu) has elementary functions of its own, which are
// generated; its multiply-add in Go is FMA32.
//
// The Go language allows a compiler to fuse x*y + z into one rounding, and the
// functions of package math are free to differ between platforms. A model that
// must produce one checkpoint on every machine can use neither. So here every
// product is rounded by an explicit conversion before it is added, and exp,
// log and their kin are polynomials and tables of our own; the tables were
// computed with math/big (internal/tablegen). What is left are +, −, ·, /, √
// and conversions, which IEEE 754 fixes to the last bit.
//
// Measured against math/big, the largest error of a float64 result in ulp: exp
// 0.51, log 0.52, log1p 0.51, pow 0.50, sin and cos 0.70, expm1 1.0, erf 1.1,
// softplus 1.3, sigmoid 1.8, tanh 1.9; the tests hold rounder bounds. float32 results are computed in float64 and rounded
// once, so they are correctly rounded except for about one argument in ten
// thousand that is within 1e-4 ulp of a tie.
//
// A NaN argument returns NaN everywhere except for Pow(NaN, 0) = Pow(1, NaN) = 1, as in
// IEEE 754.
package num

import (
	"math"
	"unsafe"
)

// Float is the element type of everything numeric.
type Float interface{ ~float32 | ~float64 }

// is32 reports whether F is a float32; the compiler folds it per instantiation.
func is32[F Float]() bool { return unsafe.Sizeof(F(0)) == 4 }

// Exp returns e^x: 0 at −Inf and below the range, +Inf above it.
func Exp[F Float](x F) F {
	if is32[F]() {
		return F(exp32(float32(x)))
	}
	return F(exp64(float64(x)))
}

// Expm1 returns e^x − 1, accurate near 0; it keeps the sign of zero.
func Expm1[F Float](x F) F { return F(expm1(float64(x))) }

// Log returns ln x: −Inf at ±0, NaN below 0.
func Log[F Float](x F) F { return F(log64(float64(x))) }

// Log1p returns ln(1 + x), accurate near 0: −Inf at −1, NaN below.
func Log1p[F Float](x F) F { return F(log1p(float64(x))) }

// Tanh returns the hyperbolic tangent, in [−1, 1]; it keeps the sign of zero.
func Tanh[F Float](x F) F {
	if is32[F]() {
		return F(tanh32(float32(x)))
	}
	return F(tanh64(float64(x)))
}

// Sigmoid returns 1/(1 + e^(−x)). It never overflows on the way and reaches 0
// only where e^x itself is 0, not at a threshold.
func Sigmoid[F Float](x F) F {
	if is32[F]() {
		return F(sigmoid32(float32(x)))
	}
	return F(sigmoid64(float64(x)))
}

// Softplus returns ln(1 + e^x) as max(x, 0) + log1p(e^(−|x|)). Its derivative
// is Sigmoid(x), which is ½ at 0.
func Softplus[F Float](x F) F {
	if is32[F]() {
		return F(softplus32(float32(x)))
	}
	return F(softplus64(float64(x)))
}

// Sin returns the sine of x in radians, NaN for ±Inf; arguments of any size
// are reduced exactly.
func Sin[F Float](x F) F { return F(sin(float64(x))) }

// Cos returns the cosine of x in radians, NaN for ±Inf.
func Cos[F Float](x F) F { return F(cos(float64(x))) }

// Erf returns 2/√π·∫₀ˣ e^(−t²) dt, in [−1, 1].
func Erf[F Float](x F) F { return F(erf(float64(x))) }

// Pow returns x^y for real y with the special cases of IEEE 754: 1 for y = 0
// or x = 1, NaN for x < 0 and y not an integer. The exponents −1, 0, ½, 1, 2
// and 3 are quotients, roots and products.
func Pow[F Float](x, y F) F {
	if is32[F]() {
		return F(pow32(float32(x), float32(y)))
	}
	return F(pow64(float64(x), float64(y)))
}

// Sqrt returns the correctly rounded square root, NaN below 0.
func Sqrt[F Float](x F) F {
	// Rounding √x first to 53 bits and then to 24 is exact: 53 ≥ 2·24 + 2.
	return F(math.Sqrt(float64(x)))
}

// Abs returns |x|; it clears the sign of zero and of NaN.
func Abs[F Float](x F) F { return F(math.Abs(float64(x))) }

// Max returns the larger of x and y. NaN if either is NaN, and Max(−0, +0) is
// +0; so a clamp by Max and Min never hides a NaN.
func Max[F Float](x, y F) F { return max(x, y) }

// Min returns the smaller of x and y, with NaN and −0 treated as in Max.
func Min[F Float](x, y F) F { return min(x, y) }

// Sign returns −1, 0 or 1 with the sign of x; 0 for ±0, NaN for NaN.
func Sign[F Float](x F) F {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// IsFinite reports that x is neither NaN nor infinite.
func IsFinite[F Float](x F) bool { return x-x == 0 }
