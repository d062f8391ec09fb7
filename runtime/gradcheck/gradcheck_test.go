package gradcheck

import (
	"fmt"
	"math"
	"testing"
)

// problem is Σ sin(x_i)·e^(x_{i+1}/2) with its gradient.
func problem(n int) (f func() float64, x, g []float64) {
	x, g = make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(3*i)) * 2
	}
	f = func() (s float64) {
		for i := range x {
			s += math.Sin(x[i]) * math.Exp(x[(i+1)%n]/2)
		}
		return s
	}
	for i := range g {
		prev := x[(i+n-1)%n]
		g[i] = math.Cos(x[i])*math.Exp(x[(i+1)%n]/2) + math.Sin(prev)*math.Exp(x[i]/2)/2
	}
	return f, x, g
}

func ExampleCheck() {
	x := []float64{3}
	r := Check("square", func() float64 { return x[0] * x[0] }, x, []float64{6})
	fmt.Println(r.Passed, len(r.Failed), r.Err())
	// Output: 1 0 <nil>
}

func TestRightGradientPasses(t *testing.T) {
	f, x, g := problem(20)
	r := Check("sin·exp", f, x, g)
	if err := r.Err(); err != nil || r.Passed != 20 {
		t.Errorf("%v, passed %d of 20", err, r.Passed)
	}
	if r.Worst.Err > 0.1*r.Worst.Tol {
		t.Errorf("the differences use %.2g of the tolerance, want head-room: %v", r.Worst.Err/r.Worst.Tol, r)
	}
}

// TestWrongGradientFails is the table of mistakes the check exists for.
func TestWrongGradientFails(t *testing.T) {
	for name, spoil := range map[string]func(g []float64){
		"doubled":        func(g []float64) { scale(g, 2) },
		"sign":           func(g []float64) { g[4] = -g[4] },
		"all zero":       func(g []float64) { clear(g) },
		"NaN":            func(g []float64) { g[0] = math.NaN() },
		"Inf":            func(g []float64) { g[0] = math.Inf(1) },
		"all NaN":        func(g []float64) { scale(g, math.NaN()) },
		"1e-5 relative":  func(g []float64) { scale(g, 1+1e-5) },
		"shifted":        func(g []float64) { copy(g, g[1:]) },
		"small absolute": func(g []float64) { g[7] += 1e-4 },
	} {
		f, x, g := problem(20)
		spoil(g)
		if r := Check(name, f, x, g); r.Err() == nil {
			t.Errorf("%s passes: %v", name, r)
		}
	}
}

func scale(g []float64, c float64) {
	for i := range g {
		g[i] *= c
	}
}

func TestNaNLossFails(t *testing.T) {
	x := []float64{1, 2}
	if r := Check("NaN", func() float64 { return math.NaN() }, x, []float64{0, 0}); r.Err() == nil || len(r.Failed) != 2 {
		t.Errorf("a loss of NaN passes: %v", r)
	}
}

// TestKinkIsSkippedNotPassed puts every entry on the kink of |x|, within all steps.
func TestKinkIsSkippedNotPassed(t *testing.T) {
	x := []float64{1e-9, 0.5, 0.6, 0.7, 0.8, 0.9}
	f := func() (s float64) {
		for _, v := range x {
			s += math.Abs(v) + v*math.Abs(v)
		}
		return s
	}
	g := make([]float64, len(x))
	for i, v := range x {
		g[i] = 1 + 2*v
	}
	r := Check("kink", f, x, g)
	if r.Passed != 5 {
		t.Errorf("want 5 passed: %v", r)
	}
	if x[0] != 1e-9 || x[5] != 0.9 {
		t.Errorf("x was not restored: %v", x)
	}
}

func TestTooManySkippedFails(t *testing.T) {
	r := Report{Entries: 10, Passed: 7, Skipped: make([]Entry, 3)}
	if r.Err() == nil {
		t.Error("3 of 10 skipped passes")
	}
	r = Report{Entries: 10, Passed: 8, Skipped: make([]Entry, 2)}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

func TestNoisyLossIsSkipped(t *testing.T) {
	x := []float64{1, 1, 1, 1, 1, 1}
	calls := 0
	f := func() float64 { // noise of 1e-4 in the first entry only
		calls++
		return x[0]*x[0] + 1e-4*math.Sin(1e9*x[0]) + x[1] + x[2] + x[3] + x[4] + x[5]
	}
	r := Check("noise", f, x, []float64{2, 1, 1, 1, 1, 1})
	if len(r.Skipped) != 1 || r.Err() != nil {
		t.Errorf("want one skipped entry: %v", r)
	}
	if calls == 0 {
		t.Error("f was not called")
	}
}
