package prove

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
)

// An update is tested where it can be: its slots hold what some fires made of
// them, since a slot such as a mean of squares has no other honest value.

// fires is how often an update fires before it is tested.
const fires = 3

// update proves an update machine.
func (p *prover) update() {
	var ds diag.List
	f := irbuild.Update(p.blk, &ds)
	if !p.built(ds) || f == nil {
		return
	}
	s := subject{name: "fire", f: f, span: p.unit.Span, draw: p.fired}
	p.outer(s)
	p.oriented(f)
	p.claims()
	p.updateSpecials()
	p.unproved(KinkKind, Invariant, Cost, Marker, Requires)
}

// fired draws a parameter and gradients, and fires a few times.
func (p *prover) fired(f *ir.Func, draw *sampler) tensors {
	params := draw.params(f)
	draw.options(f, params)
	e := &evaluator{blk: p.blk, sizes: draw.sizes}
	for i, s := range p.blk.SymSeq {
		t := params[check.ASCII(s.Name)]
		if t != nil && s.Kind == check.State && i > 0 && s.Decl != nil {
			e.start(s, t, draw)
		}
	}
	for n := 1; n <= fires; n++ {
		for _, s := range p.blk.SymSeq {
			if t := params[check.ASCII(s.Name)]; t != nil && s.Kind == check.Clock {
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
