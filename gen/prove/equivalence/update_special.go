package equivalence

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Two updates are the same where they move every parameter in the same way: from
// slots of zero, fire after fire, by the same gradients. What they keep in their
// slots is their own affair, and the settings are those of each side. Where one
// of them moves matrices, both are tried on matrices.

// specialSteps is how many fires in a row are compared: more than the windows of
// the pages in which something gathers.
const specialSteps = 12

// specialTol bounds the difference of two ways to the same step, by how far the
// parameter has gone: a step may be a hundred-thousandth of what it is added to,
// and an iteration of five rounds makes a rounding error a few hundred times as
// large.
const specialTol = 1e-9

// UpdateSpecials settles the special cases that stand under the update itself:
// what they compare is named, so an instance has nothing to add.
func UpdateSpecials(p *proof.Context) {
	for _, st := range p.Unit.Body {
		s, ok := st.(*notation.Special)
		if !ok {
			continue
		}
		it := proof.Item{Kind: proof.Special, Name: proof.SpecialName(s), Text: notation.Print(s, notation.Unicode), Span: s.Span}
		left, right := buildUpdate(p, s.Left, s.LWith), buildUpdate(p, s.Right, s.With)
		if left == nil || right == nil {
			it.Evidence = proof.Failure("cannot be built")
			p.Add(it)
			continue
		}
		p.Decide(it, func() proof.Evidence { return sameMoves(p, s, left, right) })
	}
}

// sameMoves fires both sides and compares what the parameter becomes.
func sameMoves(p *proof.Context, s *notation.Special, left, right *updateProgram) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: specialTol}
	for i, shape := range matrixShapes {
		for _, nodecay := range []float64{0, 1} {
			draw := sample.New(p.Block, nil, nil, sample.ForSpecial, i)
			a, b := left.run(shape, nodecay), right.run(shape, nodecay)
			draw.Fill(a.param(), draw.Rand.NormFloat64)
			b.setParam(a.param())
			a.setParam(a.param())
			g := interp.NewTensor(shape[0], shape[1])
			for n := 1; n <= specialSteps; n++ {
				draw.Fill(g, draw.Rand.NormFloat64)
				a.step(n, g)
				b.step(n, g)
				w := compareMoves(a, b)
				if !(w.Err <= specialTol) {
					reportSpecial(p, s, fmt.Sprintf("a parameter of %d×%d begins alike, and after fire %d its entry%s has moved by %.12g on the left and by %.12g on the right",
						shape[0], shape[1], n, numeric.AtIndex(w.Index), w.A, w.B))
					return proof.Failure("the parameter differs")
				}
				ev.Points += len(a.param().Data)
				ev.Worst = math.Max(ev.Worst, w.Err)
			}
		}
	}
	return ev
}
