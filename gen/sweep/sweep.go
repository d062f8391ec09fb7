// Package sweep compiles, proves and runs every legal combination of the knobs and
// reports which of them fail and which degenerate.
//
// A combination makes a Row. It degenerates when within a horizon a number is not
// finite, a state grows without bound or decays to zero, the gates are at the ends of
// their ranges, or the output does not depend on the token. Rows are written to a file
// as they come, under a key of the compiler, the pages and the runs, so that a sweep that
// was stopped continues where it was. The report has all rows in the order of the pages
// and no time.
package sweep

import (
	"fmt"
	"math"
	"strings"
)

// What counts as degenerate, at the end of a horizon. An untrained rule starts
// with entries of the size of one.
const (
	StateBound    = 1e3   // root mean square of a state's entries above which it is unbounded
	StateFloor    = 1e-12 // below which it is zero: what decays there in a thousand tokens never comes back
	GateNear      = 1e-3  // so close to an end of its range a gate is saturated
	SaturatedFrom = 0.9   // share of a gate's values from which the gate counts as saturated
	ConstantBelow = 1e-12 // an output's deviation from its mean, by its size, below which it is constant
	Falsified     = 0.2   // share of degenerate combinations above which the knobs are not orthogonal
)

// A Horizon describes a run of a rule from its first states.
type Horizon struct {
	Steps  int
	Finite bool
	State  float64 // largest root mean square of a state
	Zero   string  // a state that is zero, or ""
	Gate   string  // the gate with the largest share of saturated values
	Share  float64 // that share
	Output float64 // root mean square of the output
	Spread float64 // of its deviation from the mean over tokens
}

// Degenerate names the way in which a horizon degenerates, or is "".
func (h Horizon) Degenerate() string {
	switch {
	case !h.Finite:
		return "not finite"
	case !(h.State <= StateBound):
		return "state unbounded"
	case h.Zero != "":
		return "state " + h.Zero + " is zero"
	case h.Gate != "" && !(h.Share < SaturatedFrom):
		return "gate " + h.Gate + " saturated"
	case !(h.Spread > ConstantBelow*math.Max(h.Output, math.SmallestNonzeroFloat64)):
		return "output constant"
	}
	return ""
}

// A Row is the result for one combination.
type Row struct {
	Key      string
	Knobs    []string // structure, bias, retention, algorithm
	Over     string
	Problem  string // the code of why it does not compile or its proof fails, or ""
	Fact     string // the text of the message
	Unstable bool   // the proof's own points, which are far from any start, gave no numbers
	Proved   int    // verdicts of the proof
	Tested   int
	Points   int     // entries of gradients compared
	Worst    float64 // the largest error of a gradient, in units of the gradient's size
	Horizons []Horizon
}

// Degenerate names the way in which a row degenerates and the horizon, or is "".
func (r Row) Degenerate() string {
	for _, h := range r.Horizons {
		if d := h.Degenerate(); d != "" {
			return fmt.Sprintf("%s within %d steps", d, h.Steps)
		}
	}
	return ""
}

// Name is the combination as a formula.
func (r Row) Name() string { return strings.Join(r.Knobs, " + ") }

// A Summary counts rows.
type Summary struct {
	Combinations int // of all knobs
	Legal        int // of them
	Rows         []Row
}

// Failed counts the rows that do not compile or whose proof fails.
func (s Summary) Failed() int { return s.count(func(r Row) bool { return r.Problem != "" }) }

// Degenerate counts the degenerate rows.
func (s Summary) Degenerate() int { return s.count(func(r Row) bool { return r.Degenerate() != "" }) }

// Share is the share of degenerate rows.
func (s Summary) Share() float64 {
	return float64(s.Degenerate()) / math.Max(1, float64(len(s.Rows)))
}

// Verdict states the share and its consequence in a sentence.
func (s Summary) Verdict() string {
	text := fmt.Sprintf("%d of %d combinations degenerate, %.1f %%", s.Degenerate(), len(s.Rows), 100*s.Share())
	if s.Share() > Falsified {
		return text + fmt.Sprintf(": more than %.0f %%, which falsifies the claim that the knobs are orthogonal", 100*Falsified)
	}
	return text + fmt.Sprintf(": at most %.0f %%, so the claim that the knobs are orthogonal holds", 100*Falsified)
}

func (s Summary) count(f func(Row) bool) int {
	n := 0
	for _, r := range s.Rows {
		if f(r) {
			n++
		}
	}
	return n
}
