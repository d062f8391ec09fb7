package num

// Exponentials. With x = (128k + i)·ln2/128 + r, |r| ≤ ln2/256:
//
//	e^x = 2^k · 2^(i/128) · (1 + r + r²/2 + …)
//
// where 2^(i/128) comes from the table as H·(1 + Tail). Adding 1.5·2^52 rounds
// to an integer and leaves it in the low mantissa bits.

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/num/internal/table"
)

const roundShift = 0x1.8p52

// expParts returns the table value s = 2^(k+i/128) and the factor t with
// e^(x+xlo) = s·(1+t), for |x| < 700 so that s is normal.
func expParts(x, xlo float64) (s, t float64) {
	kd := float64(x*table.InvStep) + roundShift
	ki := math.Float64bits(kd)
	kd -= roundShift
	r := x - float64(kd*table.StepHi) - float64(kd*table.StepLo) + xlo
	e := &table.Exp[ki%128]
	s = math.Float64frombits(e.Bits + ki<<45)
	r2 := float64(r * r)
	p := 1.0/6 + float64(r*(1.0/24)) + float64(r2*(1.0/120))
	t = e.Tail + r + float64(r2*(0.5+float64(r*p)))
	return s, t
}

func exp64(x float64) float64 {
	if !(x > -700 && x < 700) {
		return expFar(x, 0)
	}
	s, t := expParts(x, 0)
	return s + float64(s*t)
}

// expFar handles what may overflow or be subnormal: the scale is put on in
// two steps, the last of which rounds.
func expFar(x, xlo float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	// e^x = (e^(x/2))² would lose a bit; take 512 octaves off instead.
	const octaves = 512
	hi := float64(octaves * table.Ln2Hi)
	lo := float64(octaves * table.Ln2Lo)
	scale := 0x1p512
	if x < 0 {
		hi, lo, scale = -hi, -lo, 0x1p-512
	}
	d := x - hi // may round: e is what it lost
	e := (x - d) - hi
	s, t := expParts(d, xlo-lo+e)
	return float64((s + float64(s*t)) * scale)
}

// expFast returns e^x with a relative error of 3e-12 for |x| < 700, enough
// for a result rounded to float32.
func expFast(x float64) float64 {
	kd := float64(x*table.InvStep) + roundShift
	ki := math.Float64bits(kd)
	kd -= roundShift
	r := x - float64(kd*table.Step)
	s := math.Float64frombits(table.Exp[ki%128].Bits + ki<<45)
	t := r + float64(float64(r*r)*(0.5+float64(r*(1.0/6))))
	return s + float64(s*t)
}

// exp32 needs no care at the ends: float64 holds e^±700, and the conversion
// makes the subnormals, 0 and +Inf.
func exp32(x float32) float32 {
	d := float64(x)
	if !(d > -700 && d < 700) {
		return float32(expFar(d, 0))
	}
	return float32(expFast(d))
}

func expm1(x float64) float64 {
	switch a := math.Abs(x); {
	case !(a < 700): // NaN too
		if x < 0 {
			return -1
		}
		return expFar(x, 0)
	case a < 0x1p-54:
		return x
	case a < 0.25:
		return expm1Near(x)
	}
	if x < -40 {
		return -1
	}
	s, t := expParts(x, 0)
	if x > 40 {
		return s + float64(s*t)
	}
	return (s - 1) + float64(s*t)
}

// expm1Near sums x + x²/2 + x³/6 + … to degree 13, |x| < ¼.
func expm1Near(x float64) float64 {
	p := 1.0/479001600 + float64(x*(1.0/6227020800))
	p = 1.0/39916800 + float64(x*p)
	p = 1.0/3628800 + float64(x*p)
	p = 1.0/362880 + float64(x*p)
	p = 1.0/40320 + float64(x*p)
	p = 1.0/5040 + float64(x*p)
	p = 1.0/720 + float64(x*p)
	p = 1.0/120 + float64(x*p)
	p = 1.0/24 + float64(x*p)
	p = 1.0/6 + float64(x*p)
	h := float64(x * 0.5)
	return x + float64(x*(h+float64(float64(x*x)*p)))
}
