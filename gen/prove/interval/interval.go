// Package interval finds the ranges of the values of a program by interval
// arithmetic (Moore, Interval Analysis, 1966): the ends of what an operation can
// return follow from the ends of its arguments.
//
// An end that is not reached is open, so that the logistic function has the image
// (0, 1). Ends are float64 and are not rounded outward, since the numbers of a page are
// not either: a comparison of two ends allows a few roundings.
package interval

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/notation"
)

// An Interval is the set of numbers between two ends.
type Interval struct {
	Lo, Hi         float64
	LoOpen, HiOpen bool
}

// Everything is the whole real line.
var Everything = Interval{math.Inf(-1), math.Inf(1), true, true}

func point(x float64) Interval { return Interval{x, x, false, false} }

// Declared is the range that a type declares, Everything for a type that is no range.
func Declared(t *notation.Type) Interval {
	iv := Everything
	if t == nil || t.Kind != notation.RangeType {
		return iv
	}
	if lo, ok := bound(t.Lo); ok {
		iv.Lo, iv.LoOpen = lo, t.LoOpen
	}
	if hi, ok := bound(t.Hi); ok {
		iv.Hi, iv.HiOpen = hi, t.HiOpen
	}
	return iv
}

// bound is the number at one end of a declared range; ok is false where there is none.
func bound(e notation.Expr) (float64, bool) {
	if e == nil {
		return 0, false
	}
	x, ok := notation.Constant(e)
	return x, ok && !math.IsInf(x, 0)
}

func (a Interval) String() string {
	l, r := "[", "]"
	if a.LoOpen {
		l = "("
	}
	if a.HiOpen {
		r = ")"
	}
	return fmt.Sprintf("%s%s, %s%s", l, endText(a.Lo), endText(a.Hi), r)
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

// Inside reports whether a is a subset of b.
func (a Interval) Inside(b Interval) bool {
	return above(a.Lo, b.Lo, b.LoOpen && !a.LoOpen) && above(-a.Hi, -b.Hi, b.HiOpen && !a.HiOpen)
}

// above reports whether x is above an end, or at the end where it is not excluded.
func above(x, end float64, excluded bool) bool {
	switch {
	case math.IsInf(end, 0):
		return x >= end
	case excluded:
		return x > end
	}
	return x >= end-endTol*math.Abs(end)
}

func (a Interval) hasZero() bool {
	return (a.Lo < 0 || a.Lo == 0 && !a.LoOpen) && (a.Hi > 0 || a.Hi == 0 && !a.HiOpen)
}

func (a Interval) isPoint() bool { return a.Lo == a.Hi }

func (a Interval) neg() Interval { return Interval{-a.Hi, -a.Lo, a.HiOpen, a.LoOpen} }

func (a Interval) add(b Interval) Interval {
	return Interval{a.Lo + b.Lo, a.Hi + b.Hi, a.LoOpen || b.LoOpen, a.HiOpen || b.HiOpen}
}

// hull is the smallest interval that contains both.
func (a Interval) hull(b Interval) Interval {
	if b.Lo < a.Lo || b.Lo == a.Lo && a.LoOpen {
		a.Lo, a.LoOpen = b.Lo, b.LoOpen
	}
	if b.Hi > a.Hi || b.Hi == a.Hi && a.HiOpen {
		a.Hi, a.HiOpen = b.Hi, b.HiOpen
	}
	return a
}

// mul takes the least and the greatest product of ends. Zero times an infinite end is
// zero.
func (a Interval) mul(b Interval) Interval {
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
	as, bs := [2]end{{a.Lo, a.LoOpen}, {a.Hi, a.HiOpen}}, [2]end{{b.Lo, b.LoOpen}, {b.Hi, b.HiOpen}}
	var out Interval
	for i, p := range as {
		for j, q := range bs {
			e := product(p, q)
			point := Interval{e.x, e.x, e.open, e.open}
			if i+j == 0 {
				out = point
			} else {
				out = out.hull(point)
			}
		}
	}
	return out
}

// power is a to the power of an integer n ≥ 1.
func (a Interval) power(n int) Interval {
	up := func(x float64) float64 { return math.Pow(x, float64(n)) }
	switch {
	case n%2 == 1 || a.Lo >= 0:
		return Interval{up(a.Lo), up(a.Hi), a.LoOpen, a.HiOpen}
	case a.Hi <= 0:
		return a.neg().power(n)
	}
	out := Interval{0, up(a.Hi), false, a.HiOpen}
	if -a.Lo > a.Hi || -a.Lo == a.Hi && a.HiOpen {
		out.Hi, out.HiOpen = up(a.Lo), a.LoOpen
	}
	return out
}

func (a Interval) reciprocal() Interval {
	if a.hasZero() || a.Lo < 0 && a.Hi > 0 {
		return Everything
	}
	at := func(x float64, side float64) float64 {
		if x == 0 {
			return math.Inf(int(side))
		}
		return 1 / x
	}
	if a.Lo >= 0 {
		return Interval{at(a.Hi, 1), at(a.Lo, 1), a.HiOpen, a.LoOpen}
	}
	return Interval{at(a.Hi, -1), at(a.Lo, -1), a.HiOpen, a.LoOpen}
}

func (a Interval) max(b Interval) Interval {
	out := Interval{Hi: a.Hi, HiOpen: a.HiOpen, Lo: a.Lo, LoOpen: a.LoOpen}
	if b.Lo > a.Lo || b.Lo == a.Lo && b.LoOpen {
		out.Lo, out.LoOpen = b.Lo, b.LoOpen
	}
	if b.Hi > a.Hi || b.Hi == a.Hi && a.HiOpen {
		out.Hi, out.HiOpen = b.Hi, b.HiOpen
	}
	return out
}

func (a Interval) min(b Interval) Interval { return a.neg().max(b.neg()).neg() }

func (a Interval) abs() Interval {
	switch {
	case a.Lo >= 0:
		return a
	case a.Hi <= 0:
		return a.neg()
	}
	out := Interval{0, a.Hi, false, a.HiOpen}
	if -a.Lo > a.Hi || -a.Lo == a.Hi && a.HiOpen {
		out.Hi, out.HiOpen = -a.Lo, a.LoOpen
	}
	return out
}

const endTol = 1e-15 // two ends of intervals: a few roundings
