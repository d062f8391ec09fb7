package claim

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// A kink is a point where two sides are equal. It is searched along lines through random
// points, and along rays from the origin, since some kinks are at norms of 1e-8; where the
// difference of the sides changes its sign, the point is found by bisection. There the value
// is approached from both sides: C⁰ means that the limits agree, C¹ that the slopes do.

const (
	kinkLines = 24   // for each assignment of sizes
	jumpTol   = 1e-6 // relative difference of two extrapolated limits
	slopeTol  = 1e-3 // relative difference of two slopes
)

// Kinks proves the smoothness of every kink of the unit.
func Kinks(p *proof.Context) {
	for _, k := range proof.OwnStatements(p, p.Block.Kinks) {
		p.ProveLine(k.Span, k.When, func() { proveKink(p, k) })
	}
}

func proveKink(p *proof.Context, k *notation.Kink) {
	it := proof.Item{Kind: proof.Kink, Name: notation.Print(k.Left, notation.ASCII), Text: notation.Print(k, notation.Unicode), Span: k.Span}
	q := proof.Build(p, it, func(ds *diag.List) *irbuild.Equality { return irbuild.Kink(p.Block, k, ds) })
	if q == nil {
		return
	}
	p.Decide(it, func() proof.Evidence { return testKink(p, k, q) })
}

func testKink(p *proof.Context, k *notation.Kink, q *irbuild.Equality) proof.Evidence {
	ev, sharpest := proof.Evidence{Verdict: proof.Tested, Tolerance: jumpTol}, 0.0
	prog, pair := interp.Compile(q.Func), autodiff.NewPair(q.Func)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, q.Func) {
		for n := range kinkLines {
			draw := sample.New(p.Block, q.Free, sizes, sample.ForKink, i*100+n)
			l := newLine(prog, q.Func, draw, n%2 == 1)
			s, ok := l.find()
			if !ok {
				continue
			}
			ev.Points++
			jump, bend := l.across(s)
			sharpest = math.Max(sharpest, bend)
			if ev.Worst = math.Max(ev.Worst, jump); !(jump <= jumpTol) {
				return reportKink(p, k, sizes, fmt.Sprintf("the value jumps by %.3g", jump))
			}
			if k.Class.Text == "C¹" && !(bend <= slopeTol) {
				return reportKink(p, k, sizes, fmt.Sprintf("the slope jumps by %.3g", bend))
			}
			if a, lo, hi, ok := l.between(pair, s); !ok {
				return reportKink(p, k, sizes, fmt.Sprintf("the gradient %.6g is not between the slopes %.6g and %.6g", a, lo, hi))
			}
		}
	}
	if ev.Points == 0 {
		p.Diags.Errorf(diag.NotProvable, k.Span, "no point was found where %s is %s", notation.Print(k.Left, notation.Unicode), notation.Print(k.Right, notation.Unicode)).
			Hint("write the two sides whose equality is the kink")
		return proof.Failure("never reached")
	}
	if k.Class.Text == "C⁰" && sharpest <= slopeTol {
		p.Diags.Errorf(diag.KinkFails, k.Span, "there is no kink here: the slope is the same on both sides").
			See(p.Unit.Span, "of %s", p.Unit.Name.Text).Hint("remove the line, or write where the kink is")
		return proof.Failure("no kink")
	}
	return ev
}

func reportKink(p *proof.Context, k *notation.Kink, sizes map[string]int, why string) proof.Evidence {
	p.Diags.Errorf(diag.KinkFails, k.Span, "this kink is not %s: %s", k.Class.Text, why).Labelf("at %s", sample.SizesText(sizes)).
		See(p.Unit.Span, "of %s", p.Unit.Name.Text)
	return proof.Failure(why)
}
