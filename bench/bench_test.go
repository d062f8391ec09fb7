package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/num"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		part float64
		want float64
	}{
		{[]float64{3}, 0.5, 3}, {[]float64{3, 1}, 0.5, 2}, {[]float64{9, 1, 5}, 0.5, 5}, {[]float64{4, 1, 2, 3}, 0.5, 2.5},
		{[]float64{5, 4, 3, 2, 1}, 0.25, 2}, {[]float64{5, 4, 3, 2, 1}, 0.75, 4}, {[]float64{1, 2}, 1, 2}, {[]float64{1, 2}, 0, 1},
	} {
		if got := quantile(c.x, c.part); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.x, c.part, got, c.want)
		}
	}
	if got := quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("quantile of nothing is %v, want NaN", got)
	}
}

// TestMeasure runs two variants of two slices with times that are known: a
// stall in one round moves no median.
func TestMeasure(t *testing.T) {
	runs := map[string]int{}
	fake := func(slice int, variant string, ns int64) task {
		return task{"sum", slice, variant, func() (int64, error) {
			runs[variant]++
			if runs[variant] == 7 {
				return ns * 1000, nil // a stall
			}
			return ns, nil
		}}
	}
	tasks := []task{fake(0, "a", 10), fake(1, "a", 30), fake(0, "b", 5), fake(1, "b", 15), {"other", 0, "a", func() (int64, error) { return 1, nil }}}
	got, err := measure(tasks, 9, rand.New(rand.NewPCG(1, 1)), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.sum("sum", "a"), got.sum("sum", "b"); a != 40 || b != 20 {
		t.Errorf("sums of medians %v and %v, want 40 and 20", a, b)
	}
	if got := got.longest("sum", "a"); got != 30 {
		t.Errorf("longest slice %v, want 30", got)
	}
	r := got.over("sum", "a", "b")
	if r.of != 2 || r.lo != 2 || r.mid != 2 || r.hi != 2 {
		t.Errorf("ratio %+v, want 2 throughout", r)
	}
	if runs["a"] != 20 || runs["b"] != 20 {
		t.Errorf("runs %v, want 10 rounds of 2 slices each", runs)
	}
	broken := errors.New("broken")
	_, err = measure([]task{{run: func() (int64, error) { return 0, broken }}}, 1, rand.New(rand.NewPCG(1, 1)), func(int) {})
	if !errors.Is(err, broken) {
		t.Errorf("measure hides an error: %v", err)
	}
}

// TestOrder sees that a round runs every task once, and the variants of a slice
// in a row.
func TestOrder(t *testing.T) {
	var tasks []task
	for slice := range 5 {
		for _, v := range []string{"a", "b", "c"} {
			tasks = append(tasks, task{what: "x", slice: slice, variant: v})
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	first := order(tasks, random)
	if slices.Equal(first, order(tasks, random)) {
		t.Error("two rounds have the same order")
	}
	for at := 0; at < len(first); at += 3 {
		if a, b, c := tasks[first[at]], tasks[first[at+1]], tasks[first[at+2]]; a.slice != b.slice || b.slice != c.slice {
			t.Errorf("the variants of slice %d are not in a row: %v", a.slice, first)
		}
	}
	if slices.Sort(first); !slices.Equal(first, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}) {
		t.Errorf("a round runs %v", first)
	}
}

func TestSliceTokens(t *testing.T) {
	for _, c := range []struct{ n, d, want int }{{512, 64, 256}, {512, 128, 64}, {512, 256, 64}, {100, 16, 100}, {40, 512, 40}} {
		if got := sliceTokens(c.n, c.d, segment); got != c.want {
			t.Errorf("sliceTokens(%d, %d) = %d, want %d", c.n, c.d, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	if got := distance([]float64{3, 4}, []float64{3, 4}); got != 0 {
		t.Errorf("equal: %v", got)
	}
	if got := distance([]float64{0, 6}, []float64{0, 5}); got != 0.2 {
		t.Errorf("got %v, want 0.2", got)
	}
	for _, a := range [][]float64{{math.NaN(), 0}, {1}} {
		if got := distance(a, []float64{1, 1}); got <= 1e300 {
			t.Errorf("distance(%v, …) = %v, want NaN", a, got)
		}
	}
}

// TestEqual holds the emitted recurrence to the C of bench/c, at sizes that
// leave a rest in rows, tokens and segments, whole and in slices.
func TestEqual(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testEqual[float32](t, equal) })
	t.Run("float64", func(t *testing.T) { testEqual[float64](t, 1e-14) })
}

func testEqual[F num.Float](t *testing.T, tolerance float64) {
	c, err := startCC[F]("..", t.TempDir())
	if errors.Is(err, errNoCC) && !strings.Contains(os.Getenv("HECATE_REQUIRE"), "cc") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range []struct{ T, d, tokens int }{{1, 1, 64}, {64, 4, 64}, {70, 6, 70}, {150, 8, 64}, {150, 9, 128}, {193, 16, 256}} {
		s := newSeries[F](z.T, z.d, rand.New(rand.NewPCG(3, uint64(z.d))))
		p := newPasses(s, z.tokens)
		p.all()
		number, err := c.load(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range ccVariants {
			if err := c.all(number, v, z.T, z.tokens); err != nil {
				t.Fatal(err)
			}
		}
		diffs, err := differences(p, c, number)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range diffs {
			if !(x.relative <= tolerance) {
				t.Errorf("T = %d, d = %d, %d at a time: %s is %.2g from that of %s, more than %g", z.T, z.d, z.tokens, x.name, x.relative, x.variant, tolerance)
			}
		}
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// TestSlices sees that slices of the emitted recurrence give the bits of the
// whole, without C.
func TestSlices(t *testing.T) {
	s := newSeries[float32](200, 8, rand.New(rand.NewPCG(5, 8)))
	whole, cut := newPasses(s, 256), newPasses(s, 64)
	whole.all()
	cut.all()
	cut.all() // again, as a measurement does
	for _, name := range results {
		if !slices.Equal(whole.out[name], cut.out[name]) {
			t.Errorf("%s of slices differs from that of the whole by %.2g", name, distance(cut.out[name], whole.out[name]))
		}
	}
}

// TestModel builds and runs the tasks of the model once.
func TestModel(t *testing.T) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	tasks, err := modelTasks(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range tasks {
		if ns, err := k.run(); err != nil || ns < 0 {
			t.Errorf("%s: %d ns, %v", k.what, ns, err)
		}
	}
}

// TestReport prints a report of times that are known and draws its chart.
func TestReport(t *testing.T) {
	r := &report{machine: "a machine", rounds: 2, compared: true, core: &times{}, model: true, gen: &times{}}
	add := func(to *times, what, variant string, ns int64) {
		to.tasks = append(to.tasks, task{what: what, variant: variant})
		to.ns = append(to.ns, []int64{ns, ns})
	}
	for _, p := range passesOf() {
		add(r.core, p, goVariant, 2000)
		add(r.core, p, "textbook", 3000)
		add(r.core, p, "dot4", 1800)
	}
	add(r.core, modelStep, goVariant, 9000)
	add(r.core, modelUpdate, goVariant, 1000)
	add(r.gen, generationName, generateFirst, 1e9)
	add(r.gen, generationName, generateAgain, 5e7)
	add(r.gen, generationName, buildEmitted, 1e10)
	text := r.String()
	for _, want := range []string{"| forward, d = 64 | 2 | 3 | 2 | 1.50 [1.50 1.50 1.50] | 0.90 [0.90 0.90 0.90] |", "51200000 tokens/s",
		"2.50 [2.50 2.50 2.50] times the emitted recurrence", "1.67 [1.67 1.67 1.67] times that of the C", "| generate, no evidence | 1000 | 0.10 ["} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	dir := t.TempDir()
	if err := r.draw(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"recurrence.svg", "recurrence.png"} {
		if text, err := os.ReadFile(dir + "/" + name); err != nil || len(text) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	r.compared, r.without = false, "no compiler"
	if text := r.String(); !strings.Contains(text, "Not compared: no compiler.") || strings.Contains(text, "NaN") {
		t.Errorf("without C:\n%s", text)
	}
}
