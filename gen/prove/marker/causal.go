package marker

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// Causality decides the markers of an operation or composition, which has no recurrence and of
// which only Causal can hold. A composition with open parts has several programs, each of
// which must be causal.
func Causality(p *proof.Context, fs ...*ir.Func) {
	for _, pr := range p.Block.Provides {
		for _, m := range pr.Marks {
			for _, f := range fs {
				if !pr.Needs {
					proveMarker(p, f, nil, m)
				}
			}
		}
	}
}

// testCausality draws the tokens from a token on again and compares all results before it, bit
// by bit.
func testCausality(p *proof.Context, f *ir.Func, m *notation.Mark) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Tested, Note: "bitwise"}
	frees := irbuild.Frees(p.Block, f)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, f) {
		if sizes[sample.Tokens] < 2 {
			continue
		}
		draw := sample.New(p.Block, frees, sizes, sample.ForCausality, i)
		params := draw.Params(f)
		before := interp.Run(f, sizes, params)
		for cut := 1; cut < sizes[sample.Tokens]; cut++ {
			changed := numeric.Tensors{}
			for _, v := range f.Params {
				changed[v.Name] = redrawAfter(v, params[v.Name], draw, cut)
			}
			after := interp.Run(f, sizes, changed)
			for _, r := range f.Results {
				n, bad := compareBefore(r, before[r.Name], after[r.Name], cut)
				ev.Points += n
				if bad != nil {
					p.Diags.Errorf(diag.MarkerUnfounded, m.Span, "%s is not causal: a change at token %d changes %s%s", p.Unit.Name.Text, cut, r.Name, numeric.AtIndex(bad)).
						Labelf("at %s", sample.SizesText(sizes)).See(p.Unit.Name.Span, "defined here")
					return proof.Failure("a result depends on a later token")
				}
			}
		}
	}
	return ev
}

// redrawAfter is an input with its tokens from cut on drawn again.
func redrawAfter(v *ir.Value, t *interp.Tensor, draw *sample.Sampler, cut int) *interp.Tensor {
	k := sample.TokenAxis(v)
	if k < 0 || v.Role != ir.Input {
		return t
	}
	u, fresh := t.Clone(), draw.Draw(v)
	for i := range u.Data {
		if numeric.Unravel(u.Shape, i)[k] >= cut {
			u.Data[i] = fresh.Data[i]
		}
	}
	return u
}

// compareBefore compares a result before token cut, and returns the number of entries and the
// first that differs.
func compareBefore(r ir.Result, a, b *interp.Tensor, cut int) (int, []int) {
	k := sample.TokenAxis(r.Val)
	if k < 0 || r.State {
		return 0, nil
	}
	n := 0
	for i := range a.Data {
		if idx := numeric.Unravel(a.Shape, i); idx[k] < cut {
			n++
			if math.Float64bits(a.Data[i]) != math.Float64bits(b.Data[i]) {
				return n, idx
			}
		}
	}
	return n, nil
}
