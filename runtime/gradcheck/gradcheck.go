// Package gradcheck compares gradients with finite differences.
//
// An entry a of an analytic gradient is right if
//
//	|a − f| ≤ 1e-9·max(1, ‖g‖∞) + 1e-6·max(|a|, |f|)
//
// where f is the finite difference and ‖g‖∞ its largest finite entry. The
// comparison is written !(err <= tol), so that a NaN fails; taken from the
// differences, the norm cannot be blown up by a wrong analytic entry.
//
// The difference is central with one Richardson step, (4·D(h/2) − D(h))/3,
// whose error falls with h⁴. The first step 1e-3·max(1, |x|) is usually within
// 1e-10. Where it disagrees with the analytic value, steps from 1e-2 to 1e-6
// are taken, and the estimate on which two neighbouring steps agree best is
// used, independently of the analytic value. If even those two agree only
// to worse than the tolerance and the error is no larger than ten times their
// disagreement, the difference proves nothing (a kink is within some steps):
// the entry is skipped, counted and reported. More than a fifth skipped fails.
// An entry closer to a kink than all steps, 5e-7, fails: move the point.
package gradcheck

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/runtime/num"
)

// The tolerances of the criterion.
const (
	absTol = 1e-9 // times max(1, ‖g‖∞): the noise of a difference
	relTol = 1e-6 // far below a wrong term of the size of a learning rate
)

const (
	maxSkipped = 0.2 // of all entries; above it the check says nothing
	rough      = 10  // errors up to this many times the disagreement prove nothing
)

// lengthMismatch is the panic message for x and analytic of different lengths.
const lengthMismatch = "gradcheck: x and the analytic gradient differ in length"

// steps are the step sizes in the order in which they are tried, relative to max(1, |x|).
var steps = [...]float64{1e-2, 1e-3, 1e-4, 1e-5, 1e-6}

const firstStep = 1 // of steps

// An Entry is one compared number.
type Entry struct {
	Index                 int
	Analytic, Numeric     float64
	Err, Tol, Uncertainty float64 // |a − f|; allowed; disagreement of two steps, 0 if one sufficed
}

// A Report is the outcome of one check.
type Report struct {
	Name    string
	Entries int
	Passed  int
	Failed  []Entry
	Skipped []Entry
	Worst   Entry   // the largest Err/Tol among those passed or failed
	Norm    float64 // ‖g‖∞ of the differences
}

// Check compares the analytic gradient of f at x with finite differences, all
// of it. f reads x, which Check changes and restores, and must return the same
// value for the same x. Check panics where lengths differ.
func Check(name string, f func() float64, x, analytic []float64) Report {
	index := make([]int, len(x))
	for i := range index {
		index[i] = i
	}
	return CheckAt(name, f, x, analytic, index)
}

// CheckAt is Check for some entries of x only. ‖g‖∞ is then theirs.
func CheckAt(name string, f func() float64, x, analytic []float64, index []int) Report {
	if len(x) != len(analytic) {
		panic(lengthMismatch)
	}
	r := Report{Name: name, Entries: len(index)}
	entries := make([]Entry, len(index))
	for k, i := range index {
		e := Entry{Index: i, Analytic: analytic[i], Numeric: difference(f, &x[i], steps[firstStep])}
		if !(math.Abs(e.Analytic-e.Numeric) <= tolerance(e, 0)) {
			e.Numeric, e.Uncertainty = careful(f, &x[i])
		}
		if num.IsFinite(e.Numeric) {
			r.Norm = max(r.Norm, math.Abs(e.Numeric))
		}
		entries[k] = e
	}
	for _, e := range entries {
		r.judge(e)
	}
	return r
}

// tolerance is the criterion's right side. An infinite entry has a tolerance
// of 0, so that it cannot excuse itself.
func tolerance(e Entry, norm float64) float64 {
	if !num.IsFinite(e.Analytic) || !num.IsFinite(e.Numeric) {
		return 0
	}
	return absTol*max(1, norm) + relTol*max(math.Abs(e.Analytic), math.Abs(e.Numeric))
}

func (r *Report) judge(e Entry) {
	e.Err = math.Abs(e.Analytic - e.Numeric)
	e.Tol = tolerance(e, r.Norm)
	ok := e.Err <= e.Tol
	if !ok && e.Uncertainty > e.Tol && e.Err <= rough*e.Uncertainty && e.Tol > 0 {
		r.Skipped = append(r.Skipped, e)
		return
	}
	if ok {
		r.Passed++
	} else {
		r.Failed = append(r.Failed, e)
	}
	if r.Passed+len(r.Failed) == 1 || !(e.Err/e.Tol <= r.Worst.Err/r.Worst.Tol) {
		r.Worst = e
	}
}

// difference returns the central difference at *x with a Richardson step. The
// distances are those that the rounded arguments really have.
func difference(f func() float64, x *float64, step float64) float64 {
	at := *x
	defer func() { *x = at }()
	slope := func(h float64) float64 {
		hi, lo := at+h, at-h
		*x = hi
		up := f()
		*x = lo
		down := f()
		return (up - down) / (hi - lo)
	}
	h := step * max(1, math.Abs(at))
	whole, half := slope(h), slope(h/2)
	return half + (half-whole)/3
}

// careful tries every step and returns the estimate of the two neighbours that
// agree best, and their disagreement.
func careful(f func() float64, x *float64) (value, disagreement float64) {
	disagreement = math.Inf(1)
	value = math.NaN()
	last := math.NaN()
	for _, s := range steps {
		d := difference(f, x, s)
		if gap := math.Abs(d - last); gap < disagreement {
			value, disagreement = d, gap
		}
		last = d
	}
	return value, disagreement
}

// Err returns an error that names the worst entries, or nil if every entry
// passed or was skipped, at least one passed, and at most a fifth was skipped.
func (r Report) Err() error {
	switch {
	case len(r.Failed) > 0:
		return fmt.Errorf("gradcheck: %s", r)
	case float64(len(r.Skipped)) > maxSkipped*float64(r.Entries):
		return fmt.Errorf("gradcheck: %s: too many skipped", r)
	}
	return nil
}

// String prints the counts, the worst entry and the first failures.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d entries, %d passed, %d failed, %d skipped, ‖g‖∞ %.3g", r.Name, r.Entries, r.Passed, len(r.Failed), len(r.Skipped), r.Norm)
	if r.Entries > len(r.Skipped) {
		fmt.Fprintf(&b, ", worst at %.2g of the tolerance", r.Worst.Err/r.Worst.Tol)
	}
	const shown = 3
	for _, e := range r.Failed[:min(shown, len(r.Failed))] {
		fmt.Fprintf(&b, "; [%d] analytic %.12g, difference %.12g, off by %.3g, allowed %.3g", e.Index, e.Analytic, e.Numeric, e.Err, e.Tol)
	}
	return b.String()
}
