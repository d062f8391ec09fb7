package prove

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Interval arithmetic (Moore 1966): the ends of what an operation can give follow
// from the ends of what it gets. An end that is not reached is open, so that the
// logistic function has (0, 1). Ends are float64 and not rounded outward, as the
// numbers of a page are not: two that are compared may be rounded by endTol.

// An interval is the numbers between two ends.
type interval struct {
	lo, hi         float64
	loOpen, hiOpen bool
}

var (
	everything = interval{math.Inf(-1), math.Inf(1), true, true}
	truths     = interval{0, 1, false, false}
)

func exactly(x float64) interval { return interval{x, x, false, false} }

// declaredInterval is the range that a page declares, or everything.
func declaredInterval(t *notation.Type) interval {
	iv := everything
	if t == nil || t.Kind != notation.RangeType {
		return iv
	}
	if lo, ok := bound(t.Lo); ok {
		iv.lo, iv.loOpen = lo, t.LoOpen
	}
	if hi, ok := bound(t.Hi); ok {
		iv.hi, iv.hiOpen = hi, t.HiOpen
	}
	return iv
}

func (a interval) String() string {
	l, r := "[", "]"
	if a.loOpen {
		l = "("
	}
	if a.hiOpen {
		r = ")"
	}
	return fmt.Sprintf("%s%s, %s%s", l, endText(a.lo), endText(a.hi), r)
}

func endText(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case math.IsInf(x, -1):
		return "−∞"
	case x < 0:
		return fmt.Sprintf("−%.6g", -x)
	}
	return fmt.Sprintf("%.6g", x)
}

// inside reports whether a lies in b.
func (a interval) inside(b interval) bool {
	return above(a.lo, b.lo, b.loOpen && !a.loOpen) && above(-a.hi, -b.hi, b.hiOpen && !a.hiOpen)
}

// above reports whether x lies above an end, or at it where it is not excluded.
func above(x, end float64, excluded bool) bool {
	switch {
	case math.IsInf(end, 0):
		return x >= end
	case excluded:
		return x > end
	}
	return x >= end-endTol*math.Abs(end)
}

func (a interval) hasZero() bool {
	return (a.lo < 0 || a.lo == 0 && !a.loOpen) && (a.hi > 0 || a.hi == 0 && !a.hiOpen)
}

func (a interval) isPoint() bool { return a.lo == a.hi }

func (a interval) neg() interval { return interval{-a.hi, -a.lo, a.hiOpen, a.loOpen} }

func (a interval) add(b interval) interval {
	return interval{a.lo + b.lo, a.hi + b.hi, a.loOpen || b.loOpen, a.hiOpen || b.hiOpen}
}

// union holds both.
func (a interval) union(b interval) interval {
	if b.lo < a.lo || b.lo == a.lo && a.loOpen {
		a.lo, a.loOpen = b.lo, b.loOpen
	}
	if b.hi > a.hi || b.hi == a.hi && a.hiOpen {
		a.hi, a.hiOpen = b.hi, b.hiOpen
	}
	return a
}

// mul takes the least and the greatest product of ends; zero times an end at
// infinity is zero.
func (a interval) mul(b interval) interval {
	type end struct {
		x    float64
		open bool
	}
	product := func(p, q end) end {
		if p.x == 0 && !p.open || q.x == 0 && !q.open {
			return end{0, false}
		}
		if p.x == 0 || q.x == 0 {
			return end{0, true}
		}
		return end{p.x * q.x, p.open || q.open}
	}
	as, bs := [2]end{{a.lo, a.loOpen}, {a.hi, a.hiOpen}}, [2]end{{b.lo, b.loOpen}, {b.hi, b.hiOpen}}
	var out interval
	for i, p := range as {
		for j, q := range bs {
			e := product(p, q)
			point := interval{e.x, e.x, e.open, e.open}
			if i+j == 0 {
				out = point
			} else {
				out = out.union(point)
			}
		}
	}
	return out
}

// power is a to an integer of at least one.
func (a interval) power(n int) interval {
	up := func(x float64) float64 { return math.Pow(x, float64(n)) }
	switch {
	case n%2 == 1 || a.lo >= 0:
		return interval{up(a.lo), up(a.hi), a.loOpen, a.hiOpen}
	case a.hi <= 0:
		return a.neg().power(n)
	}
	out := interval{0, up(a.hi), false, a.hiOpen}
	if -a.lo > a.hi || -a.lo == a.hi && a.hiOpen {
		out.hi, out.hiOpen = up(a.lo), a.loOpen
	}
	return out
}

func (a interval) reciprocal() interval {
	if a.hasZero() || a.lo < 0 && a.hi > 0 {
		return everything
	}
	at := func(x float64, side float64) float64 {
		if x == 0 {
			return math.Inf(int(side))
		}
		return 1 / x
	}
	if a.lo >= 0 {
		return interval{at(a.hi, 1), at(a.lo, 1), a.hiOpen, a.loOpen}
	}
	return interval{at(a.hi, -1), at(a.lo, -1), a.hiOpen, a.loOpen}
}

func (a interval) max(b interval) interval {
	out := interval{hi: a.hi, hiOpen: a.hiOpen, lo: a.lo, loOpen: a.loOpen}
	if b.lo > a.lo || b.lo == a.lo && b.loOpen {
		out.lo, out.loOpen = b.lo, b.loOpen
	}
	if b.hi > a.hi || b.hi == a.hi && a.hiOpen {
		out.hi, out.hiOpen = b.hi, b.hiOpen
	}
	return out
}

func (a interval) min(b interval) interval { return a.neg().max(b.neg()).neg() }

func (a interval) abs() interval {
	switch {
	case a.lo >= 0:
		return a
	case a.hi <= 0:
		return a.neg()
	}
	out := interval{0, a.hi, false, a.hiOpen}
	if -a.lo > a.hi || -a.lo == a.hi && a.hiOpen {
		out.hi, out.hiOpen = -a.lo, a.loOpen
	}
	return out
}

// rising are the functions that grow with their argument.
var rising = map[ir.Op]bool{ir.Exp: true, ir.Expm1: true, ir.Tanh: true, ir.Sigmoid: true, ir.Softplus: true, ir.Erf: true, ir.Floor: true,
	ir.Log: true, ir.Log1p: true, ir.Sqrt: true}

// rise is the image of a rising function, with its limits at infinity.
func rise(op ir.Op, a interval) interval {
	f := op.Unary()
	least := map[ir.Op]float64{ir.Log: 0, ir.Sqrt: 0, ir.Log1p: -1}
	if x, ok := least[op]; ok && a.lo < x { // below it the function is undefined
		a.lo, a.loOpen = x, false
	}
	at := func(x float64) float64 {
		if op == ir.Softplus && math.IsInf(x, -1) {
			return 0
		}
		return f(x)
	}
	out := interval{at(a.lo), at(a.hi), a.loOpen, a.hiOpen}
	// What rounding takes to a limit does not reach it.
	out.loOpen = out.loOpen || out.lo == at(math.Inf(-1)) && op != ir.Floor
	out.hiOpen = out.hiOpen || out.hi == at(math.Inf(1)) && op != ir.Floor
	return out
}

// unary is the image of a function of one number.
func unary(op ir.Op, a interval) interval {
	switch {
	case op == ir.Stop || op == ir.ToReal || op == ir.Override:
		return a
	case rising[op]:
		return rise(op, a)
	case op == ir.Abs:
		return a.abs()
	case op == ir.Sin || op == ir.Cos || op == ir.Sign:
		return interval{-1, 1, false, false}
	case op == ir.Not:
		return truths
	}
	return everything
}

// binary is the image of a function of two numbers.
func binary(op ir.Op, a, b interval) interval {
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
		return raise(a, b)
	case ir.Mod:
		if b.lo >= 0 {
			return interval{0, b.hi, false, true}
		}
	case ir.Less, ir.LessEq, ir.Equal, ir.And, ir.Or:
		return truths
	}
	return everything
}

// raise is a to the power b.
func raise(a, b interval) interval {
	n := b.lo
	switch {
	case b.isPoint() && n == math.Trunc(n) && 1 <= n && n <= 64:
		return a.power(int(n))
	case b.isPoint() && n > 0 && a.lo >= 0:
		return interval{math.Pow(a.lo, n), math.Pow(a.hi, n), a.loOpen, a.hiOpen}
	case b.isPoint() && n < 0 && a.lo >= 0:
		return raise(a, b.neg()).reciprocal()
	case a.lo >= 0:
		return interval{0, math.Inf(1), false, true}
	}
	return everything
}
