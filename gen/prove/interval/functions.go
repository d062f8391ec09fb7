package interval

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A function is the image of a scalar primitive of one or two arguments. It is onto
// where it takes every number of its image when its argument takes every number of an
// interval, or its two arguments do independently.
type function struct {
	image func(a, b Interval) Interval
	onto  bool
}

// functions has every scalar primitive but Lin, Const, Iota, SizeOf and Select, which
// need more than intervals; monotone functions are added from the table of primitives.
var functions = map[ir.Op]function{
	ir.Stop:     {first, true},
	ir.ToReal:   {first, false},
	ir.Override: {first, false},
	ir.Abs:      {func(a, _ Interval) Interval { return a.abs() }, true},
	ir.Sin:      {always(symmetric), false},
	ir.Cos:      {always(symmetric), false},
	ir.Sign:     {always(symmetric), false},
	ir.Div:      {func(a, b Interval) Interval { return a.mul(b.reciprocal()) }, false},
	ir.Pow:      {pow, false},
	ir.Mod:      {mod, false},
	ir.Max2:     {Interval.max, true},
	ir.Min2:     {Interval.min, true},
	ir.Less:     {always(truths), false},
	ir.LessEq:   {always(truths), false},
	ir.Equal:    {always(truths), false},
	ir.And:      {always(truths), false},
	ir.Or:       {always(truths), false},
	ir.Not:      {always(truths), false},
}

func init() {
	for _, op := range ir.Ops() {
		if op.Info().Monotone != 0 {
			functions[op] = function{monotone(op), op != ir.Floor}
		}
	}
}

var (
	truths    = Interval{0, 1, false, false}
	symmetric = Interval{-1, 1, false, false}
)

func first(a, _ Interval) Interval { return a }

func always(x Interval) func(a, b Interval) Interval {
	return func(Interval, Interval) Interval { return x }
}

// monotone is the image of a function that is monotone increasing or decreasing, with its
// limits at infinity.
func monotone(op ir.Op) func(a, _ Interval) Interval {
	f := op.Unary()
	at := func(x float64) float64 {
		if op == ir.Softplus && math.IsInf(x, -1) {
			return 0
		}
		return f(x)
	}
	least, bounded := map[ir.Op]float64{ir.Log: 0, ir.Sqrt: 0, ir.Log1p: -1}[op]
	return func(a, _ Interval) Interval {
		if bounded && a.Lo < least { // the function is undefined below its domain
			a.Lo, a.LoOpen = least, false
		}
		out := Interval{at(a.Lo), at(a.Hi), a.LoOpen, a.HiOpen}
		// An end that only rounding takes to a limit does not reach the limit.
		out.LoOpen = out.LoOpen || out.Lo == at(math.Inf(-1)) && op != ir.Floor
		out.HiOpen = out.HiOpen || out.Hi == at(math.Inf(1)) && op != ir.Floor
		if op.Info().Monotone < 0 {
			out = Interval{out.Hi, out.Lo, out.HiOpen, out.LoOpen}
		}
		return out
	}
}

// mod is the remainder of a modulo b, which has the sign of b.
func mod(_, b Interval) Interval {
	if b.Lo >= 0 {
		return Interval{0, b.Hi, false, true}
	}
	return Everything
}

// pow is a to the power b.
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
