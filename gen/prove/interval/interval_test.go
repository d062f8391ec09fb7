package interval

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// TestIntervalsHold: the results of a random program lie in the ranges that interval
// arithmetic finds for them.
func TestIntervalsHold(t *testing.T) {
	bounded := 0
	for seed := range uint64(600) {
		f := irtest.Program(seed)
		now := Of(f, nil, nil)
		for n, x := range interp.Run(f, irtest.Sizes, randomInputs(f, seed)) {
			iv := now[n].Interval
			if iv != Everything {
				bounded++
			}
			for _, v := range x.Data {
				if !math.IsNaN(v) && !reaches(iv, v) {
					t.Fatalf("seed %d: %s is %g, outside of %s\n%s", seed, n, v, iv, f)
				}
			}
		}
	}
	if bounded < 50 {
		t.Errorf("only %d results have a bound", bounded)
	}
}

// randomInputs are parameters of very different sizes.
func randomInputs(f *ir.Func, seed uint64) map[string]*interp.Tensor {
	rng := rand.New(rand.NewPCG(seed, 3))
	params := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, irtest.Sizes)...)
		for i := range x.Data {
			x.Data[i] = math.Exp(2*rng.NormFloat64()) * rng.NormFloat64()
			if p.Elem != ir.Real {
				x.Data[i] = float64(rng.IntN(2))
			}
		}
		params[p.Name] = x
	}
	return params
}

// reaches reports whether a float64 number is in an interval up to rounding, which reaches
// open ends too.
func reaches(a Interval, v float64) bool {
	slack := func(end float64) float64 { return 1e-12 * math.Max(1, math.Abs(end)) }
	return (math.IsInf(a.Lo, -1) || v >= a.Lo-slack(a.Lo)) && (math.IsInf(a.Hi, 1) || v <= a.Hi+slack(a.Hi))
}

// TestEveryPrimitiveHasARange fails on a hole of the analysis: every primitive but the
// scan is analysed by itself, and its results lie in the range.
func TestEveryPrimitiveHasARange(t *testing.T) {
	for _, op := range ir.Ops() {
		f := irtest.Primitive(op)
		if f == nil {
			continue
		}
		t.Run(op.String(), func(t *testing.T) {
			iv := Of(f, nil, nil)["out"].Interval
			for _, v := range interp.Run(f, irtest.Sizes, randomInputs(f, uint64(op)))["out"].Data {
				if !math.IsNaN(v) && !reaches(iv, v) {
					t.Errorf("%g, outside of %s", v, iv)
				}
			}
		})
	}
}

// TestIntervalOps samples pairs of intervals and their members.
func TestIntervalOps(t *testing.T) {
	ends := []float64{math.Inf(-1), -3, -1, 0, 0.5, 2, math.Inf(1)}
	member := func(rng *rand.Rand, a Interval) float64 {
		lo, hi := math.Max(a.Lo, -1e3), math.Min(a.Hi, 1e3)
		return lo + (hi-lo)*(0.001+0.998*rng.Float64())
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, op := range ir.Ops() {
		for range 2000 {
			a, b := someInterval(rng, ends), someInterval(rng, ends)
			x, y := member(rng, a), member(rng, b)
			var v float64
			var iv Interval
			switch {
			case op.Unary() != nil && op != ir.Not:
				v, iv = op.Unary()(x), functions[op].image(a, a)
			case op.Binary() != nil && op != ir.And && op != ir.Or:
				v, iv = op.Binary()(x, y), functions[op].image(a, b)
			default:
				continue
			}
			if !math.IsNaN(v) && !math.IsInf(v, 0) && !reaches(iv, v) {
				t.Fatalf("%v of %g ∈ %s, %g ∈ %s is %g, outside of %s", op, x, a, y, b, v, iv)
			}
		}
	}
	for range 2000 {
		a, b := someInterval(rng, ends), someInterval(rng, ends)
		x, y := member(rng, a), member(rng, b)
		if !reaches(a.mul(b), x*y) || !reaches(a.add(b), x+y) || !reaches(a.power(2), x*x) || !reaches(a.power(3), x*x*x) {
			t.Fatalf("%g ∈ %s, %g ∈ %s", x, a, y, b)
		}
	}
}

func someInterval(rng *rand.Rand, ends []float64) Interval {
	i, j := rng.IntN(len(ends)-1), rng.IntN(len(ends)-1)
	if i > j {
		i, j = j, i
	}
	return Interval{ends[i], ends[j+1], math.IsInf(ends[i], 0) || rng.IntN(2) == 0, math.IsInf(ends[j+1], 0) || rng.IntN(2) == 0}
}
