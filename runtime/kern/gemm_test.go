package kern_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/kern"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// TestGemmFMA holds all levels to the doc's words, bit for bit.
func TestGemmFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, wild := range []bool{false, true} {
		draw := draws(r, wild)
		for _, m := range gemmSizes {
			for _, n := range gemmSizes {
				for _, depth := range gemmSizes {
					if wild && m*n*depth > 1<<18 || testing.Short() && m*n*depth > 1<<13 {
						continue
					}
					newProduct(m, n, depth, r.IntN(variants), draw).check(t)
				}
			}
		}
	}
}

// TestGemmFMAForms goes through all forms of the operands at sizes with tails.
func TestGemmFMAForms(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for v := range variants {
		newProduct(15, 37, 9, v, draws(r, v%3 == 0)).check(t)
	}
}

// TestGemmFMALong has sums of several stretches.
func TestGemmFMALong(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, depth := range []int{511, 512, 513, 1024, 1027, 2050} {
		for range 6 {
			newProduct(1+r.IntN(40), 1+r.IntN(70), depth, r.IntN(variants), draws(r, false)).check(t)
		}
	}
	newProduct(1100, 5, 3, 0, draws(r, false)).check(t)
}

// TestGemmFMAEveryTail has every number of rows and columns of a block.
func TestGemmFMAEveryTail(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for m := 1; m <= 30; m++ {
		for n := 1; n <= 66; n++ {
			for range 2 {
				newProduct(m, n, 1+r.IntN(9), r.IntN(variants), draws(r, false)).check(t)
			}
		}
	}
}

func TestGemmFMAOfNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for v := range 2 * 4 * 5 {
		newProduct(5, 6, 0, v, draws(r, false)).check(t)
		newProduct(0, 6, 3, v, draws(r, false)).check(t)
		newProduct(5, 0, 3, v, draws(r, false)).check(t)
	}
	kern.GemmFMA(0, 0, 0, 1, false, nil, 0, 0, nil, 0, 0, nil, 0, 0)
	c := []float32{1, 2}
	if kern.GemmFMA(1, 2, 0, 1, false, c, 2, 1, nil, 0, 0, nil, 0, 0); c[0] != 0 || c[1] != 0 {
		t.Errorf("a sum of nothing is %v", c)
	}
}

// TestGemmFMAWorkers compares numbers of workers, and callers at once.
func TestGemmFMAWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	defer workers.SetCount(0)
	r := rand.New(rand.NewPCG(11, 12))
	for _, size := range [][3]int{{257, 96, 64}, {1000, 33, 31}, {15, 257, 257}, {128, 128, 1025}} {
		for count := 1; count <= 3; count++ {
			workers.SetCount(count)
			p := newProduct(size[0], size[1], size[2], r.IntN(variants), draws(r, false))
			p.check(t)
			want := p.want()
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					c := p.c.clone()
					p.run(c)
					if cpu.Active() >= cpu.FMA && !equalBits(c.buf, want.buf) {
						t.Errorf("%v: wrong among other callers", p)
					}
				})
			}
			all.Wait()
		}
	}
}

func equalBits(x, y []float32) bool {
	for i := range x {
		if math.Float32bits(x[i]) != math.Float32bits(y[i]) {
			return false
		}
	}
	return true
}

// gemmRelTol bounds the distance to float64 in relative L2: an error of 2^-24
// a step, which grows like the root of the depth, here up to 257.
const gemmRelTol = 1e-6

// TestGemmFMAError compares with sums in float64.
func TestGemmFMAError(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, d := range []int{7, 64, 257} {
		p := newProduct(d, d, d, 0, draws(r, false))
		c := p.c.clone()
		p.run(c)
		var off, all float64
		for i := range d {
			for j := range d {
				var s float64
				for k := range d {
					s += float64(*p.a.at(i, k)) * float64(*p.b.at(k, j))
				}
				e := float64(*c.at(i, j)) - s
				off, all = off+e*e, all+s*s
			}
		}
		if !(math.Sqrt(off) <= gemmRelTol*math.Sqrt(all)) {
			t.Errorf("d = %d: relative distance %v, want at most %v", d, math.Sqrt(off/all), gemmRelTol)
		}
	}
}

// TestGemmFMARefuses has calls that must panic before anything is written.
func TestGemmFMARefuses(t *testing.T) {
	x := make([]float32, 100)
	c := make([]float32, 12) // 3 by 4
	for _, e := range []struct {
		name string
		call func()
		says string
	}{
		{"C short", func() { kern.GemmFMA(3, 4, 2, 1, false, c[:11], 4, 1, x, 2, 1, x, 4, 1) }, "C is 3 by 4"},
		{"A short", func() { kern.GemmFMA(3, 4, 2, 1, false, c, 4, 1, x[:5], 2, 1, x, 4, 1) }, "A is 3 by 2"},
		{"B short", func() { kern.GemmFMA(3, 4, 2, 1, false, c, 4, 1, x, 2, 1, x[:7], 4, 1) }, "B is 2 by 4"},
		{"A none", func() { kern.GemmFMA(3, 4, 2, 1, false, c, 4, 1, nil, 2, 1, x, 4, 1) }, "A is 3 by 2"},
		{"far", func() { kern.GemmFMA(3, 4, 2, 1, false, c, 1<<62, 1, x, 2, 1, x, 4, 1) }, "C is 3 by 4"},
		{"far columns", func() { kern.GemmFMA(3, 4, 2, 1, false, c, 4, 1, x, 2, 1, x, 4, 1<<62) }, "B is 2 by 4"},
		{"huge", func() { kern.GemmFMA(1<<62, 4, 2, 1, false, c, 4, 1, x, 0, 1, x, 4, 1) }, "C is"},
		{"back", func() { kern.GemmFMA(3, 4, 2, 1, false, c, -4, 1, x, 2, 1, x, 4, 1) }, "distances -4"},
		{"negative", func() { kern.GemmFMA(3, -4, 2, 1, false, c, 4, 1, x, 2, 1, x, 4, 1) }, "not negative"},
		{"over A", func() { kern.GemmFMA(3, 4, 2, 1, false, x, 4, 1, x[11:], 2, 1, x[50:], 4, 1) }, "entries of A"},
		{"over B", func() { kern.GemmFMA(3, 4, 2, 1, false, x[20:], 4, 1, x, 2, 1, x[13:], 4, 1) }, "entries of B"},
		{"columns meet", func() { kern.GemmFMA(3, 4, 4, 1, false, x, 9, 1, x[3:], 9, 1, x[50:], 4, 1) }, "entries of A"},
	} {
		for i := range x {
			x[i] = 1
		}
		message := panicOf(e.call)
		if !strings.HasPrefix(message, "kern: ") || !strings.Contains(message, e.says) {
			t.Errorf("%s: panic %q, want one that says %q", e.name, message, e.says)
		}
		for i := range x {
			if x[i] != 1 || c[i%12] != 0 {
				t.Fatalf("%s: something was written", e.name)
			}
		}
	}
	for name, call := range map[string]func(){
		"column ranges of one matrix": func() { kern.GemmFMA(3, 4, 4, 1, false, x, 9, 1, x[4:], 9, 1, x[50:], 4, 1) },
		"side by side":                func() { kern.GemmFMA(3, 4, 2, 1, false, x, 4, 1, x[12:], 2, 1, x[18:], 4, 1) },
	} {
		if message := panicOf(call); message != "" {
			t.Errorf("%s: panic %q", name, message)
		}
	}
}

func panicOf(f func()) (message string) {
	defer func() {
		if v := recover(); v != nil {
			message = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

func TestGemmFMADoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, l := range cpu.Targets()[1:] {
		restore, err := cpu.Force(l)
		if err != nil {
			continue
		}
		for _, d := range []int{33, 96} { // alone, and with workers
			p := newProduct(d, d, d, 0, draws(r, false))
			p.run(p.c)
			if n := testing.AllocsPerRun(20, func() { p.run(p.c) }); n != 0 {
				t.Errorf("d = %d at level %v: %v allocations", d, l, n)
			}
		}
		restore()
	}
}

// BenchmarkGemmFMA measures the three products of a projection, T = 512.
func BenchmarkGemmFMA(b *testing.B) {
	const tokens = 512
	draw := draws(rand.New(rand.NewPCG(17, 18)), false)
	for _, d := range []int{64, 128, 256, 512} {
		for name, p := range map[string]product{
			"forward": {m: tokens, n: d, depth: d, c: newMatrix(tokens, d, byRows, draw), a: newMatrix(tokens, d, byRows, draw), b: newMatrix(d, d, byColumns, draw)},
			"inputs":  {m: tokens, n: d, depth: d, c: newMatrix(tokens, d, byRows, draw), a: newMatrix(tokens, d, byRows, draw), b: newMatrix(d, d, byRows, draw)},
			"weights": {m: d, n: d, depth: tokens, c: newMatrix(d, d, byRows, draw), a: newMatrix(d, tokens, byColumns, draw), b: newMatrix(tokens, d, byRows, draw)},
		} {
			p.coef = 1
			for _, l := range cpu.Targets()[2:] {
				for _, count := range []int{1, 2} {
					b.Run(fmt.Sprintf("%s/d%d/%v/%dthreads", name, d, l, count), func(b *testing.B) {
						restore, err := cpu.Force(l)
						if err != nil {
							b.Skip(err)
						}
						defer restore()
						defer workers.SetCount(0)
						workers.SetCount(count)
						for b.Loop() {
							p.run(p.c)
						}
						work := 2 * float64(p.m) * float64(p.n) * float64(p.depth) * float64(b.N)
						b.ReportMetric(work/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
					})
				}
			}
		}
	}
}
