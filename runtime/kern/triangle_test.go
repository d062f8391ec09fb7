package kern_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/kern"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A triangle is a system with room around its matrices.
type triangle struct {
	m, n                   int
	down                   bool
	xRow, xCol, aRow, aCol int
	x, a                   []float32
}

// newTriangle draws a system: rows of X in one piece, or columns; A as it is,
// or transposed. What must not be read of A is NaN.
func newTriangle(r *rand.Rand, m, n int, down, turned, transposed bool) *triangle {
	s := &triangle{m: m, n: n, down: down, xRow: n + r.IntN(3), xCol: 1, aRow: m + r.IntN(3), aCol: 1}
	if turned {
		s.xRow, s.xCol = 1, m+r.IntN(3)
	}
	if transposed {
		s.aRow, s.aCol = s.aCol, s.aRow
	}
	s.x, s.a = make([]float32, 1+(m-1)*s.xRow+(n-1)*s.xCol), make([]float32, 1+(m-1)*(s.aRow+s.aCol))
	for i := range s.a {
		s.a[i] = float32(math.NaN())
	}
	for i := range s.x {
		s.x[i] = float32(r.NormFloat64())
	}
	for t := range m {
		for i := range m {
			if i < t != down && i != t {
				s.a[t*s.aRow+i*s.aCol] = float32(0.5 * r.NormFloat64())
			}
		}
	}
	return s
}

// want is the solution by the doc's words, plainly.
func (s *triangle) want() []float32 {
	x := slices.Clone(s.x)
	row := func(k int) int {
		if s.down {
			return s.m - 1 - k
		}
		return k
	}
	for t := range s.m {
		for j := range s.n {
			to := &x[row(t)*s.xRow+j*s.xCol]
			for i := range t {
				*to = num.FMA32(-s.a[row(t)*s.aRow+row(i)*s.aCol], x[row(i)*s.xRow+j*s.xCol], *to)
			}
		}
	}
	return x
}

func (s *triangle) run(x []float32) {
	kern.TriangleFMA(s.m, s.n, s.down, x, s.xRow, s.xCol, s.a, s.aRow, s.aCol)
}

// check runs a system at every level that there is and compares all of X, what
// is between its rows included.
func (s *triangle) check(t *testing.T) {
	t.Helper()
	want, start := s.want(), slices.Clone(s.x)
	for _, l := range cpu.Targets()[1:] {
		restore, err := cpu.Force(l)
		if err != nil {
			continue
		}
		copy(s.x, start)
		s.run(s.x)
		restore()
		for i, x := range s.x {
			if math.Float32bits(x) != math.Float32bits(want[i]) {
				t.Fatalf("%d by %d, down %v, X %d,%d A %d,%d at level %v: entry %d is %x, want %x", s.m, s.n, s.down, s.xRow, s.xCol, s.aRow, s.aCol, l, i, x, want[i])
			}
		}
	}
	copy(s.x, start)
}

// TestTriangleFMA holds all levels to the doc's words, bit for bit.
func TestTriangleFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for form := range 8 {
		down, turned, transposed := form&1 > 0, form&2 > 0, form&4 > 0
		for m := 1; m <= 10; m++ {
			for _, n := range []int{1, 7, 8, 15, 16, 17, 63, 64, 65, 130} {
				newTriangle(r, m, n, down, turned, transposed).check(t)
			}
		}
		newTriangle(r, 64, 33, down, turned, transposed).check(t)
		newTriangle(r, 33, 257, down, turned, transposed).check(t)
	}
	kern.TriangleFMA(0, 3, false, nil, 0, 0, nil, 0, 0)
	kern.TriangleFMA(3, 0, true, nil, 0, 0, nil, 0, 0)
}

// TestTrianglePortable holds the portable solve to the same words in float64.
func TestTrianglePortable(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for form := range 8 {
		s := newTriangle(r, 13, 9, form&1 > 0, form&2 > 0, form&4 > 0)
		want := s.want()
		x, a := make([]float64, len(s.x)), make([]float64, len(s.a))
		for i, v := range s.x {
			x[i] = float64(v)
		}
		for i, v := range s.a {
			a[i] = float64(v)
		}
		kern.Triangle(s.m, s.n, s.down, x, s.xRow, s.xCol, a, s.aRow, s.aCol)
		for i := range x {
			if !(math.Abs(x[i]-float64(want[i])) <= gemmRelTol*(1+math.Abs(x[i]))) {
				t.Fatalf("form %d: entry %d is %g, want %g", form, i, x[i], want[i])
			}
		}
	}
}

// TestTriangleFMARefuses has calls that must panic before anything is written.
func TestTriangleFMARefuses(t *testing.T) {
	x := make([]float32, 60)
	for name, e := range map[string]struct {
		call func()
		says string
	}{
		"X short":  {func() { kern.TriangleFMA(3, 4, false, x[:11], 4, 1, x[20:], 3, 1) }, "X is 3 by 4"},
		"A short":  {func() { kern.TriangleFMA(3, 4, false, x, 4, 1, x[52:], 3, 1) }, "A is 3 by 3"},
		"negative": {func() { kern.TriangleFMA(-3, 4, false, x, 4, 1, x[20:], 3, 1) }, "not negative"},
		"back":     {func() { kern.TriangleFMA(3, 4, false, x, -4, 1, x[20:], 3, 1) }, "distances -4"},
		"over A":   {func() { kern.TriangleFMA(3, 4, false, x, 4, 1, x[11:], 3, 1) }, "entries of A"},
	} {
		if message := panicOf(e.call); !strings.HasPrefix(message, "kern: ") || !strings.Contains(message, e.says) {
			t.Errorf("%s: panic %q, want one that says %q", name, message, e.says)
		}
	}
}

func TestTriangleFMADoesNotAllocate(t *testing.T) {
	s := newTriangle(rand.New(rand.NewPCG(25, 26)), 32, 128, false, false, false)
	for _, l := range cpu.Targets()[1:] {
		if restore, err := cpu.Force(l); err == nil {
			s.run(s.x)
			if n := testing.AllocsPerRun(20, func() { s.run(s.x) }); n != 0 {
				t.Errorf("level %v: %v allocations", l, n)
			}
			restore()
		}
	}
}

// BenchmarkTriangleFMA solves systems as long as a chunk.
func BenchmarkTriangleFMA(b *testing.B) {
	s := newTriangle(rand.New(rand.NewPCG(27, 28)), 32, 128, false, false, false)
	for b.Loop() {
		s.run(s.x)
	}
}
