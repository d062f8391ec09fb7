// Package claim proves the equalities that a page states (claims, evaluations, declared
// adjoints) and the smoothness of its kinks.
//
// An equality is proved where both sides have the same normal form. Otherwise it is tested at
// random points, as in polynomial identity testing (Schwartz, Zippel): at points from the
// declared sets, at sizes that tell all axes apart, with some numbers equal, and at the kinks
// of the program itself (at_kinks.go). The comparison is in double-double arithmetic where
// that can evaluate the program. A normal form is not trusted blindly: an equality that it
// proves must hold at one point.
package claim

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

const (
	claimTol = 1e-9  // in float64, relative to the larger side
	wideTol  = 1e-14 // in double-double: coefficients are float64, and each summand has a few
	// Sides smaller than wideScale are compared absolutely in double-double, and sides
	// smaller than rowScale where rows were drawn on a sphere or a simplex, to which they
	// belong up to float64.
	wideScale = 1e-6
	rowScale  = 1
)

// claimCodes are the codes of the messages for an equality that fails.
var claimCodes = map[proof.Kind]diag.Code{proof.Claim: diag.ClaimFails, proof.Eval: diag.EvalDiffers, proof.Adjoint: diag.AdjointDiffers}

// All proves every equality that the unit states.
func All(p *proof.Context) {
	for _, c := range proof.OwnStatements(p, p.Block.Claims) {
		if c.Keyword.Text == "claim" {
			p.ProveLine(c.Span, c.When, func() { Prove(p, c) })
		} else {
			Prove(p, c)
		}
	}
}

// Prove proves one equality.
func Prove(p *proof.Context, c *notation.Claim) {
	kind := proof.ClaimKinds[c.Keyword.Text]
	it := proof.Item{Kind: kind, Name: proof.ClaimName(c), Text: notation.Print(c, notation.Unicode), Span: c.Span, Eq: equationOf(p, c)}
	switch {
	case c.Left == nil || c.Right == nil:
		equivalence.Sequential(p, c, it)
		return
	case kind == proof.Relax:
		it.Evidence = proof.Evidence{Verdict: proof.Declared, Note: "finite differences test this in place of the value"}
		p.Add(it)
		return
	}
	q := proof.Build(p, it, func(ds *diag.List) *irbuild.Equality { return irbuild.Claim(p.Block, c, ds) })
	if q == nil {
		return
	}
	p.Decide(it, func() proof.Evidence {
		ev := testEquality(p, it, c, q)
		if kind == proof.Adjoint && ev.Verdict != proof.Failed {
			return declaredAdjoint(p, c, ev)
		}
		return ev
	})
}

// declaredAdjoint is the verdict on an adjoint that the page declares: with relax it is
// declared and not tested.
func declaredAdjoint(p *proof.Context, c *notation.Claim, ev proof.Evidence) proof.Evidence {
	for _, o := range p.Block.Claims {
		if o.Keyword.Text == "relax" {
			ev.Verdict, ev.Note = proof.Declared, "the derivative of relax"
			if c.Reason != nil {
				ev.Note += ": " + c.Reason.Value
			}
		}
	}
	return ev
}

// equationOf is the id of the equation that a claim's left side is about.
func equationOf(p *proof.Context, c *notation.Claim) string {
	for x := range notation.Idents(c.Left) {
		name, _ := p.Block.Split(x.Name.Text)
		if eq := p.Block.Equation(name); eq != nil && eq.ID != "" {
			return eq.ID
		}
	}
	return ""
}

// compareSides compares the two sides of an equality at one point, in double-double
// arithmetic where it can evaluate the program, and returns the tolerance.
func compareSides(q *irbuild.Equality, s *sample.Sampler, params, out numeric.Tensors) (numeric.Deviation, float64) {
	wide, ok := interp.RunDoubleDouble(q.Func, s.Sizes, params)
	if !ok {
		return numeric.Compare(out[irbuild.Left], out[irbuild.Right]), claimTol
	}
	scale := wideScale
	if slices.ContainsFunc(q.Func.Params, func(v *ir.Value) bool { return proof.HasNormalisedRows(s.RowSet(v, s.Frees[v.Name].Type)) }) {
		scale = rowScale
	}
	return numeric.CompareDoubleDouble(wide[irbuild.Left], wide[irbuild.Right], scale), wideTol
}

// testEquality decides whether the two sides of an equality are equal.
func testEquality(p *proof.Context, it proof.Item, c *notation.Claim, q *irbuild.Equality) proof.Evidence {
	proved := equivalence.SameNormalForm(q.Func, irbuild.Left, irbuild.Right)
	points := sample.PointsPerSize
	if p.Options.Deep {
		points = sample.DeepPointsPerSize
	}
	if proved {
		points = 1
	}
	ev := proof.Evidence{Verdict: proof.Tested}
	prog := interp.Compile(q.Func)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, q.Func) {
		for k := range points {
			params, out, draw := sample.EqualityPoint(p.Block, q, prog, sizes, sample.ForClaim, i*1000+k, k%2 == 1)
			ev.DrawnAt(draw.Halvings)
			w, tol := numeric.Compare(out[irbuild.Left], out[irbuild.Right]), claimTol
			if !proved || !(w.Err <= tol) {
				w, tol = compareSides(q, draw, params, out)
			}
			ev.Tolerance = tol
			if !(w.Err <= tol) {
				switch {
				case proved && math.IsNaN(w.A) && math.IsNaN(w.B): // another item reports a value that is NaN
					continue
				case proved && math.Abs(w.A-w.B) <= numeric.MostRoundings*numeric.RoundingError(q.Func, sizes, params)[irbuild.Left]:
					continue
				case proved:
					panic(fmt.Sprintf("claim: BUG: %s is proved, but %g is not %g%s at %s", it.Text, w.A, w.B, numeric.AtIndex(w.Index), sample.SizesText(sizes)))
				}
				reportCounterexample(p, it, c, q)
				a, b := distinctDigits(w.A, w.B)
				return proof.Failure(a + " is not " + b)
			}
			ev.Points += len(out[irbuild.Left].Data)
			ev.Worst = math.Max(ev.Worst, w.Err)
		}
	}
	if proved {
		return proof.Evidence{Verdict: proof.Proved}
	}
	points, ok := testAtKinks(p, it, c, q)
	if !ok {
		return proof.Failure("false at a kink")
	}
	if points > 0 {
		ev.Note = fmt.Sprintf("and at %d kinks", points)
	}
	return ev
}
