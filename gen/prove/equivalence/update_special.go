package equivalence

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Two updates are the same where they take the same steps: from slots of zero, step after step,
// by the same gradients, with the options of each side. Slots are not compared. Where one of
// them updates matrices, both are tried on matrices.

const (
	// specialSteps is the number of steps: more than the windows over which the updates of
	// the library accumulate.
	specialSteps = 12
	// specialTol is relative to the distance that the parameter has moved: a step may be
	// 1e-5 of the parameter, and a Newton–Schulz iteration of five rounds makes a rounding
	// error a few hundred times as large.
	specialTol = 1e-9
)

// UpdateSpecials decides the special cases on the page of the update itself: an instance has
// none of its own, since the two sides are named.
func UpdateSpecials(p *proof.Context) {
	for s := range notation.Of[*notation.Special](p.Unit.Body) {
		it := proof.Item{Kind: proof.Special, Name: proof.SpecialName(s), Text: notation.Print(s, notation.Unicode), Span: s.Span}
		left, right := buildUpdate(p, s.Left, s.LWith), buildUpdate(p, s.Right, s.With)
		if left == nil || right == nil {
			p.Fail(it, "cannot be built")
			continue
		}
		p.Decide(it, func() proof.Evidence { return sameMoves(p, s, left, right) })
	}
}

// sameMoves takes steps with both sides and compares how the parameter moves.
func sameMoves(p *proof.Context, s *notation.Special, left, right *updateProgram) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: specialTol}
	for i, shape := range matrixShapes {
		for _, nodecay := range []float64{0, 1} {
			draw := sample.New(p.Block, nil, nil, sample.ForSpecial, i)
			a, b := left.run(shape, nodecay), right.run(shape, nodecay)
			draw.Fill(a.param(), draw.Rand.NormFloat64)
			b.setParam(a.param())
			a.setParam(a.param())
			if n, w := compareSteps(&ev, draw, a, b, shape, specialSteps); n > 0 {
				reportSpecial(p, s, fmt.Sprintf("from the same parameter of %d×%d, after step %d its entry%s has moved by %.12g on the left and by %.12g on the right",
					shape[0], shape[1], n, numeric.AtIndex(w.Index), w.A, w.B))
				return proof.Failure("the parameter differs")
			}
		}
	}
	return ev
}
