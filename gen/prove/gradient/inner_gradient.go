package gradient

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Inner compares every gradient inside an equation with finite differences of the function
// that it names. A gradient that is wrong by a factor passes every other test but a claim:
// the adjoint of the program that uses it is still the derivative of that program.
func Inner(p *proof.Context) {
	if p.Options.Facts {
		return
	}
	var ds diag.List
	for _, g := range irbuild.Gradients(p.Block, &ds) {
		it := proof.Item{Kind: proof.InnerGradient, Name: fmt.Sprintf("%s:%s", ident.ASCII(g.At.Wrt.Text), ident.ASCII(g.At.Call.Fun.Text)),
			Eq: g.Eq, Text: notation.Print(g.At, notation.Unicode), Span: g.At.Span}
		p.Decide(it, func() proof.Evidence { return innerEvidence(p, g) })
	}
}

func innerEvidence(p *proof.Context, g irbuild.Gradient) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: gradRel}
	frees := irbuild.Frees(p.Block, g.Func)
	prog := interp.Compile(g.Func)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, g.Func) {
		params, out, draw, why := sample.FinitePoint(g.Func, prog, func() *sample.Sampler { return sample.New(p.Block, frees, sizes, sample.ForInner, i) })
		if !numeric.AllFinite(out) {
			sample.ReportNonFinite(p, g.At.Span, notation.Print(g.At, notation.Unicode), sizes, why)
			return proof.Failure("not finite")
		}
		ev.DrawnAt(draw.Halvings)
		d := newFiniteDifference(g.Func, sizes, params)
		grad := out[irbuild.Slope]
		d.weights = numeric.Tensors{irbuild.Loss: numeric.Ones(out[irbuild.Loss])}
		t := d.params[g.Param]
		if k, e, ok := d.compare(&ev, t, grad, p.Options.EntryLimit(), i); !ok {
			reportInner(p, g, d, k, grad.Data[k], e)
			return proof.Failure("differs from finite differences")
		}
	}
	return ev
}

func reportInner(p *proof.Context, g irbuild.Gradient, d *finiteDifference, i int, a float64, e difference) {
	idx := numeric.Unravel(d.params[g.Param].Shape, i)
	dg := p.Diags.Errorf(diag.InnerGradientDiffers, g.At.Span, "%s%s is %.9g, but differences of %s give %.9g",
		notation.Print(g.At, notation.Unicode), numeric.AtIndex(idx), a, g.At.Call.Fun.Text, e.value).Labelf("at %s", sample.SizesText(d.sizes))
	if f := p.Block.Funcs[g.At.Call.Fun.Text]; f != nil {
		dg.See(f.Def.Span, "%s is defined here", f.Name)
	}
}
