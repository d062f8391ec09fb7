// Package equivalence decides whether programs are the same function: the two formulas of a
// special case, a rule and a strategy that computes it in chunks, two updates, an iteration
// and its transpose. Where two simplified programs do not have one normal form, results and
// gradients are compared at sampled points.
package equivalence

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// Specials decides the special cases of a unit, which say that two formulas are the same
// function. Compared are the outputs, the states that both sides have after a chunk, their
// first values, and the gradients by parameters of the same name. A parameter of one side
// alone must have no influence.
func Specials(p *proof.Context) {
	for _, s := range proof.OwnStatements(p, p.Block.Specials) {
		it := proof.Item{Kind: proof.Special, Name: proof.SpecialName(s), Text: notation.Print(s, notation.Unicode), Span: s.Span}
		left, right := buildSide(p, s.Left, s.LWith), buildSide(p, s.Right, s.With)
		if left.f == nil || right.f == nil {
			p.Fail(it, "cannot be built")
			continue
		}
		left.matchAnchors(right)
		p.Decide(it, func() proof.Evidence {
			if left.start != nil && right.start != nil {
				if ev := testSpecial(p, s, "at the start of a context, ", left.start, right.start); ev.Verdict == proof.Failed {
					return ev
				}
			}
			return testSpecial(p, s, "", left.f, right.f)
		})
	}
}

// testSpecial compares two programs; when is added to messages.
func testSpecial(p *proof.Context, s *notation.Special, when string, left, right *ir.Func) proof.Evidence {
	left, right = commonResults(left, right), commonResults(right, left)
	if extra := unmatched(left, right); extra != "" {
		reportSpecial(p, s, fmt.Sprintf("%s%s is used on one side only", when, extra))
		return proof.Failure(extra + " is used on one side only")
	}
	if simplify.EqualGradients(simplified(left), simplified(right)) {
		return proof.Evidence{Verdict: proof.Proved}
	}
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: exactTol}
	pl, pr := autodiff.NewPair(left), autodiff.NewPair(right)
	prog, frees := interp.Compile(left), irbuild.Frees(p.Block, left)
	maps.Copy(frees, irbuild.Frees(p.Block, right))
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, left, right) {
		for _, v := range left.Params {
			w := right.Param(v.Name)
			if a, b := interp.Shape(v.Axes, sizes), interp.Shape(w.Axes, sizes); !slices.Equal(a, b) {
				reportSpecial(p, s, fmt.Sprintf("%sat %s, %s has the shape %v on the left and %v on the right", when, sample.SizesText(sizes), v.Name, a, b))
				return proof.Failure(v.Name + " has another shape")
			}
		}
		params, _, draw, _ := sample.FinitePoint(left, prog, func() *sample.Sampler {
			return sample.New(p.Block, frees, sizes, sample.ForSpecial, i)
		})
		ev.DrawnAt(draw.Halvings)
		weights := sample.ResultWeights(left, sizes, i)
		al, names := Evaluate(left, pl, params, sizes, weights)
		ar, more := Evaluate(right, pr, params, sizes, weights)
		for _, n := range more {
			if al[n] == nil {
				names = append(names, n)
			}
		}
		for _, n := range names {
			w := numeric.Compare(orZero(al[n], ar[n]), orZero(ar[n], al[n]))
			if !(w.Err <= exactTol*10) {
				reportSpecial(p, s, fmt.Sprintf("%sat %s, %s%s is %.12g on the left and %.12g on the right", when, sample.SizesText(sizes), n, numeric.AtIndex(w.Index), w.A, w.B))
				return proof.Failure(n + " differs")
			}
			ev.Points += len(orZero(al[n], ar[n]).Data)
			ev.Worst = math.Max(ev.Worst, w.Err)
		}
	}
	return ev
}

// reportSpecial reports why the two sides differ.
func reportSpecial(p *proof.Context, s *notation.Special, why string) {
	at := s.Span
	if len(s.With) > 0 {
		at = s.With[0].Span
	}
	d := p.Diags.Errorf(diag.SpecialDiffers, at, "the two sides are not the same function: %s", why)
	if u := p.Tree.Units[s.Left.Parts[0].Name.Text]; u != nil && len(s.Left.Parts) == 1 {
		d.See(u.Span, "the left side")
	}
	if u := p.Tree.Units[s.Right.Parts[0].Name.Text]; u != nil && len(s.Right.Parts) == 1 {
		d.See(u.Span, "the right side")
	}
}
