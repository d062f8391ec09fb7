package num

import "math"

// Squashing functions, all made of exp, expm1 and log1p. The float32 forms work
// in float64 throughout and round once.

func tanh64(x float64) float64 {
	a := math.Abs(x)
	var r float64
	switch {
	case a < 0x1p-54:
		return x
	case a < 0.5:
		t := expm1(2 * a)
		r = t / (t + 2)
	case a > 22:
		r = 1 // 1 − 2e^(−44) rounds to 1
	default: // NaN too
		r = 1 - 2/(expm1(2*a)+2)
	}
	if x < 0 {
		return -r
	}
	return r
}

func tanh32(x float32) float32 {
	d := float64(x)
	a := math.Abs(d)
	switch {
	case a < 0x1p-6:
		z := float64(d * d)
		p := 2.0/15 - float64(z*(17.0/315))
		p = 1.0/3 - float64(z*p)
		return float32(d * (1 - float64(z*p)))
	case a > 20:
		return float32(math.Copysign(1, d))
	case x != x:
		return x
	}
	return float32(1 - 2/(expFast(2*d)+1))
}

func sigmoid64(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + exp64(-x))
	}
	e := exp64(x)
	return e / (1 + e)
}

func sigmoid32(x float32) float32 {
	d := float64(x)
	if !(d > -700 && d < 700) {
		return float32(sigmoid64(d))
	}
	return float32(1 / (1 + expFast(-d)))
}

func softplus64(x float64) float64 {
	if x != x {
		return x
	}
	return max(x, 0) + log1p(exp64(-math.Abs(x)))
}

func softplus32(x float32) float32 {
	d := float64(x)
	a := math.Abs(d)
	if !(a < 700) {
		return float32(softplus64(d))
	}
	t := expFast(-a)
	if t < 0x1p-10 {
		p := 0.5 - float64(t*(1.0/3-float64(t*0.25)))
		return float32(max(d, 0) + (t - float64(float64(t*t)*p)))
	}
	return float32(max(d, 0) + log64(1+t))
}
