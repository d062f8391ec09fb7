package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
)

// exact is how far float64 results of the same sums in another order may be
// apart.
const exact = 1e-14

// testCC starts validation/bench/c, or skips where there is no compiler and none is
// required.
func testCC[F num.Float](t *testing.T) *cc[F] {
	t.Helper()
	c, err := startCC[F]("../..", t.TempDir())
	if errors.Is(err, errNoCC) && !strings.Contains(os.Getenv("HECATE_REQUIRE"), "cc") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestC runs validation/bench/c in both types.
func TestC(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	t.Run("float32", func(t *testing.T) {
		c := testCC[float32](t)
		testEqual(t, c, tolerance)
		testHave(t, c)
	})
	t.Run("float64", func(t *testing.T) { testEqual(t, testCC[float64](t), func(string) float64 { return exact }) })
}

// testEqual holds every variant of validation/bench/c to the emitted recurrence in float64,
// at sizes that leave a rest in rows, tokens and segments, whole and in slices,
// on one thread and on two.
func testEqual[F num.Float](t *testing.T, c *cc[F], tolerance func(string) float64) {
	if len(c.variants) == 0 {
		t.Fatal("validation/bench/c has no variants")
	}
	for _, z := range []struct{ T, d, tokens int }{{1, 1, 64}, {64, 4, 64}, {70, 6, 70}, {150, 8, 64}, {150, 9, 128}, {193, 16, 256}, {150, 64, 64}, {129, 128, 128}} {
		s := newSeries[F](z.T, z.d, rand.New(rand.NewPCG(3, uint64(z.d))))
		p := newPasses(rules[float64]()[0], widened(s), z.tokens)
		p.all()
		want := p.results()
		number, err := c.load(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, pass := range passNames {
			for _, v := range c.fit(pass, z.d) {
				for _, threads := range []int{1, 2} {
					if threads == 2 && (z.d/2 < v.multiple || z.T < 100) {
						continue
					}
					if err := c.all(number, v, z.T, z.tokens, threads); err != nil {
						t.Fatal(err)
					}
					for _, name := range ccResults[pass] {
						got, err := c.get(len(want[name]), "get %d %d %s", number, v.number, name)
						if err != nil {
							t.Fatal(err)
						}
						if e := distance(got, want[name]); !(e <= tolerance(name)) {
							t.Errorf("T = %d, d = %d, %d at a time, %d threads: %s of %s is %.2g off, more than %g", z.T, z.d, z.tokens, threads, name, v, e, tolerance(name))
						}
					}
				}
			}
		}
	}
}

// testHave sees that the peak of this CPU is measured and that OpenBLAS is there
// or a line says that it is not; and holds its products to the emitted ones.
func testHave(t *testing.T, c *cc[float32]) {
	if c.blas == "" && !slices.ContainsFunc(c.lacks, func(s string) bool { return strings.Contains(s, openBLAS) }) {
		t.Errorf("neither OpenBLAS nor a line about it: %q", c.lacks)
	}
	_, err := cpu.Force(cpu.AVX2)
	if err == nil && !slices.Contains(c.peaks, "AVX2") {
		t.Errorf("no peak of AVX2: %q", c.peaks)
	}
	tasks, flops, err := peakTasks(c)
	if err != nil || len(tasks) != peakSlices*len(c.peaks) {
		t.Fatalf("%d tasks for the peak, %v", len(tasks), err)
	}
	for name, n := range flops {
		if !(n > 0) {
			t.Errorf("peak of %s: %v operations", name, n)
		}
	}
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	var k checks
	p, err := newProjection(64, c, 1, &k)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range p.tasks() {
		if ns, err := k.run(); err != nil || ns < 0 {
			t.Errorf("%s by %s: %d ns, %v", k.what, k.variant, ns, err)
		}
	}
}

// TestSlices sees that slices of the emitted recurrences give the bits of the
// whole, without C.
func TestSlices(t *testing.T) {
	for _, r := range rules[float32]() {
		s := newSeries[float32](200, 8, rand.New(rand.NewPCG(5, 8)))
		whole, cut := newPasses(r, s, 256), newPasses(r, s, 64)
		whole.all()
		cut.all()
		cut.all() // again, as a measurement does
		got := cut.results()
		for name, want := range whole.results() {
			if !slices.Equal(want, got[name]) {
				t.Errorf("%s of slices of %s differs from that of the whole by %.2g", name, r.name, distance(got[name], want))
			}
		}
	}
}

// TestTitans sees that with the momentum gate at zero Titans is the delta rule,
// whose kernels validation/bench/c holds.
func TestTitans(t *testing.T) {
	s := newSeries[float64](150, 8, rand.New(rand.NewPCG(7, 8)))
	for _, name := range []string{"eta", "S", "S.bar"} {
		clear(s.of[name])
	}
	all := rules[float64]()
	a, b := newPasses(all[0], s, 64), newPasses(all[1], s, 64)
	a.all()
	b.all()
	got := b.results()
	for name, want := range a.results() {
		if name == "M_lin" {
			name = "S_lin"
		}
		if e := distance(got[name], want); !(e <= exact) {
			t.Errorf("%s is %.2g off", name, e)
		}
	}
}

// TestHebbian holds the emitted Hebbian recurrence to loops.
func TestHebbian(t *testing.T) {
	const T, d = 70, 5
	s := newSeries[float64](T, d, rand.New(rand.NewPCG(9, d)))
	p := newPasses(rules[float64]()[2], s, 64)
	p.all()
	of, got := s.of, p.results()
	states := [][]float64{of["M"]}
	want := map[string][]float64{"y": make([]float64, T*d), "k.bar": make([]float64, T*d), "v.bar": make([]float64, T*d),
		"q.bar": make([]float64, T*d), "rho.bar": make([]float64, T), "M.bar.out": slices.Clone(of["M.bar"])}
	for t := range T {
		m := slices.Clone(states[t])
		for i := range d {
			for j := range d {
				m[i*d+j] = of["rho"][t]*m[i*d+j] + of["v"][t*d+i]*of["k"][t*d+j]
				want["y"][t*d+i] += m[i*d+j] * of["q"][t*d+j]
			}
		}
		states = append(states, m)
	}
	want["M.out"] = states[T]
	g := want["M.bar.out"]
	for t := T - 1; t >= 0; t-- {
		for i := range d {
			for j := range d {
				g[i*d+j] += of["y.bar"][t*d+i] * of["q"][t*d+j]
				want["q.bar"][t*d+j] += of["y.bar"][t*d+i] * states[t+1][i*d+j]
				want["k.bar"][t*d+j] += of["v"][t*d+i] * g[i*d+j]
				want["v.bar"][t*d+i] += of["k"][t*d+j] * g[i*d+j]
				want["rho.bar"][t] += states[t][i*d+j] * g[i*d+j]
				g[i*d+j] *= of["rho"][t]
			}
		}
	}
	for name, x := range want {
		if e := distance(got[name], x); !(e <= exact) {
			t.Errorf("%s is %.2g off", name, e)
		}
	}
}

// TestProducts holds the emitted products to loops.
func TestProducts(t *testing.T) {
	m := newMatrices(3, 1)
	m.T = 7
	w := m.wide()
	entry := []func(i, j int) float64{
		func(i, j int) (s float64) {
			for k := range m.d {
				s += w.x[i*m.d+k] * w.w[j*m.d+k]
			}
			return s
		},
		func(i, j int) (s float64) {
			for k := range m.d {
				s += w.dy[i*m.d+k] * w.w[k*m.d+j]
			}
			return s
		},
		func(i, j int) (s float64) {
			for k := range m.T {
				s += w.dy[k*m.d+i] * w.x[k*m.d+j]
			}
			return s
		},
	}
	for form, p := range products[float64]() {
		rows := p.rows(m.T, m.d)
		got, want := make([]float64, rows*m.d), make([]float64, rows*m.d)
		p.run(w, got)
		for i := range want {
			want[i] = entry[form](i/m.d, i%m.d)
		}
		if e := distance(got, want); !(e <= exact) {
			t.Errorf("%s is %.2g off", p.name, e)
		}
	}
}

// TestModel builds and runs the tasks of the model once.
func TestModel(t *testing.T) {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	tasks, matrices, err := modelTasks(1)
	if err != nil {
		t.Fatal(err)
	}
	if matrices != 3+4+4 {
		t.Errorf("a token is multiplied with %d matrices, want three of the rule, four of attention and four of the vocabulary", matrices)
	}
	for _, k := range tasks {
		if ns, err := k.run(); err != nil || ns < 0 {
			t.Errorf("%s: %d ns, %v", k.what, ns, err)
		}
	}
}

// TestChunks holds the chunk form to the recurrence in float64, at all lengths
// and at sizes that leave rests, and every level and OpenBLAS to that.
func TestChunks(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	for _, z := range []struct{ T, d, C int }{{1, 1, 1}, {6, 31, 2}, {8, 33, 4}, {32, 1, 16}, {96, 33, 32}, {128, 5, 64}} {
		s := newSeries[float32](z.T, z.d, rand.New(rand.NewPCG(11, uint64(z.d))))
		want, err := chunkOracle(s, z.C)
		if err != nil {
			t.Error(err)
			continue
		}
		x := newChunked(s, z.C)
		var below map[string][]float32
		all, _ := levels(recurrenceLevels)
		for _, l := range all {
			if _, err := l.at(func() (int64, error) {
				x.pass[forward].Run()
				x.pass[backward].Run()
				return 0, nil
			})(); err != nil {
				t.Fatal(err)
			}
			got := map[string][]float32{}
			for name := range chunkResults {
				got[name] = slices.Clone(x.of[name])
				if e := distance(got[name], want.of[name]); !(e <= tolerance(name)) {
					t.Errorf("%+v: %s of %s is %.2g off", z, name, l.variant(), e)
				}
				if below != nil && !slices.Equal(below[name], got[name]) {
					t.Errorf("%+v: %s of %s has other bits than the level below", z, name, l.variant())
				}
			}
			if l.Target >= cpu.FMA {
				below = got
			}
		}
	}
	if _, err := newChunkTrial(64, 32, testCC[float32](t), 1, &checks{}); err != nil {
		t.Error(err)
	}
}

// TestNoTokens runs every rule over no tokens at every level: a state ends as it
// began, and so does its adjoint on the way back.
func TestNoTokens(t *testing.T) {
	all, _ := levels(recurrenceLevels)
	for _, r := range rules[float32]() {
		for _, l := range all {
			buffers := map[string][]float32{}
			random := rand.New(rand.NewPCG(5, 5))
			get := func(name string, n int) []float32 {
				if buffers[name] == nil {
					buffers[name] = make([]float32, n)
					for i := range buffers[name] {
						buffers[name][i] = random.Float32()
					}
				}
				return buffers[name]
			}
			size := func(name string) int { return map[string]int{"C": segment, "L": 2, "d_k": 33, "d_v": 70}[name] }
			run := l.at(func() (int64, error) {
				r.forward(size, get).Run()
				r.backward(size, get).Run()
				return 0, nil
			})
			if _, err := run(); err != nil {
				t.Fatal(err)
			}
			found := 0
			for name, x := range buffers {
				if from, ok := strings.CutSuffix(name, ".out"); ok {
					found++
					if !slices.Equal(x, buffers[from]) {
						t.Errorf("%s at %s: %s differs from %s", r.name, l, name, from)
					}
				}
			}
			if want := 2 * len(r.states); found != want {
				t.Errorf("%s: %d results of states, want %d", r.name, found, want)
			}
		}
	}
}
