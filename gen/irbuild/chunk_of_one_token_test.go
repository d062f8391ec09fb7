package irbuild_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
)

// chunkTol bounds the difference of two programs in float64 that are the same
// function and differ in the order of some sums, relative to the larger number.
const chunkTol = 1e-12

// TestChunkOfOneToken holds the chunkwise form to the sequential one where a
// chunk is one token: the same answers, states and gradients. With more tokens
// they differ.
func TestChunkOfOneToken(t *testing.T) {
	for _, pair := range [][2]string{{"SelfReferential", "SelfReferentialChunk"}, {"ValuePhase", "ValueChunk"}} {
		a, b := selfReferential(t, pair[0]), selfReferential(t, pair[1])
		for tokens, same := range map[int]bool{1: true, 3: false} {
			if worst := chunkDifference(a, b, tokens); (worst <= chunkTol) != same {
				t.Errorf("%s and %s differ by %.3g in a chunk of %d", pair[0], pair[1], worst, tokens)
			}
		}
	}
}

// selfReferential is the program of a rule of the page or of the variants.
func selfReferential(t *testing.T, name string) *ir.Pair {
	t.Helper()
	s, ds := gen.Load("../../specs", "../testdata/selfref/variants.md")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	blk, ds := check.Instantiate(s.Tree, s.Tree.Units[name])
	var more diag.List
	f := irbuild.Rule(blk, &more)
	if ds.Append(more); ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return autodiff.NewPair(f)
}

// chunkDifference is the largest relative difference of what two programs give
// for the same numbers, forward and backward.
func chunkDifference(a, b *ir.Pair, tokens int) float64 {
	sizes := map[string]int{"L": 2, "T": tokens, "d": 5}
	in := map[string]*interp.Tensor{}
	rng := rand.New(rand.NewPCG(9, 4))
	draw := func(params []*ir.Value) {
		for _, p := range params {
			if in[p.Name] == nil && p.Role != ir.Saved {
				in[p.Name] = interp.NewTensor(interp.Shape(p.Axes, sizes)...)
				for i := range in[p.Name].Data {
					in[p.Name].Data[i] = 0.5 * rng.NormFloat64()
				}
			}
		}
	}
	draw(a.Fwd.Params)
	draw(a.Bwd.Params)
	draw(b.Bwd.Params)
	for name, t := range in {
		if strings.HasPrefix(name, "M_0_") {
			clear(t.Data) // also the adjoint of what is carried on
		}
	}
	for _, s := range members {
		copyStart(s, in, sizes["d"])
	}
	x, y := bothWays(a, sizes, in), bothWays(b, sizes, in)
	for _, s := range members {
		y["backward "+ir.AdjointName("N_"+s)] = overSequences(y["backward "+ir.AdjointName("M_0_"+s)])
	}
	worst := 0.0
	for name, v := range x {
		for i, e := range v.Data {
			d := math.Abs(e-y[name].Data[i]) / max(1, math.Abs(e))
			if !(d <= worst) {
				worst = d
			}
		}
	}
	return worst
}

// members have a start of their own in the chunkwise form. The sequential form reads the
// parameter that it is made of.
var members = []string{"k", "v", "alpha", "eta", "m"}

// copyStart makes the start of a member what its page says: the parameter, plus the
// identity for keys, values and queries.
func copyStart(s string, in map[string]*interp.Tensor, d int) {
	from, to := in["N_"+s], in["M_0_"+s]
	for i := range to.Data {
		at := i % (d * d)
		to.Data[i] = from.Data[at]
		if at/d == at%d && (s == "k" || s == "v") {
			to.Data[i]++
		}
	}
}

// overSequences sums a tensor over its first axis.
func overSequences(t *interp.Tensor) *interp.Tensor {
	out := interp.NewTensor(t.Shape[1:]...)
	for i, x := range t.Data {
		out.Data[i%len(out.Data)] += x
	}
	return out
}

// bothWays runs the forward and the backward of a pair; the results of both by
// their names, without what is saved.
func bothWays(p *ir.Pair, sizes map[string]int, in map[string]*interp.Tensor) map[string]*interp.Tensor {
	all, out := maps.Clone(in), map[string]*interp.Tensor{}
	for n, t := range interp.Run(p.Fwd, sizes, ofFunc(p.Fwd, in)) {
		if slices.Contains(p.Saved, n) {
			all[n] = t
		} else {
			out["forward "+n] = t
		}
	}
	for n, t := range interp.Run(p.Bwd, sizes, ofFunc(p.Bwd, all)) {
		out["backward "+n] = t
	}
	return out
}

// ofFunc are those of the values that are parameters of a program.
func ofFunc(f *ir.Func, all map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		out[p.Name] = all[p.Name]
	}
	return out
}
