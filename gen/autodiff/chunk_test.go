package autodiff_test

import (
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestChunk holds the adjoints of recurrences over chunks to differences.
func TestChunk(t *testing.T) {
	for _, sizes := range []map[string]int{{"L": 1, "T": 1, "C": 1, "d_k": 1, "d_v": 1}, {"L": 2, "T": 2, "C": 4, "d_k": 3, "d_v": 2}} {
		for _, f := range []*ir.Func{irtest.Chunk(), irtest.Momentum(), irtest.Linear()} {
			againstDifferences(t, f, sizes)
		}
	}
}

func againstDifferences(t *testing.T, f *ir.Func, sizes map[string]int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	params := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = 0.5 * rng.NormFloat64()
		}
		params[p.Name] = x
	}
	for _, e := range gradErrors(f, sizes, params) {
		t.Error(e)
	}
}

// TestChunkIsKept: the products and the solution of a chunk are saved for the
// backward.
func TestChunkIsKept(t *testing.T) {
	p := autodiff.NewPair(irtest.Chunk())
	for _, in := range p.Bwd.Body {
		if in.Scan == nil {
			continue
		}
		free := map[*ir.Value]bool{}
		for _, v := range in.Scan.Body.Params {
			free[v] = v.Role != ir.Carry && v.Name != "Y.bar"
		}
		for _, x := range in.Scan.Body.Body {
			only := true
			for _, v := range x.Reads() {
				only = only && free[v]
			}
			if free[x.Out] = only; only && len(x.Loops) > len(x.Out.Axes) {
				t.Errorf("the backward computes %s of the forward again", x.Out.Name)
			}
		}
	}
}
