package gradient

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
)

// Derivatives are compared with fourth-order central differences of the
// program itself, as the page wrote it: not simplified, with what `relax` says
// in place of what cannot be differentiated and with stopped values held. The differences are taken
// result by result before they are weighted and added, which keeps their
// rounding at that of one number.
//
// An entry whose difference straddles a kink proves nothing. Where a comparison
// fails, a smaller distance is tried, at last one that is small beside the
// entry itself; where none agrees, the program tells which way every comparison
// inside it went, and if the two ends disagree even then, the entry is skipped
// and counted. So is one at which no two distances give the same difference: a
// program that divides by a norm near its floor turns faster than any of them.
// And so is one where every deviation is within the rounding of results so large
// that a difference of them has no digits left.

// steps are the distances of the difference. The last two are for programs that
// overflow or turn within the others.
var steps = []float64{1e-3, 1e-4, 1e-5, 1e-6, 1e-7}

// kinkStep is the distance at which a comparison that goes another way excuses a
// difference: the least at which differences of a smooth program keep six digits.
const kinkStep = 1e-5

// relStep is the last distance, by the size of the entry.
const relStep = 1e-3

// roundings is how many units in the last place of its results a difference may
// be off: two from taking it, the others from the program's own.
const roundings = 16

// epsilon is the spacing of float64 at one.
const epsilon = 0x1p-52

// A finiteDifference takes differences of one program at one point.
type finiteDifference struct {
	f       *ir.Func
	prog    *interp.Program
	sizes   map[string]int
	params  numeric.Tensors
	weights numeric.Tensors // of the results that count
	choices *interp.Program // made when it is needed
}

func newFiniteDifference(f *ir.Func, sizes map[string]int, params numeric.Tensors) *finiteDifference {
	g := holdStopped(withRelaxed(f), sizes, params)
	return &finiteDifference{f: g, prog: interp.Compile(g), sizes: sizes, params: params}
}

// central is Σ w·dout/dx at entry i of a parameter, and what its rounding can
// amount to.
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

// A verdict on one entry.
type difference struct {
	value    float64
	err, tol float64
	skipped  bool
}

func (e difference) bad() bool { return !e.skipped && !(e.err <= e.tol) }

// check holds a derivative to differences; gmax is the largest entry of the
// gradient.
func (d *finiteDifference) check(t *interp.Tensor, i int, a, gmax float64) difference {
	var first, last difference
	h, wild, drowned := 0.0, true, true
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
		wild = wild && !math.IsNaN(e.err+e.tol) && (k == 0 || disagree(e.value, last.value))
		drowned = drowned && e.err <= e.tol+rounding
		last = e
	}
	first.skipped = wild || drowned || d.crossesKink(t, i, 2*kinkStep)
	return first
}

// disagree reports whether two differences are no one number.
func disagree(a, b float64) bool {
	return math.Abs(a-b) > gradAbs+gradRel*math.Max(math.Abs(a), math.Abs(b))
}

// crossesKink reports whether any comparison inside the program goes another way
// at the two ends of a difference, or at its middle.
func (d *finiteDifference) crossesKink(t *interp.Tensor, i int, h float64) bool {
	if d.choices == nil {
		d.choices = interp.Compile(withComparisons(d.f))
	}
	x := t.Data[i]
	defer func() { t.Data[i] = x }()
	var seen numeric.Tensors
	for _, s := range []float64{0, h, -h} {
		t.Data[i] = x + s
		now := d.choices.Run(d.sizes, d.params)
		for name, v := range now {
			if seen != nil && !slices.Equal(seen[name].Data, v.Data) {
				return true
			}
		}
		seen = now
	}
	return false
}

const gradAbs = 1e-9 // a derivative against a fourth-order difference …

const gradRel = 1e-6 // … by the size of the gradient, and of the entry
