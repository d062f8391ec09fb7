package interval

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// rising are the functions that grow with their argument.
var increasing = map[ir.Op]bool{ir.Exp: true, ir.Expm1: true, ir.Tanh: true, ir.Sigmoid: true, ir.Softplus: true, ir.Erf: true, ir.Floor: true,
	ir.Log: true, ir.Log1p: true, ir.Sqrt: true}

// rise is the image of a rising function, with its limits at infinity.
func increasingImage(op ir.Op, a Interval) Interval {
	f := op.Unary()
	least := map[ir.Op]float64{ir.Log: 0, ir.Sqrt: 0, ir.Log1p: -1}
	if x, ok := least[op]; ok && a.Lo < x { // below it the function is undefined
		a.Lo, a.LoOpen = x, false
	}
	at := func(x float64) float64 {
		if op == ir.Softplus && math.IsInf(x, -1) {
			return 0
		}
		return f(x)
	}
	out := Interval{at(a.Lo), at(a.Hi), a.LoOpen, a.HiOpen}
	// What rounding takes to a limit does not reach it.
	out.LoOpen = out.LoOpen || out.Lo == at(math.Inf(-1)) && op != ir.Floor
	out.HiOpen = out.HiOpen || out.Hi == at(math.Inf(1)) && op != ir.Floor
	return out
}

// unary is the image of a function of one number.
func unaryImage(op ir.Op, a Interval) Interval {
	switch {
	case op == ir.Stop || op == ir.ToReal || op == ir.Override:
		return a
	case increasing[op]:
		return increasingImage(op, a)
	case op == ir.Abs:
		return a.abs()
	case op == ir.Sin || op == ir.Cos || op == ir.Sign:
		return Interval{-1, 1, false, false}
	case op == ir.Not:
		return truths
	}
	return Everything
}

// binary is the image of a function of two numbers.
func binaryImage(op ir.Op, a, b Interval) Interval {
	switch op {
	case ir.Override:
		return a
	case ir.Div:
		return a.mul(b.reciprocal())
	case ir.Max2:
		return a.max(b)
	case ir.Min2:
		return a.min(b)
	case ir.Pow:
		return pow(a, b)
	case ir.Mod:
		if b.Lo >= 0 {
			return Interval{0, b.Hi, false, true}
		}
	case ir.Less, ir.LessEq, ir.Equal, ir.And, ir.Or:
		return truths
	}
	return Everything
}

// raise is a to the power b.
func pow(a, b Interval) Interval {
	n := b.Lo
	switch {
	case b.isPoint() && n == math.Trunc(n) && 1 <= n && n <= 64:
		return a.power(int(n))
	case b.isPoint() && n > 0 && a.Lo >= 0:
		return Interval{math.Pow(a.Lo, n), math.Pow(a.Hi, n), a.LoOpen, a.HiOpen}
	case b.isPoint() && n < 0 && a.Lo >= 0:
		return pow(a, b.neg()).reciprocal()
	case a.Lo >= 0:
		return Interval{0, math.Inf(1), false, true}
	}
	return Everything
}
