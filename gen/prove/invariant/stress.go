package invariant

import (
	"math"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// followStressed tests all conditions along trajectories with learned parameters and tokens of
// very different sizes.
func followStressed(p *proof.Context, f *ir.Func, all []*condition, sizes map[string]int) {
	frees := irbuild.Frees(p.Block, f)
	for round := range sample.StressRounds {
		draw := sample.New(p.Block, frees, sizes, sample.ForStress, round)
		mild := round%2 == 0
		path := draw.Trajectory(f)
		for i, v := range f.Params {
			if v.Role == ir.Outer && v.Elem == ir.Real && !v.NoGrad {
				scale := sample.StressScales[(round/2+i)%len(sample.StressScales)] // each parameter has every scale once
				if mild {
					scale = math.Min(1, scale)
				}
				draw.Fill(path.Params[v.Name], func() float64 { return scale * draw.Rand.NormFloat64() })
			}
		}
		for c := range quickChunks {
			sample.StressTokens(f, draw, path.Params, round, mild)
			out := path.Next()
			if !numeric.AllFinite(out) {
				break
			}
			for _, w := range all {
				checkStressed(p, w, out, sizes, c*quickChunk, mild)
			}
		}
	}
}

// checkStressed tests a condition at every token of such a chunk, with room for the rounding
// error of large numbers.
func checkStressed(p *proof.Context, w *condition, out numeric.Tensors, sizes map[string]int, before int, mild bool) {
	if w.failure != "" || w.tolerance() == invTol && !mild {
		return
	}
	shape, n := w.entries(out)
	for i := range n {
		v, _, text := w.violation(out, i) // rounding reaches open ends
		if math.IsNaN(v) || !w.inside(out, i, n) {
			continue
		}
		w.ev.Points++
		when := "with large learned numbers and tokens, " + afterToken(before, shape, i)
		if v > sample.StressTol {
			reportViolation(p, w, when, text, sizes)
			return
		}
		w.nearAt(out, i, when, sizes)
	}
}
