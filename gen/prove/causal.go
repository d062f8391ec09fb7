package prove

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// causal settles the markers of a composition or model, of which only Causal
// means something.
func (p *prover) causal(f *ir.Func) {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			if !pr.Needs {
				p.marker(f, nil, m)
			}
		}
	}
}

// causalStages is causal for a composition whose parts are not given: each
// stage by itself, whatever a causal part answers.
func (p *prover) causalStages(q *irbuild.Program) {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			for _, s := range q.Stages {
				if s.Func != nil && !pr.Needs {
					p.marker(s.Func, nil, m)
				}
			}
		}
	}
}

// causalEvidence changes what comes after a token and looks whether anything
// up to it changes, bit by bit.
func (p *prover) causalEvidence(f *ir.Func, m *notation.Mark) Evidence {
	ev := Evidence{Verdict: Tested, Note: "bitwise"}
	frees := irbuild.Frees(p.blk, f)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, f) {
		if sizes[tokens] < 2 {
			continue
		}
		draw := newSampler(p.blk, frees, sizes, forCausality, i)
		params := draw.params(f)
		before := interp.Run(f, sizes, params)
		for cut := 1; cut < sizes[tokens]; cut++ {
			changed := tensors{}
			for _, v := range f.Params {
				changed[v.Name] = later(f, v, params[v.Name], draw, cut)
			}
			after := interp.Run(f, sizes, changed)
			for _, r := range f.Results {
				n, bad := earlier(r, before[r.Name], after[r.Name], cut)
				ev.Points += n
				if bad != nil {
					p.ds.Errorf(diag.MarkerUnfounded, m.Span, "%s is not causal: a change at token %d changes %s%s", p.unit.Name.Text, cut, r.Name, at(bad)).
						Labelf("at %s", spelled(sizes)).See(p.unit.Name.Span, "defined here")
					return failed("a later token is seen")
				}
			}
		}
	}
	return ev
}

// later is an input with everything from token cut on drawn again.
func later(f *ir.Func, v *ir.Value, t *interp.Tensor, draw *sampler, cut int) *interp.Tensor {
	k := timeOf(v)
	if k < 0 || v.Role != ir.Input {
		return t
	}
	u, fresh := t.Clone(), draw.draw(v)
	for i := range u.Data {
		if index(u.Shape, i)[k] >= cut {
			u.Data[i] = fresh.Data[i]
		}
	}
	return u
}

// timeOf is the number of a value's axis of tokens, or −1.
func timeOf(v *ir.Value) int {
	return slices.IndexFunc(v.Axes, func(a *ir.Axis) bool { s, ok := a.Size.Symbol(); return ok && s == tokens })
}

// earlier compares a result before token cut; it returns the first entry that
// differs.
func earlier(r ir.Result, a, b *interp.Tensor, cut int) (int, []int) {
	k := timeOf(r.Val)
	if k < 0 || r.State {
		return 0, nil
	}
	n := 0
	for i := range a.Data {
		if idx := index(a.Shape, i); idx[k] < cut {
			n++
			if math.Float64bits(a.Data[i]) != math.Float64bits(b.Data[i]) {
				return n, idx
			}
		}
	}
	return n, nil
}
