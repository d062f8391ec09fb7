package emitgo_test

import (
	"os"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

// projection is y = x·Wᵀ over lanes and tokens.
func projection() *ir.Func {
	f := &ir.Func{Name: "projection"}
	L, T, m, n := f.NewAxis("L"), f.NewAxis("T"), f.NewAxis("m"), f.NewAxis("n")
	x := f.AddParam("x", ir.Input, ir.Real, L, T, m)
	W := f.AddParam("W", ir.Outer, ir.Real, n, m)
	b := &ir.Builder{F: f, Eq: "project"}
	y := b.Prod([]*ir.Axis{L, T, n, m}, []*ir.Axis{L, T, n}, ir.Ls(3), 1, ir.At(x, ir.L(0), ir.L(1), ir.L(3)), ir.At(W, ir.L(2), ir.L(3)))
	f.Results = []ir.Result{{Name: "y", Val: y}}
	return f
}

// TestProjectionSpeed prints the time of a projection and of its backward, two
// products, when SPEED is set.
func TestProjectionSpeed(t *testing.T) {
	if os.Getenv("SPEED") == "" {
		t.Skip("SPEED is not set")
	}
	fwd, bwd, err := lower.Pair(autodiff.NewPair(projection()))
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, map[string]*plan.Kernel{"ProjectionForward": fwd, "ProjectionBackward": bwd})
	for _, d := range []int{64, 128, 256} {
		sizes := map[string]int{"L": 1, "T": 512, "m": d, "n": d}
		for _, k := range []struct {
			name string
			k    *plan.Kernel
			ops  int
		}{{"ProjectionForward", fwd, 1}, {"ProjectionBackward", bwd, 2}} {
			r := speedRequest(t, k.name, k.k, sizes, d)
			r.Rounds = 21
			ns := h.run(t, r).Nanos
			slices.Sort(ns)
			flops := float64(2*512*d*d*k.ops) / float64(ns[0])
			t.Logf("%s d=%d: median %d µs, best %d µs, %.2f flop/ns", k.name, d, ns[len(ns)/2]/1000, ns[0]/1000, flops)
		}
	}
}
