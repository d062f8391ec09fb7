package prove

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A gradient inside an equation is tested apart from everything around it.
// Whatever it is, the adjoint of the program that uses it is the derivative of
// that program: doubled, it would pass every test but this one and a claim.

// inner holds every gradient inside an equation to differences of the very
// function that it names.
func (p *prover) inner() {
	if p.opt.Facts {
		return
	}
	var ds diag.List
	for _, g := range irbuild.Gradients(p.blk, &ds) {
		it := Item{Kind: InnerGradient, Name: fmt.Sprintf("%s:%s", ident.ASCII(g.At.Wrt.Text), ident.ASCII(g.At.Call.Fun.Text)),
			Eq: g.Eq, Text: notation.Print(g.At, notation.Unicode), Span: g.At.Span}
		p.settle(it, func() Evidence { return p.innerEvidence(g) })
	}
}

func (p *prover) innerEvidence(g irbuild.Gradient) Evidence {
	ev := Evidence{Verdict: Tested, Tolerance: gradRel}
	frees := irbuild.Frees(p.blk, g.Func)
	prog := interp.Compile(g.Func)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, g.Func) {
		params, out, draw, why := numbers(g.Func, prog, func() *sampler { return newSampler(p.blk, frees, sizes, forInner, i) },
			func(s *sampler) tensors { return s.params(g.Func) })
		if !allFinite(out) {
			p.notFinite(g.At.Span, notation.Print(g.At, notation.Unicode), sizes, why)
			return failed("not finite")
		}
		ev.halved(draw)
		d := newDiffer(g.Func, sizes, params)
		grad := out[irbuild.Slope]
		d.weights = tensors{irbuild.Loss: ones(out[irbuild.Loss])}
		t := d.params[g.Param]
		for _, k := range entries(len(t.Data), p.entryLimit(), i) {
			e := d.check(t, k, grad.Data[k], norm(grad))
			if e.bad() {
				p.innerWrong(g, d, k, grad.Data[k], e)
				return failed("differs from finite differences")
			}
			if e.skipped {
				ev.Skipped++
				continue
			}
			ev.Points++
			ev.Worst = math.Max(ev.Worst, gradRel*e.err/e.tol)
		}
	}
	return ev
}

func (p *prover) innerWrong(g irbuild.Gradient, d *differ, i int, a float64, e entry) {
	idx := index(d.params[g.Param].Shape, i)
	dg := p.ds.Errorf(diag.InnerGradientDiffers, g.At.Span, "%s%s is %.9g, but differences of %s give %.9g",
		notation.Print(g.At, notation.Unicode), at(idx), a, g.At.Call.Fun.Text, e.difference).Labelf("at %s", spelled(d.sizes))
	if f := p.blk.Funcs[g.At.Call.Fun.Text]; f != nil {
		dg.See(f.Def.Span, "%s is defined here", f.Name)
	}
}
