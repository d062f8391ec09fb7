package prove

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// An update is tested where it can be: its slots hold what some fires made of
// them, since a slot such as a mean of squares has no other honest value.

// fires is how often an update fires before it is tested.
const fires = 3

// update proves an update machine. It has no backward, so no gradient is tested.
func (p *prover) update() {
	var ds diag.List
	f := irbuild.Update(p.blk, &ds)
	if !p.built(ds) || f == nil {
		return
	}
	p.finite(f)
	p.oriented(f)
	p.claims()
	p.updateSpecials()
	p.unproved(KinkKind, Invariant, Cost, Marker, Requires)
}

// The gradients of a row of fires, by their size: of the size of the parameter,
// none at all, and of a size that neither squares nor products of a few can hold.
var gradientSizes = []float64{1, 1, 0, 1e-12, 1, 1e12, 0, 1, 1, 1, 1e-3, 1}

// finite fires in a row, from a first gradient of any of those sizes on, and
// wants numbers; and the same numbers of the simplified program.
func (p *prover) finite(f *ir.Func) {
	it := Item{Kind: Domain, Name: "fire", Text: "every fire gives numbers", Span: p.unit.Span}
	p.settle(it, func() Evidence {
		ev := Evidence{Verdict: Tested}
		simple, _ := f.Clone()
		simplify.Simplify(simple)
		for i, shape := range matrixShapes {
			draw := newSampler(p.blk, nil, nil, forFires, i)
			a, b := (&machine{blk: p.blk, f: f}).start(shape, float64(i%2)), (&machine{blk: p.blk, f: simple}).start(shape, float64(i%2))
			g := interp.NewTensor(shape[0], shape[1])
			for n := range gradientSizes {
				size := gradientSizes[(n+2*i)%len(gradientSizes)]
				draw.fill(g, func() float64 { return size * draw.rng.NormFloat64() })
				a.fire(n+1, g)
				b.fire(n+1, g)
				for _, r := range f.Results {
					if !finite(a.params[r.Name]) {
						p.notFinite(spanOf(r, p.unit.Span), r.Name, a.sizes, nil)
						return failed("not finite")
					}
				}
				if w := moves(a, b); !(w.err <= specialTol) {
					panic("prove: BUG: simplifying " + f.Name + " changes what it does")
				}
				ev.Points += len(g.Data)
			}
		}
		return ev
	})
}

// fired draws a parameter and gradients, and fires a few times.
func (p *prover) fired(f *ir.Func, draw *sampler) tensors {
	params := draw.params(f)
	draw.options(f, params)
	e := &evaluator{blk: p.blk, sizes: draw.sizes}
	for i, s := range p.blk.SymSeq {
		t := params[ident.ASCII(s.Name)]
		if t != nil && s.Kind == check.State && i > 0 && s.Decl != nil {
			e.start(s, t, draw)
		}
	}
	for n := 1; n <= fires; n++ {
		for _, s := range p.blk.SymSeq {
			if t := params[ident.ASCII(s.Name)]; t != nil && s.Kind == check.Clock {
				t.Data[0] = float64(n)
			}
		}
		for _, v := range f.Params {
			if v.Role == ir.Input {
				params[v.Name] = draw.draw(v)
			}
		}
		if n == fires {
			break
		}
		for name, t := range interp.Run(f, draw.sizes, params) {
			params[name] = t
		}
	}
	return params
}
