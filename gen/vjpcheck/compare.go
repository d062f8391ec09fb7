package vjpcheck

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/interp"
)

// Comparison of a printed line with the derived adjoint at the points of a model.

// tolerance of the comparison, relative to the largest entry of both sides:
// both are evaluated in float64 and differ in the order of their operations.
const (
	tolerance    = 1e-9
	cancellation = 1e-14 // of the upstream adjoint: a few roundings of terms of its size
)

// A tally counts the results of a comparison over points.
type tally struct {
	agree, differ, undefined int
	worst                    *counterexample
	undefinedAt              *point // where the forward has a value and no derivative
	constant                 bool   // the derivative is zero at every point
	ordinary                 int    // of the points that differ, those whose values are not tiny
}

// A counterexample is a point at which a line is wrong.
type counterexample struct {
	model            *model
	at               *point
	entry            int
	label            string
	printed, derived float64
	printedT         *interp.Tensor
}

// compare compares a line with the derived adjoint at all points of a model, with some
// values held fixed. Points at which finite differences do not confirm the derivative are
// skipped.
func (m *model) compare(l *builtLine, fixed map[string]float64) *tally {
	t := &tally{constant: true}
	whole := m.programOf(l.of)
	m.points(func(at *point, kind distribution) bool {
		for n, x := range fixed {
			fill(at.vals[n], x)
		}
		if !m.complete(at) {
			return true
		}
		seed := at.vals["d_"+resultName]
		derived := whole.adjoint(at, l.of, seed)
		if !finite(derived) {
			t.undefined++
			if t.undefinedAt == nil && kind.name == "zero" {
				t.undefinedAt = at
			}
			return true
		}
		printed := l.prog.run(at)
		worst, ok := worstEntry(printed, derived, seed)
		if ok {
			t.constant = t.constant && largest(derived) == 0
			t.agree++
			return true
		}
		if !whole.confirmsDifferences(at, l.of, seed, derived) {
			return true // a corner
		}
		t.constant = t.constant && largest(derived) == 0
		t.differ++
		if kind.ordinary {
			t.ordinary++
		}
		if t.worst == nil {
			t.worst = &counterexample{model: m, at: at, entry: worst, label: l.label, printed: printed.Data[worst],
				derived: derived.Data[worst], printedT: printed}
		}
		return true
	})
	t.constant = t.constant && t.agree+t.differ > 0
	return t
}

// complete adds the values that follow from the inputs: the intermediate values, the
// result, and the adjoints of all values that lines define. It reports whether the forward
// has a value here.
func (m *model) complete(at *point) bool {
	for n, p := range m.values {
		at.vals[n] = p.run(at)
		if !finite(at.vals[n]) {
			return false
		}
	}
	at.vals[resultName] = m.fwd.run(at)
	if !finite(at.vals[resultName]) {
		return false
	}
	for _, l := range m.e.lines {
		if _, ok := m.types[l.of]; ok && at.vals[l.of] != nil {
			at.vals["d_"+l.of] = m.programOf(l.of).adjoint(at, l.of, at.vals["d_"+resultName])
		}
	}
	return true
}

func fill(t *interp.Tensor, x float64) {
	for i := range t.Data {
		t.Data[i] = x
	}
}

func largest(t *interp.Tensor) float64 {
	m := 0.0
	for _, x := range t.Data {
		m = max(m, math.Abs(x))
	}
	return m
}

// worstEntry returns the entry with the largest difference, and whether all are close. A
// sum that cancels is measured against the upstream adjoint.
func worstEntry(a, b, seed *interp.Tensor) (worst int, ok bool) {
	near := tolerance*max(largest(a), largest(b)) + cancellation*largest(seed)
	ok, off := true, -1.0
	for i := range a.Data {
		d := math.Abs(a.Data[i] - b.Data[i])
		if !(d <= near) { // NaN is off
			ok = false
			if !(d <= off) {
				worst, off = i, d
			}
		}
	}
	return worst, ok
}

// compareForms returns the first point at which two forms of the forward differ, or nil.
func (m *model) compareForms() *counterexample {
	var found *counterexample
	m.points(func(at *point, _ distribution) bool {
		y := m.fwd.run(at)
		if !finite(y) {
			return true
		}
		for _, c := range m.checks {
			z := c.run(at)
			if worst, ok := worstEntry(z, y, y); !ok {
				found = &counterexample{model: m, at: at, entry: worst, label: m.e.result, printed: z.Data[worst], derived: y.Data[worst], printedT: z}
				return false
			}
		}
		return true
	})
	return found
}

// String prints a counterexample: sizes, both numbers, then the values.
func (c *counterexample) String() string {
	var b strings.Builder
	var sizes []string
	for _, a := range slices.Sorted(maps.Keys(c.at.sizes)) {
		sizes = append(sizes, fmt.Sprintf("%s=%d", a, c.at.sizes[a]))
	}
	if len(sizes) > 0 {
		fmt.Fprintf(&b, "%s: ", strings.Join(sizes, " "))
	}
	fmt.Fprintf(&b, "%s%s = %s, derived %s, at %s", c.label, position(c.printedT.Shape, c.entry), short(c.printed), short(c.derived),
		strings.Join(c.values(), " "))
	return b.String()
}

// values are those of the inputs and of the upstream adjoint.
func (c *counterexample) values() []string {
	var out []string
	names := slices.Concat(c.model.e.inputNames(), []string{"d_" + resultName})
	for _, n := range names {
		if v := c.at.vals[n]; v != nil {
			out = append(out, n+"="+text(v))
		}
	}
	return out
}

func position(shape []int, entry int) string {
	if len(shape) == 0 {
		return ""
	}
	at := make([]string, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		at[i] = fmt.Sprint(entry % shape[i])
		entry /= shape[i]
	}
	return "[" + strings.Join(at, ",") + "]"
}

func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// text prints a tensor: a number, or its entries in a row.
func text(t *interp.Tensor) string {
	const most = 8
	if len(t.Shape) == 0 {
		return short(t.Data[0])
	}
	var out []string
	for i, x := range t.Data {
		if i == most {
			out = append(out, "…")
			break
		}
		out = append(out, short(x))
	}
	return "[" + strings.Join(out, " ") + "]"
}
