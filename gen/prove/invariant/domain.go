package invariant

import (
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/interval"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// outside is by how much entry i, or the row that starts there, is outside of a set, and
// whether it is at an excluded end.
func outside(t *notation.Type, x *interp.Tensor, i int) (far float64, end bool, text string) {
	switch t.Kind {
	case notation.RangeType:
		v, iv := x.Data[i], interval.Declared(t)
		far = 0*v + math.Max(0, math.Max(iv.Lo-v, v-iv.Hi)) // NaN for a value that is not finite
		return far, v == iv.Lo && iv.LoOpen || v == iv.Hi && iv.HiOpen, fmt.Sprintf("%.9g is outside", v)
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

// StaysOn tests along trajectories that some states stay on the sphere or the simplex, and
// returns the first state that does not.
func StaysOn(p *proof.Context, kind notation.TypeKind, states []string) (proof.Evidence, string) {
	ev := proof.Evidence{Verdict: proof.Tested, Tolerance: invTol}
	var ds diag.List
	f := irbuild.Rule(p.Block, &ds)
	set := &notation.Type{Kind: kind}
	for i, sizes := range sample.Sizes(p.Block, p.Options.Deep, f) {
		draw := sample.New(p.Block, irbuild.Frees(p.Block, f), sizes, sample.ForSet, i)
		params := draw.Params(f)
		draw.StartParams(p.Block, "", params)
		for step := 0; step <= quickChunks; step++ {
			for _, s := range states {
				x := params[s]
				for k := range x.Data {
					v, _, text := outside(set, x, k)
					ev.Points++
					if ev.Worst = math.Max(ev.Worst, v); !(v <= invTol) {
						return proof.Failure(fmt.Sprintf("leaves the set: %s after %d chunks", text, step)), s
					}
				}
			}
			out := interp.Run(f, sizes, params)
			for _, r := range f.Results {
				if r.State {
					params[r.Name] = out[r.Name]
				}
			}
		}
	}
	return ev, ""
}
