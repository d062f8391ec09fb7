package prove

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Tolerances. Every comparison is written so that a NaN fails.
const (
	claimTol    = 1e-9  // two formulas in float64, by the larger side's norm
	wideTol     = 1e-14 // two formulas in double-double: their coefficients are float64 numbers, and each summand has a few
	exactTol    = 1e-12 // two orders of the same sums
	simplifyTol = 1e-10 // a program against its simplified form
	lostTol     = 1e-6  // what rounding may do to a result, in float64
	gradAbs     = 1e-9  // a derivative against a fourth-order difference …
	gradRel     = 1e-6  // … by the size of the gradient, and of the entry
	invTol      = 1e-9  // an equality after any number of steps
	rangeTol    = 1e-12 // an inequality
	endTol      = 1e-15 // two ends of intervals: a few roundings
	tinyScale   = 1e-3  // sides smaller than this are compared absolutely
	wideScale   = 1e-6  // the same in double-double …
	rowScale    = 1     // … where rows were drawn on a sphere or a simplex, on which they lie up to float64
	maxSkipped  = 0.2   // at most this share of entries may lie at kinks
)

// A worst is the largest error of a comparison and where it is.
type worst struct {
	err   float64 // in units of the scale
	at    []int
	a, b  float64
	found bool
}

// compare is the largest |a − b| over scale, which is the norm of both.
func compare(a, b *interp.Tensor) worst {
	scale := math.Max(norm(a), norm(b))
	return compareBy(a, b, math.Max(scale, tinyScale))
}

func compareBy(a, b *interp.Tensor, scale float64) worst {
	var w worst
	for i := range a.Data {
		err := math.Abs(a.Data[i]-b.Data[i]) / scale
		if same(a.Data[i], b.Data[i]) {
			err = 0
		}
		if !(err <= w.err) || !w.found {
			w = worst{err, index(a.Shape, i), a.Data[i], b.Data[i], true}
		}
		if err != err {
			break
		}
	}
	return w
}

// compareWide is compare for double-double numbers, by a scale of at least so much.
func compareWide(a, b *interp.Wides, scale float64) worst {
	for _, x := range slices.Concat(a.Data, b.Data) {
		scale = math.Max(scale, math.Abs(x.Hi))
	}
	var w worst
	for i, x := range a.Data {
		y := b.Data[i]
		err := math.Abs(x.Sub(y).Hi) / scale
		if x == y {
			err = 0
		}
		if !(err <= w.err) || !w.found {
			w = worst{err, index(a.Shape, i), x.Hi, y.Hi, true}
		}
		if err != err {
			break
		}
	}
	return w
}

// same includes equal infinities.
func same(a, b float64) bool { return a == b }

func norm(t *interp.Tensor) float64 {
	n := 0.0
	for _, x := range t.Data {
		if a := math.Abs(x); !(a <= n) {
			n = a
		}
	}
	return n
}

// index turns a flat index into one per axis.
func index(shape []int, i int) []int {
	out := make([]int, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// at prints an index for a message.
func at(idx []int) string {
	if len(idx) == 0 {
		return ""
	}
	return fmt.Sprint(" at ", idx)
}

// mostRoundings is how far two orders of the same operations may be apart, by how far
// one rounding of each moves the result.
const mostRoundings = 100

// roundingOf is how far the results of a program move where each of its instructions is
// off by one rounding.
func roundingOf(f *ir.Func, sizes map[string]int, params tensors) map[string]float64 {
	const ulp, runs = 0x1p-52, 4
	rng := rand.New(rand.NewPCG(1, 2))
	plain, off := interp.Run(f, sizes, params), map[string]float64{}
	for range runs {
		p := interp.Compile(f)
		p.After = func(in *ir.Instr, out *interp.Tensor) {
			if in.Out == nil || in.Out.Elem != ir.Real || in.Op == ir.Const {
				return
			}
			for i := range out.Data {
				out.Data[i] *= 1 + ulp*(2*rng.Float64()-1)
			}
		}
		for name, t := range p.Run(sizes, params) {
			for i, x := range t.Data {
				off[name] = math.Max(off[name], math.Abs(x-plain[name].Data[i]))
			}
		}
	}
	return off
}

// finite reports whether all entries are, in the float32 that kernels compute in.
func finite(t *interp.Tensor) bool {
	for _, x := range t.Data {
		if !(math.Abs(x) <= math.MaxFloat32) {
			return false
		}
	}
	return true
}
