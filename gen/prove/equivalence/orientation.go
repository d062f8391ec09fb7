package equivalence

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Orientation compares the program of an update whose iterations are declared to hold for the
// transpose with the program for tall matrices.
func Orientation(p *proof.Context, f *ir.Func) {
	var ds diag.List
	tall := irbuild.UpdateTall(p.Block, &ds)
	if p.Diags.Append(ds); tall == nil || ds.HasErrors() {
		return
	}
	it := proof.Item{Kind: proof.Claim, Name: "orient", Text: "the iteration holds for the transpose", Span: p.Unit.Span}
	p.Decide(it, func() proof.Evidence {
		ev := proof.Evidence{Verdict: proof.Tested, Tolerance: specialTol}
		for i, shape := range matrixShapes {
			draw := sample.New(p.Block, nil, nil, sample.ForOrientation, i)
			a, b := (&updateProgram{blk: p.Block, f: f}).run(shape, 0), (&updateProgram{blk: p.Block, f: tall}).run(shape, 0)
			if n, w := compareSteps(&ev, draw, a, b, shape, stepsBefore); n > 0 {
				p.Diags.Errorf(diag.ClaimFails, orientationSpan(p), "this iteration does not hold for the transpose: the entry%s of a parameter of %d×%d moves by %.12g one way and by %.12g the other",
					numeric.AtIndex(w.Index), shape[0], shape[1], w.A, w.B).Hint("remove orient")
				return proof.Failure("the parameter differs")
			}
		}
		return ev
	})
}

// orientationSpan is the span of the iteration that is declared to hold for the transpose.
func orientationSpan(p *proof.Context) notation.Span {
	for _, eq := range p.Block.Eqs {
		if eq.Iter != nil && eq.Iter.Orient {
			return eq.Iter.Span
		}
	}
	return p.Unit.Span
}
