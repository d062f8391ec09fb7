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

// A claim is proved where both sides have one normal form. Otherwise it is
// tested at points drawn from the sets that its names belong to, at sizes that
// tell all axes apart, comparisons at a tie included: those of drawn numbers
// here, and where the program's own comparisons are ties in tie.go. The normal
// form is not believed blindly either: what it proves must hold at one point.

var claimCodes = map[proof.Kind]diag.Code{proof.Claim: diag.ClaimFails, proof.Eval: diag.EvalDiffers, proof.Adjoint: diag.AdjointDiffers}

// All settles every equality that the unit states.
func All(p *proof.Context) {
	for _, c := range proof.OwnStatements(p, p.Block.Claims) {
		if c.Keyword.Text == "claim" {
			p.ProveLine(c.Span, c.When, func() { Prove(p, c) })
		} else {
			Prove(p, c)
		}
	}
}

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
	var ds diag.List
	q := irbuild.Claim(p.Block, c, &ds)
	p.Diags.Append(ds)
	if q == nil || ds.HasErrors() {
		it.Evidence = proof.Failure("cannot be built")
		p.Add(it)
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

// declaredAdjoint is the verdict on an adjoint that the page gives: with relax
// it stays declared, whatever the arithmetic says.
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

// equationOf is the equation of the block that a claim's left side is about.
func equationOf(p *proof.Context, c *notation.Claim) string {
	id := ""
	notation.Inspect(c.Left, func(n any) bool {
		if x, ok := n.(*notation.Ident); ok && id == "" {
			name, _ := p.Block.Split(x.Name.Text)
			if eq := p.Block.Equation(name); eq != nil {
				id = eq.ID
			}
		}
		return true
	})
	return id
}

// compareSides compares the two sides of a claim at one point, in double-double
// arithmetic where its program can be evaluated in that, and says how far they may
// be apart.
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

// testEquality decides whether the two sides of a claim are equal.
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
				case proved && math.IsNaN(w.A) && math.IsNaN(w.B): // what is no number is for another item to say
					continue
				case proved && math.Abs(w.A-w.B) <= numeric.MostRoundings*numeric.RoundingError(q.Func, sizes, params)[irbuild.Left]:
					continue
				case proved:
					panic(fmt.Sprintf("prove: BUG: %s is proved, but %g is not %g%s at %s", it.Text, w.A, w.B, numeric.AtIndex(w.Index), sample.SizesText(sizes)))
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
	points, ok := testAtTies(p, it, c, q)
	if !ok {
		return proof.Failure("false at a kink")
	}
	if points > 0 {
		ev.Note = fmt.Sprintf("and at %d kinks", points)
	}
	return ev
}

const claimTol = 1e-9 // two formulas in float64, by the larger side's norm

const wideTol = 1e-14 // two formulas in double-double: their coefficients are float64 numbers, and each summand has a few

const wideScale = 1e-6 // the same in double-double …

const rowScale = 1 // … where rows were drawn on a sphere or a simplex, on which they lie up to float64
