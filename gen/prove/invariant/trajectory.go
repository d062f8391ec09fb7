package invariant

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// followTrajectories tests all conditions along trajectories, and that all results stay
// finite.
func followTrajectories(p *proof.Context, f *ir.Func, all []*condition) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested}
	chunks, length := quickChunks, quickChunk
	if p.Options.Deep {
		chunks, length = deepChunks, deepChunk
	}
	sets := sample.Sizes(p.Block, false, f)
	for i, sizes := range sets {
		sizes[sample.Tokens] = length
		draw := sample.New(p.Block, irbuild.Frees(p.Block, f), sizes, sample.ForTrajectory, i)
		path := draw.Trajectory(f)
		for _, w := range all {
			checkStart(p, w, path.Params[w.it.Name], sizes)
		}
		for c := range chunks {
			if c > 0 {
				path.DrawTokens(draw)
			}
			out := path.Next()
			for _, w := range all {
				checkChunk(p, w, out, sizes, c*length)
			}
			for _, r := range f.Results {
				if !numeric.Finite(out[r.Name]) && ev.Verdict != proof.Failed {
					p.Diags.Errorf(diag.NotFinite, p.Unit.Name.Span, "%s of %s is not finite after at most %d tokens from its own start", r.Name, p.Unit.Name.Text, (c+1)*length).
						Labelf("at %s", sample.SizesText(sizes)).Hint("normalise the keys, or lower the rate that it starts from")
					ev = proof.Failure("not finite")
				}
			}
			ev.Points += length * sizes[sample.Batch]
		}
	}
	sets[0][sample.Tokens] = quickChunk
	followStressed(p, f, all, sets[0])
	return ev
}

// checkChunk tests a condition at every token of a chunk; before is the number of earlier
// tokens.
func checkChunk(p *proof.Context, w *condition, out numeric.Tensors, sizes map[string]int, before int) {
	shape, n := w.entries(out)
	for i := range n {
		if !w.inside(out, i, n) {
			continue
		}
		w.ev.Points++
		v, end, text := w.violation(out, i)
		token := afterToken(before, shape, i)
		if v <= w.tolerance() && (!end || w.ev.Verdict == proof.Proved) {
			w.ev.Worst = math.Max(w.ev.Worst, v)
			w.nearAt(out, i, token, sizes)
			continue
		}
		reportViolation(p, w, token, text, sizes)
		return
	}
}

// checkStart tests the first value of a state.
func checkStart(p *proof.Context, w *condition, first *interp.Tensor, sizes map[string]int) {
	if w.set == nil || first == nil {
		return
	}
	for i := range first.Data {
		if v, end, text := outside(w.set, first, i); !(v <= w.tolerance()) || end {
			reportViolation(p, w, "before the first token", text, sizes)
			return
		}
	}
}

// reportViolation reports the first violation of a condition.
func reportViolation(p *proof.Context, w *condition, when, text string, sizes map[string]int) {
	if w.failure != "" {
		return
	}
	w.failure = text
	if w.page != nil {
		w.ev = proof.HoldsOnlyFor(w.page)
		return
	}
	code := diag.InvariantFails
	if w.set != nil {
		code = diag.OutOfDomain
	}
	p.Diags.Errorf(code, w.it.Span, "%s: %s, %s", w.it.Text, when, text).Labelf("at %s", sample.SizesText(sizes)).
		See(p.Unit.Name.Span, "in %s", p.Unit.Name.Text)
	w.ev = proof.Failure(text)
}
