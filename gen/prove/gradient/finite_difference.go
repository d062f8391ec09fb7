package gradient

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// Derivatives are compared with fourth-order central differences
//
//	f'(x) ≈ (8 (f(x+h) − f(x−h)) − (f(x+2h) − f(x−2h))) / 12h
//
// of the program as the page wrote it: not simplified, with relaxed values in place of
// what cannot be differentiated, and with stopped values held constant. Each result is
// differenced before the results are weighted and added, so that the rounding error is
// that of one number.
//
// An entry proves nothing where its difference crosses a kink. Where a comparison fails,
// smaller steps are tried, at last one relative to the entry. The entry is skipped and
// counted where none agrees and either a comparison inside the program takes another
// branch between the ends; or no two steps give the same difference, as close to the
// floor under a norm; or every deviation is within the rounding error of large results.

// steps are the steps h. The last two are for programs that overflow or bend within the
// others.
var steps = []float64{1e-3, 1e-4, 1e-5, 1e-6, 1e-7}

const (
	// kinkStep is the step within which another branch excuses a difference: the least
	// at which differences of a smooth program keep six digits.
	kinkStep = 1e-5
	// relStep is the last step, relative to the entry.
	relStep = 1e-3
	// roundings bounds the rounding error of a difference in units in the last place of
	// the results: two from the difference, the others from the program.
	roundings = 16
	// epsilon is the spacing of float64 at one.
	epsilon = 0x1p-52
	// A derivative and its difference agree within gradAbs, scaled by the gradient's
	// largest entry, plus gradRel of their size.
	gradAbs = 1e-9
	gradRel = 1e-6
)

// A finiteDifference takes differences of one program at one point.
type finiteDifference struct {
	f           *ir.Func
	prog        *interp.Program
	sizes       map[string]int
	params      numeric.Tensors
	weights     numeric.Tensors // of the results that count
	comparisons *interp.Program // compiled on demand
}

func newFiniteDifference(f *ir.Func, sizes map[string]int, params numeric.Tensors) *finiteDifference {
	g, _ := f.Clone()
	relax(g)
	g = holdStopped(g, sizes, params)
	return &finiteDifference{f: g, prog: interp.Compile(g), sizes: sizes, params: params}
}

// central is the difference of Σ w·out at entry i of a parameter, and a bound on its
// rounding error.
func (d *finiteDifference) central(t *interp.Tensor, i int, h float64) (difference, rounding float64) {
	x := t.Data[i]
	at := func(s float64) numeric.Tensors {
		t.Data[i] = x + s
		return d.prog.Run(d.sizes, d.params)
	}
	p1, m1 := at(h), at(-h)
	p2, m2 := at(2*h), at(-2*h)
	t.Data[i] = x
	sum, size := 0.0, 0.0
	for _, r := range d.f.Results {
		w := d.weights[r.Name]
		if w == nil {
			continue
		}
		for k, c := range w.Data {
			a := 8 * (p1[r.Name].Data[k] - m1[r.Name].Data[k])
			b := p2[r.Name].Data[k] - m2[r.Name].Data[k]
			sum += c * (a - b)
			size += math.Abs(c * p1[r.Name].Data[k])
		}
	}
	return sum / (12 * h), roundings * epsilon * size / h
}

// A difference compares one entry of a gradient with its finite difference.
type difference struct {
	value    float64
	err, tol float64
	skipped  bool
}

func (e difference) bad() bool { return !e.skipped && !(e.err <= e.tol) }

// compare compares a gradient by t with finite differences, at most limit entries of it, and
// returns the first entry that differs; ok is false where there is one.
func (d *finiteDifference) compare(ev *proof.Evidence, t, grad *interp.Tensor, limit, round int) (i int, e difference, ok bool) {
	for _, i := range entries(len(t.Data), limit, round) {
		switch e := d.check(t, i, grad.Data[i], numeric.MaxNorm(grad)); {
		case e.bad():
			return i, e, false
		case e.skipped:
			ev.Skipped++
		default:
			ev.Points++
			ev.Worst = math.Max(ev.Worst, gradRel*e.err/e.tol)
		}
	}
	return 0, e, true
}

// entries are the indices of n entries, or of limit of them at even distances.
func entries(n, limit, round int) []int {
	var out []int
	if n <= limit {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	for k := range limit {
		out = append(out, (k*n/limit+round)%n)
	}
	return out
}

// check compares the derivative a at entry i with finite differences; gmax is the largest
// entry of the gradient.
func (d *finiteDifference) check(t *interp.Tensor, i int, a, gmax float64) difference {
	var first, last difference
	h, unstable, rounded := 0.0, true, true
	for k := range len(steps) + 1 {
		if h = relStep * math.Abs(t.Data[i]); k < len(steps) {
			h = steps[k]
		} else if h == 0 {
			break
		}
		var e difference
		var rounding float64
		e.value, rounding = d.central(t, i, h)
		e.err = math.Abs(a - e.value)
		e.tol = gradAbs*math.Max(1, gmax) + gradRel*math.Max(math.Abs(a), math.Abs(e.value))
		if math.IsInf(e.tol, 0) { // an infinity is no tolerance
			e.tol = math.NaN()
		}
		if e.err <= e.tol {
			return e
		}
		if k == 0 || math.IsNaN(first.value) {
			first = e
		}
		unstable = unstable && !math.IsNaN(e.err+e.tol) && (k == 0 || disagree(e.value, last.value))
		rounded = rounded && e.err <= e.tol+rounding
		last = e
	}
	first.skipped = unstable || rounded || d.crossesKink(t, i, 2*kinkStep)
	return first
}

// disagree reports whether two differences are different numbers.
func disagree(a, b float64) bool {
	return math.Abs(a-b) > gradAbs+gradRel*math.Max(math.Abs(a), math.Abs(b))
}

// crossesKink reports whether a comparison inside the program takes another branch at an
// end of a difference than at its centre.
func (d *finiteDifference) crossesKink(t *interp.Tensor, i int, h float64) bool {
	if d.comparisons == nil {
		d.comparisons = interp.Compile(withComparisons(d.f))
	}
	x := t.Data[i]
	defer func() { t.Data[i] = x }()
	var seen numeric.Tensors
	for _, s := range []float64{0, h, -h} {
		t.Data[i] = x + s
		now := d.comparisons.Run(d.sizes, d.params)
		for name, v := range now {
			if seen != nil && !slices.Equal(seen[name].Data, v.Data) {
				return true
			}
		}
		seen = now
	}
	return false
}
