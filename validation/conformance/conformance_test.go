package conformance

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// A recorder is a test that only counts its failures.
type recorder struct {
	testing.TB
	failed int
	last   string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failed++
	r.last = fmt.Sprintf(format, args...)
}
func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Logf(string, ...any) {
}

type named = map[string][]float64

// TestComparisons breaks what each comparison is there to see.
func TestComparisons(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		fail bool
		f    func(r *recorder)
	}{
		{"equal bits", false, func(r *recorder) { sameBits(r, "", named{"a": {1, nan}}, named{"a": {1, nan}}) }},
		{"a zero of another sign", true, func(r *recorder) { sameBits(r, "", named{"a": {0}}, named{"a": {math.Copysign(0, -1)}}) }},
		{"the last bit", true, func(r *recorder) { sameBits(r, "", named{"a": {1}}, named{"a": {math.Nextafter(1, 2)}}) }},
		{"a name too many", true, func(r *recorder) { sameBits(r, "", named{"a": nil, "b": nil}, named{"a": nil}) }},
		{"a name too few", true, func(r *recorder) { sameBits(r, "", named{}, named{"a": {1}}) }},
		{"near", false, func(r *recorder) { near(r, "", []float64{1, 1e-14}, []float64{1, 0}, vectorTol) }},
		{"far", true, func(r *recorder) { near(r, "", []float64{1 + 1e-10}, []float64{1}, vectorTol) }},
		{"not a number", true, func(r *recorder) { near(r, "", []float64{nan}, []float64{nan}, vectorTol) }},
		{"no gradient where there is none", false, func(r *recorder) { allNear(r, "", named{}, named{"a": {0, 0}}, vectorTol) }},
		{"what cancels beside a hundred", false, func(r *recorder) {
			allNear(r, "", named{"a": {5e-13}, "b": {100}}, named{"a": {0}, "b": {100}}, vectorTol)
		}},
		{"what does not beside a hundred", true, func(r *recorder) {
			allNear(r, "", named{"a": {5e-12}, "b": {100}}, named{"a": {0}, "b": {100}}, vectorTol)
		}},
		{"nothing beside what is infinite", true, func(r *recorder) {
			allNear(r, "", named{"a": {5e-13}, "b": {math.Inf(1)}}, named{"a": {0}, "b": {math.Inf(1)}}, vectorTol)
		}},
		{"no gradient where there is one", true, func(r *recorder) { allNear(r, "", named{}, named{"a": {0, 1}}, vectorTol) }},
		{"float32", false, func(r *recorder) { close32(r, "", []float32{1, 2}, []float64{1, 2.00001}, singleTol) }},
		{"not float32", true, func(r *recorder) { close32(r, "", []float32{1, 2}, []float64{1, 2.001}, singleTol) }},
		{"the right slope", false, func(r *recorder) { slope(r, 6) }},
		{"a slope off by a thousandth", true, func(r *recorder) { slope(r, 6.006) }},
		{"no slope", true, func(r *recorder) { slope(r) }},
		{"nothing compared", true, func(r *recorder) { tally{}.report(r) }},
	} {
		r := &recorder{TB: t}
		if c.f(r); (r.failed > 0) != c.fail {
			t.Errorf("%s: %d failures: %s", c.name, r.failed, r.last)
		}
	}
}

// slope checks a derivative of x² at 3.
func slope(r *recorder, analytic ...float64) {
	x := []float64{3}
	check(r, &tally{}, "", func() float64 { return x[0] * x[0] }, x, analytic)
}

func TestCut(t *testing.T) {
	x := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} // 2 sequences, 3 tokens, width 2
	for _, c := range []struct {
		sequence, token [2]int
		want            string
	}{
		{[2]int{0, 2}, [2]int{0, 3}, "[1 2 3 4 5 6 7 8 9 10 11 12]"},
		{[2]int{1, 2}, [2]int{0, 3}, "[7 8 9 10 11 12]"},
		{[2]int{0, 2}, [2]int{1, 2}, "[3 4 9 10]"},
		{[2]int{0, 2}, [2]int{1, 1}, "[]"},
	} {
		if got := fmt.Sprint(cut(x, 2, 3, c.sequence, c.token)); got != c.want {
			t.Errorf("cut(%v, %v) = %s, want %s", c.sequence, c.token, got, c.want)
		}
	}
}

// TestVectors reads cases: only those of their kind, integers apart.
func TestVectors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.txt")
	text := "tensor whole.0.size.L int []\n2\ntensor whole.0.in.k0.tail f64 [2]\n0x1p+0 -0x1p-1\ntensor whole.0.in.pos int [2]\n0 100\n" +
		"tensor whole.0.out.y f64 [1]\n0x1p+1\ntensor read.0.size.L int []\n3\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cs := read(t, file, whole)
	if len(cs) != 1 || cs[0].sizes["L"] != 2 {
		t.Fatalf("cases: %v", cs)
	}
	a := args[float32](t, cs[0])
	if a.In["k0.tail"][1] != -0.5 || a.Ints["pos"][1] != 100 {
		t.Errorf("in: %v %v", a.In, a.Ints)
	}
	r := &recorder{TB: t}
	cs[0].holds(r, "out", named{"y": {2}, "z": {0}})
	if r.failed > 0 {
		t.Error(r.last)
	}
	if cs[0].holds(r, "out", named{"y": {2}, "z": {1}}); r.failed != 1 {
		t.Error("an output that the vectors lack was not seen")
	}
}

// TestDraw: what is drawn depends on its name and the seed alone.
func TestDraw(t *testing.T) {
	a, b := newArgs[float64](t, Sizes{"L": 3}, 7), newArgs[float64](t, Sizes{"L": 3}, 7)
	a.Real("x", 4)
	bits(t, "w", a.Real("w", 5), b.Real("w", 5))
	for _, i := range a.Index("ids", 40, 2, 4, -1) {
		if i != -1 && (i < 2 || i > 4) {
			t.Errorf("index %d", i)
		}
	}
	seen := map[int32]bool{}
	for _, p := range a.Pos("pos", 3) {
		seen[p] = true
	}
	if len(seen) != 3 {
		t.Errorf("positions %v: want one of each age", seen)
	}
}
