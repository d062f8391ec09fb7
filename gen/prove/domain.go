package prove

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// outside is by how much entry i, or the row that it opens, leaves a set, and whether
// it lies at an end that does not belong to the set.
func outside(t *notation.Type, x *interp.Tensor, i int) (far float64, end bool, text string) {
	switch t.Kind {
	case notation.RangeType:
		v, iv := x.Data[i], declaredInterval(t)
		far = nan(v, v) + math.Max(0, math.Max(iv.lo-v, v-iv.hi))
		return far, v == iv.lo && iv.loOpen || v == iv.hi && iv.hiOpen, fmt.Sprintf("%.9g is outside", v)
	}
	n := x.Shape[len(x.Shape)-1]
	if i%n != 0 {
		return 0, false, ""
	}
	sum, low := 0.0, 0.0
	for _, v := range x.Data[i : i+n] {
		if t.Kind == notation.SphereType {
			sum += v * v
		} else {
			sum += v
			low = math.Max(low, -v)
		}
	}
	switch {
	case t.Kind == notation.SphereType:
		return math.Abs(sum - 1), false, fmt.Sprintf("a row has the norm %.12g, and not 1", math.Sqrt(sum))
	case low > 0:
		return math.Abs(sum-1) + low, false, fmt.Sprintf("a row has the entry %.12g, below 0", -low)
	}
	return math.Abs(sum - 1), false, fmt.Sprintf("a row has the sum %.12g, and not 1", sum)
}

// Sets holds the states of a rule that are declared on the sphere or on the
// simplex to that: a formula whose pages let it pass may still leave the set.
func Sets(blk *check.Block) diag.List {
	var ds diag.List
	p := &prover{tree: blk.Tree, unit: blk.Unit, blk: blk}
	var r *recurrence
	for _, s := range blk.SymSeq {
		if s.Kind != check.State || s.Type == nil || s.Type.Kind != notation.SphereType && s.Type.Kind != notation.SimplexType {
			continue
		}
		if r == nil {
			f := irbuild.Rule(blk, &ds)
			if ds.HasErrors() {
				return ds
			}
			simplify.Simplify(f)
			r = recurrenceOf(f)
		}
		if r == nil || r.carry[ident.ASCII(s.Name)] == nil {
			continue
		}
		if ev, b := byRows(s.Type.Kind)(p, r, []string{ident.ASCII(s.Name)}); ev.Verdict == Failed {
			ds.Errorf(diag.OutOfDomain, s.Span, "%s ∈ %s: the state %s", s.Name, notation.Print(s.Type, notation.Unicode), b.why)
		}
	}
	return ds
}

// stayOn follows the states of a rule from random members of a set.
func (p *prover) stayOn(kind notation.TypeKind, states []string) (Evidence, string) {
	ev := Evidence{Verdict: Tested, Tolerance: invTol}
	var ds diag.List
	f := irbuild.Rule(p.blk, &ds)
	set := &notation.Type{Kind: kind}
	for i, sizes := range sizeSets(p.blk, p.opt.Deep, f) {
		draw := newSampler(p.blk, irbuild.Frees(p.blk, f), sizes, forSet, i)
		params := draw.params(f)
		p.startBlock(p.blk, "", f, draw, params)
		for step := 0; step <= quickChunks; step++ {
			for _, s := range states {
				x := params[s]
				for k := range x.Data {
					v, _, text := outside(set, x, k)
					ev.Points++
					if ev.Worst = math.Max(ev.Worst, v); !(v <= invTol) {
						return failed(fmt.Sprintf("leaves the set: %s after %d chunks", text, step)), s
					}
				}
			}
			for n, t := range interp.Run(f, sizes, params) {
				if r := resultNamed(f, n); r != nil && r.State {
					params[n] = t
				}
			}
		}
	}
	return ev, ""
}

func resultNamed(f *ir.Func, name string) *ir.Result {
	for i := range f.Results {
		if f.Results[i].Name == name {
			return &f.Results[i]
		}
	}
	return nil
}
