package num

import (
	"math"
	"testing"
)

// search runs a search and counts its iterations.
func search[F Float](f func(F) F, lo, hi, tol F) (Search[F], int) {
	s, n := NewSearch(lo, hi, tol), 0
	for s.More() {
		n++
		s.Take(f(s.At()))
	}
	return s, n
}

// A searchCase is a function with its root.
type searchCase struct {
	name   string
	f      func(x float64) float64
	lo, hi float64
	root   float64
	most   int  // iterations
	rough  bool // no line meets zero near the root: it is found to the tolerance
}

var searchCases = []searchCase{
	{"line", func(x float64) float64 { return 3*x - 1 }, -10, 10, 1.0 / 3, 5, false},
	{"falling", func(x float64) float64 { return 2 - x }, -100, 100, 2, 5, false},
	{"exponential", func(x float64) float64 { return math.Exp(-x) - 0.25 }, -50, 50, math.Log(4), 40, false},
	{"cube", func(x float64) float64 { return x*x*x - 2 }, -10, 10, math.Cbrt(2), 14, false},
	{"sigmoid", func(x float64) float64 { return 1/(1+math.Exp(-x)) - 0.01 }, -40, 40, -math.Log(99), 25, false},
	{"kink", func(x float64) float64 { return math.Max(0, 1-x) - 0.1*x }, -5, 9, 1 / 1.1, 14, false},
	{"kink at the root", func(x float64) float64 { return math.Max(x, 7*x) }, -3, 2, 0, 50, true},
	{"square of a kink", func(x float64) float64 { return math.Pow(math.Max(0, 1-x), 2) - 0.25 }, -1, 3, 0.5, 16, false},
	{"far from the ends", func(x float64) float64 { return x - 1e-6 }, -1e6, 1e6, 1e-6, 5, false},
	{"flat", func(x float64) float64 { return math.Pow(x-1, 9) }, -4, 5.5, 1, 45, true},
	{"step", func(x float64) float64 { return math.Copysign(1, x-0.7) }, -1, 3, 0.7, 45, true},
	{"at the lower end", func(x float64) float64 { return x + 2 }, -2, 3, -2, 1, false},
	{"at the upper end", func(x float64) float64 { return x - 3 }, -2, 3, 3, 2, false},
}

const searchTol = 1e-10

func TestSearch(t *testing.T) {
	for _, c := range searchCases {
		s, n := search(c.f, c.lo, c.hi, searchTol)
		tol := 4e-15 * math.Max(1, math.Abs(c.root))
		if c.rough {
			tol = searchTol
		}
		if !(math.Abs(s.Root()-c.root) <= tol) || s.Failed() {
			t.Errorf("%s: found %v in %d iterations, want %v", c.name, s.Root(), n, c.root)
		}
		if n > c.most {
			t.Errorf("%s: %d iterations, want at most %d", c.name, n, c.most)
		}
		single, n := search(func(x float32) float32 { return float32(c.f(float64(x))) }, float32(c.lo), float32(c.hi), searchTol)
		if c.name != "flat" && !(math.Abs(float64(single.Root())-c.root) <= 2e-7*math.Max(1, math.Abs(c.root))) || single.Failed() {
			t.Errorf("%s: found %v in float32 in %d iterations, want %v", c.name, single.Root(), n, c.root)
		}
	}
}

// TestSearchRounds: seldom longer than bisection, and never by much, whatever
// the function; and within the tolerance that was asked for.
func TestSearchRounds(t *testing.T) {
	for _, tol := range []float64{1e-3, 1e-6, 1e-10} {
		for _, c := range searchCases {
			s, n := search(c.f, c.lo, c.hi, tol)
			bisection := int(math.Ceil(math.Log2((c.hi - c.lo) / tol)))
			if n > 2+bisection+bisection/3 {
				t.Errorf("%s to %v: %d iterations, bisection takes %d", c.name, tol, n, bisection+2)
			}
			if !(math.Abs(s.Root()-c.root) <= tol) {
				t.Errorf("%s to %v: found %v, want %v", c.name, tol, s.Root(), c.root)
			}
		}
	}
}

// TestSearchWithout: what has no root gives NaN and says so; what is no number
// gives NaN and is silent.
func TestSearchWithout(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		f      func(float64) float64
		lo, hi float64
		failed bool
	}{
		{"above", func(x float64) float64 { return 1 + x*x }, -1, 1, true},
		{"below", func(x float64) float64 { return -1 }, -1, 1, true},
		{"two roots", func(x float64) float64 { return x*x - 1 }, -2, 2, true},
		{"turned range", func(x float64) float64 { return x }, 1, -1, true},
		{"empty range", func(x float64) float64 { return x - 1 }, 2, 2, true},
		{"no numbers", func(x float64) float64 { return nan }, -1, 1, false},
		{"no number below", func(x float64) float64 { return math.Sqrt(x + 0.5) }, -1, 1, false},
		{"no number inside", func(x float64) float64 { return map[bool]float64{true: nan, false: x}[x > -0.5 && x < 0.5] }, -1, 1, false},
		{"no range", func(x float64) float64 { return x }, nan, 1, false},
	} {
		s, n := search(c.f, c.lo, c.hi, searchTol)
		if s.Root() == s.Root() || s.Failed() != c.failed || n > 4 {
			t.Errorf("%s: found %v in %d iterations, failed is %v", c.name, s.Root(), n, s.Failed())
		}
	}
	if s, _ := search(func(x float64) float64 { return x - 3 }, math.Inf(-1), 5, searchTol); s.Root() == s.Root() || !s.Failed() {
		t.Errorf("a range without an end: found %v", s.Root())
	}
}
