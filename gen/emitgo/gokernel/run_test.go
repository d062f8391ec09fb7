package gokernel_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

// The kernels' sums run in the interpreter's order but for factors moved out
// of sums and sums over rows; elementary functions differ by an ulp or two.
const (
	relTol64 = 1e-12
	relTol32 = 1e-5
)

// A program is one of the programs of programs_test.go with what it needs.
type program struct {
	name  string
	f     *ir.Func
	sizes []map[string]int
	input func(rng *rand.Rand, p *ir.Value, sizes map[string]int) float64 // nil: normal deviates
	pair  *ir.Pair
	fwd   *plan.Kernel
	bwd   *plan.Kernel
	alone *plan.Kernel // the program without a backward
}

// A bench runs programs in the interpreter and as kernels.
type bench struct {
	h        *harness
	programs []*program
}

func newBench(t *testing.T, programs []*program) *bench {
	t.Helper()
	kernels := map[string]*plan.Kernel{}
	for _, p := range programs {
		p.pair = autodiff.NewPair(p.f)
		var err error
		if p.fwd, p.bwd, err = lower.Pair(p.pair); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		kernels[p.name+"Forward"], kernels[p.name+"Backward"] = p.fwd, p.bwd
		if p.alone, err = lower.Func(p.f); err != nil {
			t.Fatalf("%s: %v", p.name, err)
		}
		kernels[p.name+"Alone"] = p.alone
	}
	return &bench{newHarness(t, kernels), programs}
}

// A trial is one program at one size with its inputs.
type trial struct {
	t      *testing.T
	b      *bench
	p      *program
	sizes  map[string]int
	params map[string]*interp.Tensor
}

func (b *bench) trial(t *testing.T, p *program, sizes map[string]int) *trial {
	rng := rand.New(rand.NewPCG(1, 2))
	x := &trial{t, b, p, maps.Clone(sizes), map[string]*interp.Tensor{}}
	if x.sizes["C"] == 0 {
		x.sizes["C"] = 64
	}
	for _, v := range p.pair.Fwd.Params {
		x.params[v.Name] = fillTensor(rng, p, v, sizes)
	}
	for _, v := range p.pair.Bwd.Params {
		if v.Role == ir.Adjoint {
			x.params[v.Name] = fillTensor(rng, p, v, sizes)
		}
	}
	return x
}

func fillTensor(rng *rand.Rand, p *program, v *ir.Value, sizes map[string]int) *interp.Tensor {
	n := interp.NewTensor(interp.Shape(v.Axes, sizes)...)
	for i := range n.Data {
		if p.input != nil {
			if n.Data[i] = p.input(rng, v, sizes); !math.IsNaN(n.Data[i]) {
				continue
			}
		}
		n.Data[i] = float64(float32(0.5 * rng.NormFloat64()))
	}
	return n
}

// oracle runs both programs in the interpreter; results of the backward are
// under their own names, those of the forward under NAME.
func (x *trial) oracle() (fwd, bwd map[string]*interp.Tensor) {
	fwd = interp.Run(x.p.pair.Fwd, x.sizes, x.only(x.p.pair.Fwd, x.params))
	in := maps.Clone(x.params)
	for n, v := range fwd {
		if q := x.p.pair.Bwd.Param(n); q != nil && q.Role == ir.Saved {
			in[n] = v
		}
	}
	return fwd, interp.Run(x.p.pair.Bwd, x.sizes, x.only(x.p.pair.Bwd, in))
}

func (x *trial) only(f *ir.Func, all map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		out[p.Name] = all[p.Name]
	}
	return out
}

// forward runs the forward kernel; without taping it gets no buffers for what
// only the backward needs.
func (x *trial) forward(single, taping bool) map[string][]float64 {
	k := x.p.fwd
	r := &request{Kernel: x.p.name + "Forward", Single: single, Sizes: x.sizes, Params: map[string][]float64{}, Lens: map[string]int{}}
	for _, b := range k.Params {
		switch {
		case b.Role == plan.Read:
			r.Params[b.Name] = x.params[b.Of].Data
		case taping || !b.Optional:
			r.Lens[b.Name] = length(x.t, k, b, x.sizes)
		}
	}
	return x.b.h.run(x.t, r).Results
}

// plain runs the kernel of the program without a backward.
func (x *trial) plain() map[string][]float64 {
	r := &request{Kernel: x.p.name + "Alone", Sizes: x.sizes, Params: map[string][]float64{}, Lens: map[string]int{}}
	for _, b := range x.p.alone.Params {
		if b.Role == plan.Read {
			r.Params[b.Name] = x.params[b.Of].Data
		} else {
			r.Lens[b.Name] = length(x.t, x.p.alone, b, x.sizes)
		}
	}
	return x.b.h.run(x.t, r).Results
}

// backward runs the backward kernel on what the forward gave.
func (x *trial) backward(single bool, fwd map[string][]float64) map[string][]float64 {
	k := x.p.bwd
	r := &request{Kernel: x.p.name + "Backward", Single: single, Sizes: x.sizes, Params: map[string][]float64{}, Lens: map[string]int{}}
	for _, b := range k.Params {
		switch {
		case b.Role == plan.Write:
			r.Lens[b.Name] = length(x.t, k, b, x.sizes)
		case b.Role == plan.Checkpoint:
			r.Params[b.Name] = fwd[b.Name]
		case x.p.pair.Bwd.Param(b.Of).Role == ir.Saved:
			r.Params[b.Name] = fwd[x.p.fwd.Result(b.Of).Name]
		default:
			r.Params[b.Name] = x.params[b.Of].Data
		}
	}
	return x.b.h.run(x.t, r).Results
}

// compare holds the results of a kernel to the interpreter's.
func (x *trial) compare(k *plan.Kernel, got map[string][]float64, want map[string]*interp.Tensor, tol float64) {
	x.t.Helper()
	for _, b := range k.Params {
		if b.Role != plan.Write {
			continue
		}
		if err := distance(got[b.Name], want[b.Of].Data); !(err <= tol) {
			x.t.Errorf("%s %v: %s is off by %.3g", k.Name, x.sizes, b.Name, err)
		}
	}
}

// distance is the largest difference relative to the largest entry.
func distance(got, want []float64) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	scale, diff := 1e-300, 0.0
	for i := range want {
		if math.IsInf(want[i], 0) && got[i] == want[i] {
			continue
		}
		scale = max(scale, math.Abs(want[i]))
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		diff = max(diff, d)
	}
	return diff / max(scale, 1e-3)
}

func same(t *testing.T, what string, a, b map[string][]float64, names ...string) {
	t.Helper()
	for _, n := range names {
		if !slices.EqualFunc(a[n], b[n], func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Errorf("%s: %s differs in bits", what, n)
		}
	}
}

// written lists the results of a kernel that are not optional.
func written(k *plan.Kernel, optional bool) []string {
	var out []string
	for _, b := range k.Params {
		if b.Role == plan.Write && (optional || !b.Optional) {
			out = append(out, b.Name)
		}
	}
	return out
}

func TestKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	b := newBench(t, append(programs(), concatenations()...))
	for _, p := range b.programs {
		t.Run(p.name, func(t *testing.T) {
			for _, sizes := range p.sizes {
				x := b.trial(t, p, sizes)
				fwd, bwd := x.oracle()
				x.compare(p.alone, x.plain(), fwd, relTol64)
				for _, single := range []bool{false, true} {
					tol := relTol64
					if single {
						tol = relTol32
					}
					got := x.forward(single, true)
					x.compare(p.fwd, got, fwd, tol)
					x.compare(p.bwd, x.backward(single, got), bwd, tol)
					same(t, fmt.Sprint("without tape ", sizes), got, x.forward(single, false), written(p.fwd, false)...)
				}
			}
		})
	}
	t.Run("replay", func(t *testing.T) { replays(t, b) })
	t.Run("batch", func(t *testing.T) { parts(t, b, "L", "Delta", "Titans", "Hebbian", "Vector", "Slots") })
	t.Run("rows", func(t *testing.T) { parts(t, b, "d_v", "Delta", "Titans", "Hebbian") })
	t.Run("split", func(t *testing.T) { splits(t, b) })
}

// replays holds what the backward computes from checkpoints to what it
// computes from all states: the same bits.
func replays(t *testing.T, b *bench) {
	for _, p := range b.programs {
		if p.fwd.Segment == "" {
			continue
		}
		for _, sizes := range p.sizes {
			x := b.trial(t, p, sizes)
			x.sizes["C"] = 1
			want := x.backward(true, x.forward(true, true))
			for _, c := range []int{2, 7, 64, 1000} {
				x.sizes["C"] = c
				got := x.backward(true, x.forward(true, true))
				same(t, fmt.Sprintf("%s: checkpoints every %d tokens %v", p.name, c, sizes), got, want, written(p.bwd, true)...)
			}
		}
	}
}
