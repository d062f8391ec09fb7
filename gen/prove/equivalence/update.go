package equivalence

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// An update is tested where it can be: its slots hold what some fires made of
// them, since a slot such as a mean of squares has no other honest value.

// stepsBefore is how often an update fires before it is tested.
const stepsBefore = 3

// The gradients of a row of fires, by their size: of the size of the parameter,
// none at all, and of a size that neither squares nor products of a few can hold.
var gradientSizes = []float64{1, 1, 0, 1e-12, 1, 1e12, 0, 1, 1, 1, 1e-3, 1}

// FiniteSteps fires in a row, from a first gradient of any of those sizes on, and
// wants numbers; and the same numbers of the simplified program.
func FiniteSteps(p *proof.Context, f *ir.Func) {
	it := proof.Item{Kind: proof.Domain, Name: "fire", Text: "every fire gives numbers", Span: p.Unit.Span}
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
					panic("prove: BUG: simplifying " + f.Name + " changes what it does")
				}
				ev.Points += len(g.Data)
			}
		}
		return ev
	})
}

// AfterSteps draws a parameter and gradients, and fires a few times.
func AfterSteps(f *ir.Func, draw *sample.Sampler) numeric.Tensors {
	params := draw.Params(f)
	draw.SetOptions(f, params)
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
