package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
	for _, c := range []struct{ n, d, want int }{{512, 64, 512}, {512, 128, 256}, {512, 256, 64}, {512, 512, 64}, {100, 16, 100}, {40, 512, 40}} {
		if got := sliceTokens(c.n, c.d, segment); got != c.want {
			t.Errorf("sliceTokens(%d, %d) = %d, want %d", c.n, c.d, got, c.want)
		}
	}
}

// TestLong sees that what takes long is measured in every fourth round, and that
// ratios are of the rounds that both have.
func TestLong(t *testing.T) {
	runs := map[string]int{}
	fake := func(variant string, ns int64) task {
		return task{"x", 0, variant, func() (int64, error) { runs[variant]++; return ns, nil }}
	}
	got, err := measure([]task{fake("slow", 2*longSlice), fake("fast", longSlice)}, 9, rand.New(rand.NewPCG(1, 1)), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if runs["slow"] != 4 || runs["fast"] != 10 {
		t.Errorf("runs %v, want 4 of the slow one and 10 of the fast", runs)
	}
	if r := got.over("x", "slow", "fast"); r.of != 2 || r.lo != 2 || r.hi != 2 {
		t.Errorf("ratio %+v, want 2 throughout", r)
	}
}

// TestWarmed sees that only what was short the last time runs before it is
// measured.
func TestWarmed(t *testing.T) {
	var got []int
	times := []int64{shortSlice - 1, shortSlice, 5, 5}
	run := warmed(func(warm int) (int64, error) {
		got = append(got, warm)
		return times[len(got)-1], nil
	})
	for range times {
		if _, err := run(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int{0, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("runs before the measured ones %v, want %v", got, want)
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
