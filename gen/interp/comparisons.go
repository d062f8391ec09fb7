package interp

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Random numbers never make two compared values equal, and no line search finds such a
// point exactly. So a run may treat numbers as equal that are close, and then takes the
// branch of equality.

// Comparisons observes and decides the comparisons of a program outside of its scans and
// root searches: lt, le, eq, max2, min2, and abs and sign, which compare with zero.
type Comparisons struct {
	Within float64 // numbers no farther apart than this are treated as equal
	// Observe, where it is set, receives every comparison, in the same order in every run.
	Observe func(in *ir.Instr, a, b float64)
}

// isComparison reports whether a primitive compares two numbers, or one with zero.
func isComparison(op ir.Op) bool {
	switch op {
	case ir.Less, ir.LessEq, ir.Equal, ir.Max2, ir.Min2, ir.Abs, ir.Sign:
		return true
	}
	return false
}

// loop is the innermost loop of a comparison.
func (t *Comparisons) loop(in *ir.Instr) func(r *row) {
	return pointwise(in, func(vals []float64) float64 {
		other := 0.0
		if len(vals) > 1 {
			other = vals[1]
		}
		if t.Observe != nil {
			t.Observe(in, vals[0], other)
		}
		if math.Abs(vals[0]-other) <= t.Within {
			vals[0] = other
		}
		return Scalar(in, nil, vals)
	})
}
