package module_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/update"
)

// across is a session whose gradient spans n chunks.
func across(t testing.TB, n int, seed uint64, s pulse.Schedule) *module.Session[float64] {
	t.Helper()
	m, err := module.New(module.Config[float64]{Model: echo[float64]{256, 3}, Update: &descent[float64]{0.5}, Schedule: update.Schedule{WarmUp: 4}, Chunks: n, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(m, batchOf(t, 4), s, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWindow: the gradient of three chunks of five tokens is that of one chunk of fifteen,
// documents that end inside included, and so is every step after it; where it ends at the
// edges of chunks it is another.
func TestWindow(t *testing.T) {
	whole, cut, apart := across(t, 1, 7, pulse.Schedule{}), across(t, 3, 7, pulse.Schedule{}), across(t, 1, 7, pulse.Schedule{})
	for i := range 6 {
		want, err := whole.Step(15)
		if err != nil {
			t.Fatal(err)
		}
		got, err := cut.Step(5)
		if err != nil {
			t.Fatal(err)
		}
		if got.Valid != want.Valid || !(math.Abs(got.Nats-want.Nats) <= 1e-12) || !(math.Abs(got.Norm-want.Norm) <= 1e-10*want.Norm) {
			t.Errorf("step %d: loss %v and norm %v over %d targets in three chunks, %v and %v over %d in one", i, got.Nats, got.Norm, got.Valid, want.Nats, want.Norm, want.Valid)
		}
		if n := cut.Conductor().Pulse().Step(); n != uint64(3*i+3) || got.Pulse.Step() != n-1 {
			t.Errorf("after %d steps of three chunks the clock is at %d, the last chunk was %d", i+1, n, got.Pulse.Step())
		}
		for range 3 {
			step(t, apart, 5)
		}
	}
	near := func(x *module.Session[float64]) (most float64) {
		a, b := x.Module().Params(), whole.Module().Params()
		for i := range a.Len() {
			for j, v := range a.Data(i) {
				most = max(most, math.Abs(v-b.Data(i)[j]))
			}
		}
		return most
	}
	if !(near(cut) <= 1e-10) || !(near(apart) > 1e-4) {
		t.Errorf("parameters are %v apart with three chunks to a gradient, %v with one", near(cut), near(apart))
	}
}

// TestWindowRefuses: within a window there is neither a gradient nor a state to save, a chunk
// that does not continue it is refused, and after a failure it goes on.
func TestWindowRefuses(t *testing.T) {
	x := across(t, 2, 7, pulse.Schedule{})
	m, c := x.Module(), newConductor(t, 4, pulse.Build)
	h := m.NewContext(4)
	run := func() pulse.Pulse {
		chunk, p, err := c.Next(4)
		if err != nil {
			t.Fatal(err)
		}
		if _, h, err = m.Process(chunk, h, p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := run()
	if _, err := m.Update(p); !m.Open() || err != module.ErrGradient {
		t.Errorf("an update within a window: %v", err)
	}
	if _, err := x.SnapshotBuild(id); err != module.ErrOpen {
		t.Errorf("a checkpoint within a window: %v", err)
	}
	if _, _, err := m.Process(batchOf(t, 4).Next(4), m.NewContext(4), p.Next(4)); err != module.ErrWindow {
		t.Errorf("another context within a window: %v", err)
	}
	if err := c.Advance(); err != nil {
		t.Fatal(err)
	}
	bad, q, err := c.Next(4)
	if err != nil {
		t.Fatal(err)
	}
	id := bad.Inputs[2]
	bad.Inputs[2] = 999
	if _, h, err = m.Process(bad, h, q); err == nil || !m.Open() {
		t.Fatalf("an id outside the vocabulary: %v", err)
	}
	bad.Inputs[2] = id
	if _, h, err = m.Process(bad, h, q); err != nil || m.Open() {
		t.Fatalf("the same chunk without it: %v", err)
	}
	got, err := m.Update(q)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := across(t, 2, 7, pulse.Schedule{}).Step(4); err != nil || want.Norm != got {
		t.Errorf("after a failure the norm is %v, without one %v: %v", got, want.Norm, err)
	}
}

// TestWindowSteady: a step whose shapes have been seen allocates nothing.
func TestWindowSteady(t *testing.T) {
	x := across(t, 3, 7, pulse.Schedule{})
	for range 8 {
		step(t, x, 5)
	}
	if n := testing.AllocsPerRun(4, func() { step(t, x, 5) }); n != 0 {
		t.Errorf("a step of three chunks allocates %v times", n)
	}
}

// TestWindowResume saves after every step, which is a window's end, and goes on for the rest.
func TestWindowResume(t *testing.T) {
	const last = 4
	schedule := pulse.Schedule{Periods: []int{1, 2}}
	whole := across(t, 3, 9, schedule)
	for range last {
		step(t, whole, 5)
	}
	want := words(t, whole)
	for cut := range last {
		x := across(t, 3, 9, schedule)
		for range cut {
			step(t, x, 5)
		}
		saved, err := x.SnapshotBuild(id)
		saved = through(t, saved, err)
		rest := across(t, 3, 1234, schedule) // other parameters until then
		if err := rest.ResumeBuild(saved, id, nil); err != nil {
			t.Fatal(err)
		}
		for range last - cut {
			step(t, rest, 5)
		}
		if !bytes.Equal(words(t, rest), want) {
			t.Errorf("cut at %d: the last checkpoint differs", cut)
		}
	}
}
