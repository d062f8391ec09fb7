package equivalence

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// Updates are tested after a few steps from declared first values, since slots such as a mean
// of squares have no other consistent values.

// stepsBefore is the number of steps.
const stepsBefore = 3

// gradientSizes are the sizes of successive gradients: the size of the parameter, zero, and
// sizes whose squares and small products overflow or underflow float32.
var gradientSizes = []float64{1, 1, 0, 1e-12, 1, 1e12, 0, 1, 1, 1, 1e-3, 1}

// FiniteSteps tests that steps by such gradients are finite, and that the simplified program
// takes the same steps.
func FiniteSteps(p *proof.Context, f *ir.Func) {
	it := proof.Item{Kind: proof.Domain, Name: "step", Text: "every step is finite", Span: p.Unit.Span}
	p.Decide(it, func() proof.Evidence {
		ev := proof.Evidence{Verdict: proof.Tested}
		simple, _ := f.Clone()
		simplify.Simplify(simple)
		for i, shape := range matrixShapes {
			draw := sample.New(p.Block, nil, nil, sample.ForUpdate, i)
			a, b := (&updateProgram{blk: p.Block, f: f}).run(shape, float64(i%2)), (&updateProgram{blk: p.Block, f: simple}).run(shape, float64(i%2))
			g := interp.NewTensor(shape[0], shape[1])
			for n := range gradientSizes {
				size := gradientSizes[(n+2*i)%len(gradientSizes)]
				draw.Fill(g, func() float64 { return size * draw.Rand.NormFloat64() })
				a.step(n+1, g)
				b.step(n+1, g)
				for _, r := range f.Results {
					if !numeric.Finite(a.params[r.Name]) {
						sample.ReportNonFinite(p, sample.ResultSpan(r, p.Unit.Span), r.Name, a.sizes, nil)
						return proof.Failure("not finite")
					}
				}
				if w := compareMoves(a, b); !(w.Err <= specialTol) {
					panic("equivalence: BUG: simplifying " + f.Name + " changes what it does")
				}
				ev.Points += len(g.Data)
			}
		}
		return ev
	})
}

// AfterSteps draws a parameter and gradients, takes a few steps and returns the parameters of
// the next one.
func AfterSteps(f *ir.Func, draw *sample.Sampler) numeric.Tensors {
	params := draw.Params(f)
	draw.SetOptions(params)
	for i, s := range draw.Block.SymSeq {
		t := params[ident.ASCII(s.Name)]
		if t != nil && s.Kind == check.State && i > 0 && s.Decl != nil {
			draw.StartValue(s, t)
		}
	}
	for n := 1; n <= stepsBefore; n++ {
		for _, s := range draw.Block.SymSeq {
			if t := params[ident.ASCII(s.Name)]; t != nil && s.Kind == check.Clock {
				t.Data[0] = float64(n)
			}
		}
		for _, v := range f.Params {
			if v.Role == ir.Input {
				params[v.Name] = draw.Draw(v)
			}
		}
		if n == stepsBefore {
			break
		}
		for name, t := range interp.Run(f, draw.Sizes, params) {
			params[name] = t
		}
	}
	return params
}

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
