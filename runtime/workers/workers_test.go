package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A counter counts how often each part runs.
type counter struct {
	runs []atomic.Int32
	part func(i int)
}

func (c *counter) Part(i int) {
	c.runs[i].Add(1)
	if c.part != nil {
		c.part(i)
	}
}

func (c *counter) check(t *testing.T, n int) {
	t.Helper()
	for i := range c.runs {
		want := int32(0)
		if i < n {
			want = 1
		}
		if got := c.runs[i].Load(); got != want {
			t.Fatalf("part %d of %d ran %d times, want %d", i, n, got, want)
		}
	}
}

// procs sets GOMAXPROCS and the bound for a test.
func procs(t *testing.T, p, bound int) {
	was := runtime.GOMAXPROCS(p)
	SetCount(bound)
	t.Cleanup(func() { runtime.GOMAXPROCS(was); SetCount(0) })
}

func TestEachRunsEveryPartOnce(t *testing.T) {
	for _, p := range []int{1, 2, 3, 8} {
		procs(t, p, 0)
		for n := range 40 {
			for range 25 {
				c := &counter{runs: make([]atomic.Int32, n+1)}
				Each(n, c)
				c.check(t, n)
			}
		}
	}
	Each(-1, &counter{}) // nothing
}

func TestCount(t *testing.T) {
	procs(t, 3, 0)
	for bound, want := range map[int]int{0: 3, -1: 3, 1: 1, 2: 2, 3: 3, 100: 3} {
		if SetCount(bound); Count() != want {
			t.Errorf("bound %d: count %d, want %d", bound, Count(), want)
		}
	}
}

// TestEachWorksTogether holds each part until all of them run.
func TestEachWorksTogether(t *testing.T) {
	procs(t, 4, 3)
	var most, now atomic.Int32
	c := &counter{runs: make([]atomic.Int32, 12), part: func(int) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		for end := time.Now().Add(time.Second); most.Load() < 3 && time.Now().Before(end); {
			runtime.Gosched()
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
	}}
	Each(12, c)
	c.check(t, 12)
	if most.Load() != 3 {
		t.Errorf("%d parts ran together, want 3", most.Load())
	}
}

// TestEachAfterSleep lets the helpers sleep between jobs, and be woken while
// they are about to.
func TestEachAfterSleep(t *testing.T) {
	procs(t, 4, 0)
	for i := range 300 {
		c := &counter{runs: make([]atomic.Int32, 16), part: func(int) { time.Sleep(time.Microsecond) }}
		Each(16, c)
		c.check(t, 16)
		time.Sleep(time.Duration(i%30) * 5 * time.Microsecond)
	}
}

func TestEachNestedAndConcurrent(t *testing.T) {
	procs(t, 4, 0)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			for range 200 {
				inner := make([]counter, 6)
				c := &counter{runs: make([]atomic.Int32, 6), part: func(i int) {
					inner[i].runs = make([]atomic.Int32, 5)
					Each(5, &inner[i])
				}}
				Each(6, c)
				c.check(t, 6)
				for i := range inner {
					inner[i].check(t, 5)
				}
			}
		})
	}
	wg.Wait()
}

// recovered is the panic of f.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestPanicReachesTheCaller(t *testing.T) {
	for _, bound := range []int{1, 2, 4} {
		procs(t, 4, bound)
		for range 50 {
			c := &counter{runs: make([]atomic.Int32, 8), part: func(i int) {
				if i == 3 || i == 5 {
					time.Sleep(20 * time.Microsecond)
					panic(i)
				}
			}}
			if v := recovered(func() { Each(8, c) }); v != 3 && v != 5 {
				t.Fatalf("%d goroutines: recovered %v, want 3 or 5", bound, v)
			}
			after := &counter{runs: make([]atomic.Int32, 8)}
			Each(8, after)
			after.check(t, 8)
		}
	}
}

// TestGoexit has parts end their goroutines, the caller's and helpers'.
func TestGoexit(t *testing.T) {
	procs(t, 4, 0)
	for range 50 {
		ended, done := make(chan any, 1), make(chan struct{})
		go func() {
			defer close(done)
			ended <- recovered(func() {
				Each(8, &counter{runs: make([]atomic.Int32, 8), part: func(i int) {
					time.Sleep(20 * time.Microsecond)
					runtime.Goexit()
				}})
			})
		}()
		<-done // with a panic or without: the pool is whole afterwards
		c := &counter{runs: make([]atomic.Int32, 8)}
		Each(8, c)
		c.check(t, 8)
	}
}

type sum struct {
	x   []float64
	out [64]float64
}

func (s *sum) Part(i int) {
	var v float64
	for _, x := range s.x {
		v += x
	}
	s.out[i] = v
}

func TestEachDoesNotAllocate(t *testing.T) {
	procs(t, 3, 0)
	s := &sum{x: make([]float64, 256)}
	Each(64, s)
	if n := testing.AllocsPerRun(200, func() { Each(64, s) }); n != 0 {
		t.Errorf("%v allocations a job", n)
	}
}

func BenchmarkEach(b *testing.B) {
	s := &sum{x: make([]float64, 4096)}
	for _, n := range []int{1, 2, 8} {
		b.Run(map[int]string{1: "1part", 2: "2parts", 8: "8parts"}[n], func(b *testing.B) {
			for b.Loop() {
				Each(n, s)
			}
		})
	}
}
