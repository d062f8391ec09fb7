package prove

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
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
	r, ok := inv.Cond.(*notation.Relation)
	if !ok || !isComparison(r.Op) {
		p.noInvariant(inv)
		return
	}
	it := Item{Kind: Invariant, Name: invariantName(inv, i), Text: notation.Print(inv, notation.Unicode), Span: inv.Span}
	var ds diag.List
	q := irbuild.Invariant(p.blk, irbuild.Probe{Name: it.Name, Binders: inv.Binders, Left: r.X, Right: r.Y}, &ds)
	p.ds.Append(ds)
	if q == nil {
		it.Evidence = failed("cannot be built")
		p.add(it)
		return
	}
	p.settle(it, func() Evidence { return p.opInvariant(it, r, q) }, q.Func)
}

func (p *prover) opInvariant(it Item, r *notation.Relation, q *irbuild.Equality) Evidence {
	if r.Op == "=" && equal(q.Func, irbuild.Left, irbuild.Right) {
		return Evidence{Verdict: Proved}
	}
	ev := Evidence{Verdict: Tested, Tolerance: invTol}
	prog := interp.Compile(q.Func)
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, q.Func) {
		for k := range claimPoints {
			_, out, draw := p.pointOf(q, prog, sizes, forInvariant, i*1000+k, k%2 == 1)
			ev.halved(draw)
			l, rt := out[irbuild.Left], out[irbuild.Right]
			for j := range l.Data {
				v := violated(r.Op, l.Data[j], rt.Data[j])
				ev.Points++
				if ev.Worst = math.Max(ev.Worst, v); !(v <= invTol) {
					p.ds.Errorf(diag.InvariantFails, r.Where(), "at %s, %.12g %s %.12g does not hold%s", spelled(sizes), l.Data[j], r.Op, rt.Data[j], at(index(l.Shape, j))).
						See(p.unit.Span, "of %s", p.unit.Name.Text)
					return failed("does not hold")
				}
			}
		}
	}
	return ev
}
