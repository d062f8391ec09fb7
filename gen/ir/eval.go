package ir

import "math"

// Eval applies a scalar function to numbers. ok is false for a primitive that
// needs more than its arguments.
func (o Op) Eval(v []float64) (y float64, ok bool) {
	switch info := o.Info(); {
	case o == Select:
		return choose(v[0] != 0, v[1], v[2]), true
	case info.f1 != nil:
		return info.f1(v[0]), true
	case info.f2 != nil:
		return info.f2(v[0], v[1]), true
	}
	return 0, false
}

// Unary and Binary return the scalar function of one or two arguments, or nil.
func (o Op) Unary() func(float64) float64       { return o.Info().f1 }
func (o Op) Binary() func(x, y float64) float64 { return o.Info().f2 }

// Called reports whether a loop program calls the primitive as a function of
// scalars: it is computed entry by entry and is neither a sum, a product nor a
// copy.
func (o Op) Called() bool {
	info := o.Info()
	return o == Select || (info.f1 != nil || info.f2 != nil) && o != Stop && o != Override
}

func identity(x float64) float64  { return x }
func first(x, _ float64) float64  { return x }
func softplus(x float64) float64  { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
func not(x float64) float64       { return truth(x == 0) }
func div(x, y float64) float64    { return x / y }
func mod(x, y float64) float64    { return x - y*math.Floor(x/y) }
func less(x, y float64) float64   { return truth(x < y) }
func lessEq(x, y float64) float64 { return truth(x <= y) }
func equal(x, y float64) float64  { return truth(x == y) }
func and(x, y float64) float64    { return truth(x != 0 && y != 0) }
func or(x, y float64) float64     { return truth(x != 0 || y != 0) }

// larger and smaller return the first argument where both are equal, and NaN
// where either is.
func larger(x, y float64) float64  { return choose(y <= x || x != x, x, y) }
func smaller(x, y float64) float64 { return choose(x <= y || x != x, x, y) }

func sigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // zero stays zero, NaN stays NaN
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func choose(cond bool, x, y float64) float64 {
	if cond {
		return x
	}
	return y
}
