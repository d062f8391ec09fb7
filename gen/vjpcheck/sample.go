package vjpcheck

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
)

// Points: sizes and values at which programs are compared.

// A distribution chooses the values of a point. The first one has small integers, so that
// a counterexample can be checked by hand.
type distribution struct {
	name     string
	ordinary bool // its values are of the size of one
	pick     func(r *rand.Rand, k int) float64
}

var distributions = []distribution{
	{"small numbers", true, func(_ *rand.Rand, k int) float64 { return []float64{2, 1, -1, 3, -2, 0.5, -3, 4}[k%8] }},
	{"positive", true, func(r *rand.Rand, _ int) float64 { return 0.1 + 2*r.Float64() }},
	{"normal", true, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	{"normal", true, func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	{"fractions", true, func(r *rand.Rand, _ int) float64 { return 0.05 + 0.2*r.Float64() }},
	{"large", true, func(r *rand.Rand, _ int) float64 { return 3 * r.NormFloat64() }},
	{"tiny", false, func(r *rand.Rand, _ int) float64 { return 1e-9 * (0.5 + r.Float64()) }},
	{"zero", false, func(_ *rand.Rand, _ int) float64 { return 0 }},
}

// seed makes the points the same in every run.
const seed = 20

// points calls f for the points of a model, small sizes first, until it
// returns false.
func (m *model) points(f func(at *point, kind distribution) bool) {
	axes := m.axes()
	r := rand.New(rand.NewPCG(seed, seed))
	for _, sizes := range choices(len(axes)) {
		at := map[string]int{}
		for i, a := range axes {
			at[a] = sizes[i]
		}
		if !m.possible(at) {
			continue
		}
		for _, k := range distributions {
			if !f(m.point(at, k, r), k) {
				return
			}
		}
	}
}

// axes are all axes of the entry's values, sorted.
func (m *model) axes() []string {
	var out []string
	for _, n := range slices.Sorted(keys(m.types)) {
		for _, a := range m.types[n].axes {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	for _, x := range m.ranges {
		if x.window != "" && !slices.Contains(out, x.window) {
			out = append(out, x.window)
		}
	}
	slices.Sort(out)
	return out
}

// possible reports whether all windows fit into their axes and all fixed positions exist.
func (m *model) possible(sizes map[string]int) bool {
	for a, n := range m.least {
		if sizes[a] < n {
			return false
		}
	}
	for _, x := range m.ranges {
		if x.window != "" && sizes[x.axis] < sizes[x.window] {
			return false
		}
	}
	return true
}

// choices are sizes for n axes: all combinations of ones and twos, ordered by their
// product, then some larger sizes that differ from axis to axis.
func choices(n int) [][]int {
	var out [][]int
	for bits := range 1 << min(n, 4) {
		c := make([]int, n)
		for i := range c {
			c[i] = 1
			if i < 4 && bits>>(n-1-i)&1 == 1 {
				c[i] = 2
			}
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b []int) int { return product(a) - product(b) })
	for _, base := range [][]int{{3, 2, 4, 5}, {2, 4, 3, 2}, {5, 3, 2, 4}} {
		c := make([]int, n)
		for i := range c {
			c[i] = base[i%len(base)]
		}
		out = append(out, c)
	}
	if n == 0 {
		return out[:1]
	}
	return out
}

func product(a []int) int {
	p := 1
	for _, x := range a {
		p *= x
	}
	return p
}

// point chooses values: inputs by the distribution, positive constants, and positions
// inside their range.
func (m *model) point(sizes map[string]int, kind distribution, r *rand.Rand) *point {
	at := &point{sizes: sizes, vals: map[string]*interp.Tensor{}}
	count := 0
	for _, n := range slices.Sorted(keys(m.types)) {
		x := m.types[n]
		if m.e.steps[n] != nil || n == resultName {
			continue
		}
		var shape []int
		for _, a := range x.axes {
			shape = append(shape, sizes[a])
		}
		v := interp.NewTensor(shape...)
		for i := range v.Data {
			v.Data[i] = m.number(n, x, kind, r, sizes, count)
			count++
		}
		at.vals[n] = v
	}
	return at
}

func (m *model) number(n string, x typ, kind distribution, r *rand.Rand, sizes map[string]int, count int) float64 {
	switch {
	case x.elem == integer:
		to := m.ranges[n]
		size := sizes[to.axis]
		if to.window != "" {
			size += 1 - sizes[to.window]
		}
		return float64(r.IntN(max(size, 1)))
	case n == "d_"+resultName && kind.name != distributions[0].name:
		return r.NormFloat64()
	case n == "d_"+resultName:
		return distributions[0].pick(r, count+2)
	case m.positive[n]:
		return math.Abs(kind.pick(r, count))
	case m.e.hasAdjoint(n):
		return kind.pick(r, count)
	case kind.name == distributions[0].name:
		return []float64{0.5, 2, 3}[count%3]
	}
	return math.Exp(r.NormFloat64())
}
