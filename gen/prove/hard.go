package prove

import (
	"math"
	"math/rand/v2"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Hard trajectories look for what random numbers of moderate size do not show.
// Each learned parameter has a size of its own, from a sixteenth to 256, so that
// gates lie at their ends, alone and together; tokens are large, or all alike, so
// that what accumulates does, or come and go with their sign. Declared sets are
// kept. Where numbers overflow float32 a trajectory ends and says nothing. What
// must be equal is compared while numbers are small enough for float64 to tell.

const (
	hardRounds = 8
	hardTol    = 1e-6 // of what is found there: sums of large numbers leave rounding
	mildSizes  = 2    // of the sizes: those at which equalities are compared
)

// hardSizes are the sizes of learned parameters and tokens.
var hardSizes = []float64{1.0 / 16, 1, 16, 256}

// followHard runs hard trajectories from the rule's own first states.
func (p *prover) followHard(f *ir.Func, all []*watched, sizes map[string]int) {
	frees := irbuild.Frees(p.blk, f)
	prog := interp.Compile(f)
	for round := range hardRounds {
		draw := newSampler(p.blk, frees, sizes, forHard, round)
		mild := round%2 == 0
		params := p.startValues(f, draw)
		for i, v := range f.Params {
			if v.Role == ir.Outer && v.Elem == ir.Real && !v.NoGrad {
				scale := hardSizes[(round/2+i)%len(hardSizes)] // each has every size once
				if mild {
					scale = math.Min(1, scale)
				}
				draw.fill(params[v.Name], func() float64 { return scale * draw.rng.NormFloat64() })
			}
		}
		for c := range quickChunks {
			hardTokens(f, draw, params, round, mild)
			out := prog.Run(sizes, params)
			if !allFinite(out) {
				break
			}
			for _, w := range all {
				p.watchHard(w, out, sizes, c*quickChunk, mild)
			}
			for _, r := range f.Results {
				if r.State {
					params[r.Name] = out[r.Name]
				}
			}
			p.advance(f, params, quickChunk)
		}
	}
}

func hardSize(rng *rand.Rand, mild bool) float64 {
	n := len(hardSizes)
	if mild {
		n = mildSizes
	}
	return hardSizes[rng.IntN(n)]
}

// hardTokens draws the tokens of a chunk: each of a size of its own, or all the
// same, or the same with alternating signs.
func hardTokens(f *ir.Func, draw *sampler, params tensors, round int, mild bool) {
	for _, v := range f.Params {
		if v.Role != ir.Input || v.Elem != ir.Real {
			continue
		}
		t := draw.draw(v)
		params[v.Name] = t
		k := timeOf(v)
		typ := draw.frees[v.Name].Type
		if k < 0 || typ != nil && typ.Kind != notation.RealType {
			continue
		}
		stride, scale := strideOf(t.Shape, k), make([]float64, t.Shape[k])
		for n := range scale {
			scale[n] = hardSize(draw.rng, mild)
		}
		for i := range t.Data {
			n := index(t.Shape, i)[k]
			if n == 0 || round%4 < 2 {
				t.Data[i] *= scale[n]
				continue
			}
			t.Data[i] = t.Data[i-n*stride] // as the first token
			if round%4 == 3 && n%2 == 1 {
				t.Data[i] = -t.Data[i]
			}
		}
	}
}

func strideOf(shape []int, axis int) int {
	n := 1
	for _, s := range shape[axis+1:] {
		n *= s
	}
	return n
}

// watchHard looks at one item over a chunk of a hard trajectory.
func (p *prover) watchHard(w *watched, out tensors, sizes map[string]int, before int, mild bool) {
	if w.bad != "" || w.tolerance() == invTol && !mild {
		return
	}
	shape, n := w.entries(out)
	for i := range n {
		v, _, text := w.violation(out, i) // rounding reaches ends here
		if math.IsNaN(v) || !w.inside(out, i, n) {
			continue
		}
		w.ev.Points++
		when := "with large learned numbers and tokens, " + afterToken(before, shape, i)
		if v > hardTol {
			p.leaves(w, when, text, sizes)
			return
		}
		w.nearAt(out, i, when, sizes)
	}
}
