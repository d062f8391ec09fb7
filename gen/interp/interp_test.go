package interp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/ir/irtest"
)

// inputs are random parameters; indices run from −1 to 1.
func inputs(f *ir.Func, sizes map[string]int, rng *rand.Rand) map[string]*Tensor {
	out := map[string]*Tensor{}
	for _, p := range f.Params {
		x := NewTensor(Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64()
			if p.Elem != ir.Real {
				x.Data[i] = float64(rng.IntN(3) - 1)
			}
		}
		out[p.Name] = x
	}
	return out
}

// TestRunIsPlain compares with the plain evaluator, bit for bit: the order of
// every sum is the same.
func TestRunIsPlain(t *testing.T) {
	for seed := range uint64(400) {
		f := irtest.Program(seed)
		params := inputs(f, irtest.Sizes, rand.New(rand.NewPCG(seed, 1)))
		want := plainRun(f, irtest.Sizes, params)
		p := Compile(f)
		for range 2 { // the second run reuses the buffers
			for n, got := range p.Run(irtest.Sizes, params) {
				for i, x := range got.Data {
					if w := want[n].Data[i]; x != w && !(math.IsNaN(x) && math.IsNaN(w)) {
						t.Fatalf("seed %d: %s[%d] = %g, plainly %g\n%s", seed, n, i, x, w, f)
					}
				}
			}
		}
	}
}

// TestFloat32 checks that every number is a float32 and close to the float64.
func TestFloat32(t *testing.T) {
	const tol = 1e-4 // float32 through a dozen instructions
	for seed := range uint64(100) {
		f := irtest.Program(seed)
		params := inputs(f, irtest.Sizes, rand.New(rand.NewPCG(seed, 1)))
		p := Compile(f)
		p.Float32 = true
		want := Run(f, irtest.Sizes, params)
		for n, got := range p.Run(irtest.Sizes, params) {
			for i, x := range got.Data {
				if x != float64(float32(x)) {
					t.Fatalf("seed %d: %s[%d] = %v is no float32", seed, n, i, x)
				}
				if w := want[n].Data[i]; !(math.Abs(x-w) <= tol*(1+math.Abs(w))) {
					t.Errorf("seed %d: %s[%d] = %g in float32, %g in float64\n%s", seed, n, i, x, w, f)
				}
			}
		}
	}
}

const deltaStep = `func delta(k: input real[L, T, d], q: input real[L, T, d], v: input real[L, T, d], M: state real[L, d, d]) {
  axes L, T, d
  scan step over L, T as @1 {
    carry M [d, d] from M to M.next [L, d, d]
    token k [d] from k
    token q [d] from q
    token v [d] from v
    mk [d] = prod i:d j:d : M[i, j] k[j]
    e [d] = lin i:d : mk[i] - v[i]
    w [d, d] = prod i:d j:d : -0.1 e[i] k[j]
    n [d, d] = lin i:d j:d : M[i, j] + w[i, j]
    y [d] = prod i:d j:d : n[i, j] q[j]
    next M = n
    give y [L, T, d] = y
  }
  return y = y
  return state M = M.next
}`

// BenchmarkDelta reports entry operations, one per point of a box.
func BenchmarkDelta(b *testing.B) {
	f, err := ir.Parse(deltaStep)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []int{8, 64} {
		b.Run(fmt.Sprint("d=", d), func(b *testing.B) {
			sizes := map[string]int{"L": 1, "T": 1000, "d": d}
			params := inputs(f, sizes, rand.New(rand.NewPCG(1, 1)))
			for _, x := range params {
				for i := range x.Data {
					x.Data[i] *= 0.1
				}
			}
			p := Compile(f)
			for b.Loop() {
				p.Run(sizes, params)
			}
			b.ReportMetric(float64(4*d*d+d)*1000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mentries/s")
		})
	}
}
