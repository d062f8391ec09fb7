package interp

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
)

// What a program does where two numbers that it compares are equal cannot be
// seen by drawing numbers, and no search finds the place exactly. So a run may
// be told to take numbers for equal that are close: near a tie it then goes the
// way of the tie.

// Ties watches and decides the comparisons of a program outside of its scans and
// searches: lt, le, eq, max2, min2, and abs and sign, which compare with zero.
type Ties struct {
	Within float64 // numbers no farther apart than this are taken for equal
	// Seen, where it is set, sees every comparison, in the same order in every run.
	Seen func(in *ir.Instr, a, b float64)
}

// compares reports whether a primitive asks which of two numbers is larger.
func compares(op ir.Op) bool {
	switch op {
	case ir.Less, ir.LessEq, ir.Equal, ir.Max2, ir.Min2, ir.Abs, ir.Sign:
		return true
	}
	return false
}

// kernel is the loop of a comparison.
func (t *Ties) kernel(in *ir.Instr) func(r *row) {
	vals := make([]float64, len(in.Args))
	return func(r *row) {
		for i := range r.n {
			for k := range vals {
				a := &r.args[k]
				vals[k] = a.data[a.at+i*a.stride]
			}
			other := 0.0
			if len(vals) > 1 {
				other = vals[1]
			}
			if t.Seen != nil {
				t.Seen(in, vals[0], other)
			}
			if math.Abs(vals[0]-other) <= t.Within {
				vals[0] = other
			}
			r.to.data[r.to.at+i*r.to.stride] = Scalar(in, nil, vals)
		}
	}
}
