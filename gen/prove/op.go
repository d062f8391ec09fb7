package prove

import (
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// opInvariants tests what an operation says about its result.
func (p *prover) opInvariants() {
	for i, inv := range own(p, p.blk.Invariants) {
		p.line(inv.Span, inv.When, func() { p.settleInvariant(inv, i) })
	}
}

func (p *prover) settleInvariant(inv *notation.Invariant, i int) {
	for _, x := range p.relations(inv, i) {
		var ds diag.List
		q := irbuild.Invariant(p.blk, irbuild.Probe{Name: x.it.Name, Binders: inv.Binders, Left: x.X, Right: x.Y}, &ds)
		p.ds.Append(ds)
		if q == nil {
			x.it.Evidence = failed("cannot be built")
			p.add(x.it)
			continue
		}
		p.settle(x.it, func() Evidence { return p.opInvariant(x.it, x.Relation, q) })
	}
}

func (p *prover) opInvariant(it Item, r *notation.Relation, q *irbuild.Equality) Evidence {
	if r.Op == "=" && equal(q.Func, irbuild.Left, irbuild.Right) {
		return Evidence{Verdict: Proved}
	}
	now := rangesOf(q.Func, q.Free, nil)
	if implied(r.Op, now[irbuild.Left].interval, now[irbuild.Right].interval) {
		return Evidence{Verdict: Proved, Note: byIntervals}
	}
	w := newWatched(it, irbuild.Probe{}, r.Op, nil)
	prog := interp.Compile(q.Func)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, q.Func) {
		for k := range claimPoints + hardRounds {
			params, out, when := tensors(nil), tensors(nil), ""
			if k < claimPoints {
				var draw *sampler
				params, out, draw = p.pointOf(q, prog, sizes, forInvariant, i*1000+k, k%2 == 1)
				w.ev.halved(draw)
			} else if params, out, when = hardPoint(q, prog, newSampler(p.blk, q.Free, sizes, forHard, i*1000+k), r.Op == "="); out == nil {
				continue
			}
			shape, n := larger(out[irbuild.Left], out[irbuild.Right])
			wide, tol := wideSides(q, sizes, params), rangeTol
			if wide == nil && when != "" {
				tol = hardTol
			}
			for j := range n {
				if in := out[irbuild.Inside]; in != nil && broadcast(in.Data, j, n) == 0 {
					continue
				}
				a, b := broadcast(out[irbuild.Left].Data, j, n), broadcast(out[irbuild.Right].Data, j, n)
				d := a - b
				if wide != nil {
					d = broadcast(wide[0].Data, j, n).Sub(broadcast(wide[1].Data, j, n)).Hi
				}
				v, end := relative(r.Op, a, b, d)
				w.ev.Points++
				if w.ev.Worst = math.Max(w.ev.Worst, v); !(v <= tol) || end && when == "" {
					p.ds.Errorf(diag.InvariantFails, r.Where(), "at %s%s, %s%s", spelled(sizes), when, notHolding(r.Op, a, b), at(index(shape, j))).
						See(p.unit.Span, "of %s", p.unit.Name.Text)
					return failed("does not hold")
				}
				w.near(a, b, strings.TrimPrefix(when, " "), sizes)
			}
		}
	}
	return w.verdict()
}

// hardPoint evaluates the two sides at numbers of very different sizes, or gives
// nothing where they overflow.
func hardPoint(q *irbuild.Equality, prog *interp.Program, draw *sampler, mild bool) (params, out tensors, when string) {
	params = draw.params(q.Func)
	for _, v := range q.Func.Params {
		t := draw.frees[v.Name].Type
		if v.Elem == ir.Real && (t == nil || t.Kind == notation.RealType) {
			scale := hardSize(draw.rng, mild)
			for i := range params[v.Name].Data {
				params[v.Name].Data[i] *= scale
			}
		}
	}
	if out = prog.Run(draw.sizes, params); !allFinite(out) {
		return nil, nil, ""
	}
	return params, out, " and large numbers"
}

// wideSides are the two sides in double-double arithmetic, where the program can be
// evaluated in that: what rounds in float64 there differs.
func wideSides(q *irbuild.Equality, sizes map[string]int, params tensors) []*interp.Wides {
	out, ok := interp.RunWide(q.Func, sizes, params)
	if !ok {
		return nil
	}
	return []*interp.Wides{out[irbuild.Left], out[irbuild.Right]}
}
