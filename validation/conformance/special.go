package conformance

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
)

// specials are numbers at which an elementary function changes its way, or a
// comparison or a rounding has its own rule.
var specials = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	0x1p-149, -0x1p-149, 0x1p-127, -0x1p-126, math.MaxFloat32, -math.MaxFloat32, 88.75, 89.5, -87.5, -103.5, -105,
	0.35, -0.35, 1, -1, 0.5, math.Sqrt2, 0x1p-24, -0x1p24, 17, -17, 2.5, -3.5, 1e-10, 1e20, math.Ln2}

// mostEntries is the largest size of the cases with special numbers: some
// whole vectors of every level, and every rest.
const mostEntries = 70

// special compares the levels of an operation at every size up to mostEntries:
// with special numbers everywhere, and with one among ordinary ones.
func (o Op) special(t *testing.T, c *vectorCase) {
	for n := 1; n <= mostEntries; n++ {
		z := Sizes{}
		for name := range c.sizes {
			z[name] = n
		}
		z["L"] = 1
		of := func(name string) *num.Stream { return num.NewStream(name, uint64(n)) }
		change := func(name string, x []float32) {
			s := of(name)
			for i := range x {
				x[i] = specials[s.Next()%uint64(len(specials))]
			}
		}
		if n%2 == 0 {
			change = func(name string, x []float32) {
				s := of(name)
				x[s.Next()%uint64(len(x))] = specials[s.Next()%uint64(len(specials))]
			}
		}
		o.tryLevels(t, z, uint64(n), change)
	}
}

// levels compares the levels of an update: the numbers of a case, as many as
// vectors and their rests hold.
func (u Update) levels(t *testing.T, c *vectorCase) {
	if u.Matrix != [2]string{} {
		for _, shape := range [][2]int{{1, 1}, {2, 17}, {16, 33}, {31, 8}, {33, 7}, {40, 1}} {
			u.atLevels(t, c, shape[0]*shape[1], map[string]int{u.Matrix[0]: shape[0], u.Matrix[1]: shape[1]})
		}
		return
	}
	for _, n := range []int{1, 7, 8, 15, 16, 17, 31, 33, 64, 70} {
		u.atLevels(t, c, n, nil)
	}
}

func (u Update) atLevels(t *testing.T, c *vectorCase, n int, sizes map[string]int) {
	first := args[float32](t, c)
	step(u.F32, first)
	entries := 0
	for _, x := range first.Outs {
		entries = len(x)
	}
	what := fmt.Sprintf("%s with %d entries", c.name, n)
	atLevels(t, what, func() map[string][]float32 {
		a := args[float32](t, c)
		a.Sizes = maps.Clone(a.Sizes)
		maps.Copy(a.Sizes, sizes)
		for name, x := range a.In {
			if len(x) == entries {
				a.In[name] = slices.Repeat(x, n/len(x)+1)[:n]
			}
		}
		step(u.F32, a)
		return a.Outs
	})
}
