package invariant

import (
	"math"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// OfResult proves the invariants that an operation states of its result.
func OfResult(p *proof.Context) {
	for i, inv := range proof.OwnStatements(p, p.Block.Invariants) {
		p.ProveLine(inv.Span, inv.When, func() { proveInvariant(p, inv, i) })
	}
}

func proveInvariant(p *proof.Context, inv *notation.Invariant, i int) {
	for _, x := range relationsOf(p, inv, i) {
		probe := irbuild.Probe{Name: x.it.Name, Binders: inv.Binders, Left: x.X, Right: x.Y}
		q := proof.Build(p, x.it, func(ds *diag.List) *irbuild.Equality { return irbuild.Invariant(p.Block, probe, ds) })
		if q == nil {
			continue
		}
		p.Decide(x.it, func() proof.Evidence { return testInvariant(p, x.it, x.Relation, q) })
	}
}

func testInvariant(p *proof.Context, it proof.Item, r *notation.Relation, q *irbuild.Equality) proof.Evidence {
	if r.Op == "=" && equivalence.SameNormalForm(q.Func, irbuild.Left, irbuild.Right) {
		return proof.Evidence{Verdict: proof.Proved}
	}
	now := interval.Of(q.Func, q.Free, nil)
	if implied(r.Op, now[irbuild.Left].Interval, now[irbuild.Right].Interval) {
		return proof.Evidence{Verdict: proof.Proved, Note: byIntervals}
	}
	w := newCondition(it, irbuild.Probe{}, r.Op, nil)
	prog := interp.Compile(q.Func)
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, q.Func) {
		for k := range sample.PointsPerSize + sample.StressRounds {
			params, out, when := numeric.Tensors(nil), numeric.Tensors(nil), ""
			if k < sample.PointsPerSize {
				var draw *sample.Sampler
				params, out, draw = sample.EqualityPoint(p.Block, q, prog, sizes, sample.ForInvariant, i*1000+k, k%2 == 1)
				w.ev.DrawnAt(draw.Halvings)
			} else if params, out, when = stressPoint(q, prog, sample.New(p.Block, q.Free, sizes, sample.ForStress, i*1000+k), r.Op == "="); out == nil {
				continue
			}
			shape, n := numeric.LargerShape(out[irbuild.Left], out[irbuild.Right])
			wide, tol := doubleDoubleSides(q, sizes, params), rangeTol
			if wide == nil && when != "" {
				tol = sample.StressTol
			}
			for j := range n {
				if in := out[irbuild.Inside]; in != nil && numeric.Broadcast(in.Data, j, n) == 0 {
					continue
				}
				a, b := numeric.Broadcast(out[irbuild.Left].Data, j, n), numeric.Broadcast(out[irbuild.Right].Data, j, n)
				d := a - b
				if wide != nil {
					d = numeric.Broadcast(wide[0].Data, j, n).Sub(numeric.Broadcast(wide[1].Data, j, n)).Hi
				}
				v, end := relative(r.Op, a, b, d)
				w.ev.Points++
				if w.ev.Worst = math.Max(w.ev.Worst, v); !(v <= tol) || end && when == "" {
					p.Diags.Errorf(diag.InvariantFails, r.Where(), "at %s%s, %s%s", sample.SizesText(sizes), when, notHolding(r.Op, a, b), numeric.AtIndex(numeric.Unravel(shape, j))).
						See(p.Unit.Span, "of %s", p.Unit.Name.Text)
					return proof.Failure("does not hold")
				}
				w.near(a, b, strings.TrimPrefix(when, " "), sizes)
			}
		}
	}
	return w.verdict()
}

// stressPoint evaluates the two sides at numbers of very different sizes. Results that
// overflow are nil.
func stressPoint(q *irbuild.Equality, prog *interp.Program, draw *sample.Sampler, mild bool) (params, out numeric.Tensors, when string) {
	params = draw.Params(q.Func)
	for _, v := range q.Func.Params {
		t := draw.Frees[v.Name].Type
		if v.Elem == ir.Real && (t == nil || t.Kind == notation.RealType) {
			scale := sample.StressScale(draw.Rand, mild)
			for i := range params[v.Name].Data {
				params[v.Name].Data[i] *= scale
			}
		}
	}
	if out = prog.Run(draw.Sizes, params); !numeric.AllFinite(out) {
		return nil, nil, ""
	}
	return params, out, " and large numbers"
}

// doubleDoubleSides are the two sides in double-double arithmetic, nil where that cannot
// evaluate the program.
func doubleDoubleSides(q *irbuild.Equality, sizes map[string]int, params numeric.Tensors) []*interp.DoubleDoubleTensor {
	out, ok := interp.RunDoubleDouble(q.Func, sizes, params)
	if !ok {
		return nil
	}
	return []*interp.DoubleDoubleTensor{out[irbuild.Left], out[irbuild.Right]}
}
