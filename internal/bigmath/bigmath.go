// Package bigmath computes elementary functions to any precision with math/big.
//
// It is slow and plain on purpose: it prints the tables that the portable
// arithmetic reads and it is the witness that arithmetic is tested against.
// Every function takes the precision of its result in bits and works with 64
// guard bits; the series are the textbook ones, summed until a term falls
// below the working precision.
package bigmath

import "math/big"

const guard = 64

func fl(prec uint, x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func wide(prec uint, x *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Set(x) }

// small reports whether term no longer changes sum at its precision.
func small(term, sum *big.Float, prec uint) bool {
	if term.Sign() == 0 {
		return true
	}
	if sum.Sign() == 0 {
		return false
	}
	return term.MantExp(nil) < sum.MantExp(nil)-int(prec)
}

// Exp returns e^x: Taylor on x/2^k, squared k times.
func Exp(prec uint, x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return fl(prec, 1)
	}
	k := max(0, x.MantExp(nil)+8)
	p := prec + guard + uint(k)
	r := wide(p, x)
	r.SetMantExp(r, -k)
	sum, term := fl(p, 1), fl(p, 1)
	for n := 1; ; n++ {
		term.Mul(term, r)
		term.Quo(term, fl(p, float64(n)))
		if small(term, sum, p) {
			break
		}
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return wide(prec, sum)
}

// Expm1 returns e^x − 1 with full relative precision.
func Expm1(prec uint, x *big.Float) *big.Float {
	p := prec + guard + uint(max(0, -x.MantExp(nil)))
	e := Exp(p, x)
	return wide(prec, e.Sub(e, fl(p, 1)))
}

// Log returns ln x for x > 0: with x = m·2^e, ln m = 2·atanh((m−1)/(m+1)).
func Log(prec uint, x *big.Float) *big.Float {
	p := prec + guard
	// Cancellation near 1 costs as many bits as x−1 is small.
	d := new(big.Float).SetPrec(4096).Sub(x, fl(64, 1))
	if d.Sign() == 0 {
		return fl(prec, 0)
	}
	m := new(big.Float).SetPrec(max(p, x.Prec()))
	e := x.MantExp(m) // m in [0.5, 1)
	if m.Cmp(fl(64, 0.7)) < 0 {
		m.SetMantExp(m, 1)
		e--
	}
	sum := atanhLog(p, m)
	if e != 0 {
		ln2 := atanhLog(p, fl(p, 2))
		sum.Add(sum, ln2.Mul(ln2, fl(p, float64(e))))
	}
	return wide(prec, sum)
}

// Log1p returns ln(1+x) with full relative precision.
func Log1p(prec uint, x *big.Float) *big.Float {
	p := prec + guard
	one := new(big.Float).SetPrec(4096).SetInt64(1)
	return wide(prec, Log(p, one.Add(one, x)))
}

func atanhLog(p uint, m *big.Float) *big.Float {
	w := max(p, m.Prec()) + guard
	one := fl(w, 1)
	t := new(big.Float).SetPrec(w).Sub(m, one)
	t.Quo(t, new(big.Float).SetPrec(w).Add(m, one))
	t = wide(p, t)
	t2 := new(big.Float).SetPrec(p).Mul(t, t)
	sum, pow := fl(p, 0), wide(p, t)
	for n := 1; ; n += 2 {
		term := new(big.Float).SetPrec(p).Quo(pow, fl(p, float64(n)))
		if small(term, sum, p) {
			break
		}
		sum.Add(sum, term)
		pow.Mul(pow, t2)
	}
	return sum.Mul(sum, fl(p, 2))
}

// Pi returns π by Machin's formula 16·atan(1/5) − 4·atan(1/239).
func Pi(prec uint) *big.Float {
	p := prec + guard
	a := atanInv(p, 5)
	b := atanInv(p, 239)
	a.Mul(a, fl(p, 16))
	b.Mul(b, fl(p, 4))
	return wide(prec, a.Sub(a, b))
}

func atanInv(p uint, q float64) *big.Float {
	pow := new(big.Float).SetPrec(p).Quo(fl(p, 1), fl(p, q))
	q2 := fl(p, -q*q)
	sum := fl(p, 0)
	for n := 1; ; n += 2 {
		term := new(big.Float).SetPrec(p).Quo(pow, fl(p, float64(n)))
		if small(term, sum, p) {
			return sum
		}
		sum.Add(sum, term)
		pow.Quo(pow, q2)
	}
}

// SinCos returns sin x and cos x; x is reduced modulo 2π at the precision its
// exponent asks for.
func SinCos(prec uint, x *big.Float) (sin, cos *big.Float) {
	p := prec + guard + 128 + uint(max(0, x.MantExp(nil)))
	twoPi := Pi(p)
	twoPi.Mul(twoPi, fl(p, 2))
	q := new(big.Float).SetPrec(p).Quo(x, twoPi)
	n, _ := q.Int(nil)
	r := new(big.Float).SetPrec(p).SetInt(n)
	r.Sub(wide(p, x), r.Mul(r, twoPi))
	term := fl(p, 1)
	sin, cos = fl(p, 0), fl(p, 1)
	for k := 1; k < 400; k++ {
		term.Mul(term, r)
		term.Quo(term, fl(p, float64(k)))
		signed := wide(p, term)
		if k%4 >= 2 {
			signed.Neg(signed)
		}
		if k%2 == 1 {
			sin.Add(sin, signed)
		} else {
			cos.Add(cos, signed)
		}
	}
	return wide(prec, sin), wide(prec, cos)
}

// Erf returns 2/√π·∫₀ˣ e^(−t²) dt by its Taylor series; meant for |x| < 8.
func Erf(prec uint, x *big.Float) *big.Float {
	p := prec + guard + 200
	x2 := wide(p, x)
	x2.Mul(x2, x2)
	x2.Neg(x2)
	sum, pow := fl(p, 0), wide(p, x)
	for n := 0; ; n++ {
		term := new(big.Float).SetPrec(p).Quo(pow, fl(p, float64(2*n+1)))
		if small(term, sum, p) {
			break
		}
		sum.Add(sum, term)
		pow.Mul(pow, x2)
		pow.Quo(pow, fl(p, float64(n+1)))
	}
	return wide(prec, sum.Mul(sum, TwoOverSqrtPi(p)))
}

// TwoOverSqrtPi returns 2/√π.
func TwoOverSqrtPi(prec uint) *big.Float {
	p := prec + guard
	r := Pi(p)
	r.Sqrt(r)
	return wide(prec, r.Quo(fl(p, 2), r))
}
