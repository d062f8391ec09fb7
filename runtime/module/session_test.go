package module_test

import (
	goctx "context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// TestProbes: sampling, scoring and whole chunks on a fork leave a run as it
// would have been.
func TestProbes(t *testing.T) {
	run := func(probe bool) ([]float64, uint64) {
		s := newSession[float32](t, 2, 9, pulse.Schedule{Unit: pulse.Tokens, Periods: []int{1, 4}})
		var losses []float64
		for i := range 10 {
			r, err := s.Step(5)
			if err != nil {
				t.Fatal(err)
			}
			losses = append(losses, r.Nats)
			if !probe {
				continue
			}
			if _, err := s.Generate(goctx.Background(), i%2, []int32{'a', 'b'}, module.Sampling{Limit: 5}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Module().Score(goctx.Background(), pulse.Schedule{}, 'a', []int32{'b', 'c', 'd'}, 2); err != nil {
				t.Fatal(err)
			}
			err = s.Probe(func(h context.Handle[*module.Memory[float32]], p pulse.Pulse) error {
				_, _, err := s.Module().Process(stream.Chunk{Batch: 2, Tokens: 1, Inputs: []int32{1, 2}, Targets: []int32{3, 4}}, h, p.In(pulse.Test))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return losses, s.Module().Params().Hash()
	}
	losses, hash := run(false)
	probed, probedHash := run(true)
	same(t, "loss", probed, losses)
	if hash != probedHash {
		t.Error("probes moved the parameters")
	}
}

// TestStepAllocatesNothing: nothing in a build, nor in a stream.
func TestStepAllocatesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, phase := range []pulse.Phase{pulse.Build, pulse.Stream} {
		s, err := module.NewSession(newModule[float32](t, 1), batchOf(t, 3), pulse.Schedule{Periods: []int{1, 8}}, phase)
		if err != nil {
			t.Fatal(err)
		}
		step := func() {
			if _, err := s.Step(10); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			step()
		}
		if n := testing.AllocsPerRun(20, step); n != 0 {
			t.Errorf("%v: a step allocates %v times", phase, n)
		}
	}
}

// TestObservers see the step that is about to end.
func TestObservers(t *testing.T) {
	s := newSession[float32](t, 1, 1, pulse.Schedule{})
	broken := errors.New("broken")
	fail, seen := false, 0
	s.Conductor().Observe(func(p pulse.Pulse, c stream.Chunk) error {
		if seen++; s.Last().Pulse != p || s.Last().Valid != c.Tokens {
			t.Errorf("at %v the last step was %+v", p, s.Last())
		}
		if fail {
			return broken
		}
		return nil
	})
	if _, err := s.Step(4); err != nil {
		t.Fatal(err)
	}
	fail = true
	if _, err := s.Step(4); !errors.Is(err, broken) || s.Conductor().Pulse().Step() != 1 {
		t.Errorf("a step with a broken observer: %v, then step %d", err, s.Conductor().Pulse().Step())
	}
	fail = false
	if err := s.Conductor().Advance(); err != nil || s.Conductor().Pulse().Step() != 2 || seen != 3 {
		t.Errorf("Advance = %v at step %d, %d looks", err, s.Conductor().Pulse().Step(), seen)
	}
	if _, err := module.NewSession(s.Module(), nil, pulse.Schedule{}, pulse.Build); err == nil {
		t.Error("a session without a stream is accepted")
	}
	if _, err := module.NewSession(s.Module(), batchOf(t, 1), pulse.Schedule{Periods: []int{1, 3, 4}}, pulse.Build); err == nil {
		t.Error("periods that do not divide are accepted")
	}
	if got := s.Module().MovedBy(); !slices.Equal(got, []string{"Descent"}) {
		t.Errorf("moved by %v", got)
	}
}

// TestStats: norms are those of the gradient, and together its norm.
func TestStats(t *testing.T) {
	m, c := newModule[float32](t, 3), newConductor(t, 2, pulse.Build)
	if n := m.Norms(nil); len(n) != 4 || n[0] != 0 || m.Bytes() != 0 {
		t.Errorf("before any work: norms %v, %d bytes", n, m.Bytes())
	}
	x, p, _ := c.Next(9)
	if _, _, err := m.Process(x, m.NewContext(2), p); err != nil {
		t.Fatal(err)
	}
	norms := m.Norms(nil)
	norm, err := m.Update(p)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, n := range norms {
		sum += n * n
	}
	if !(math.Abs(math.Sqrt(sum)-norm) < 1e-12) || norms[0] == 0 || norms[3] != 0 || m.Bytes() == 0 {
		t.Errorf("norms %v, together %v, want %v; %d bytes", norms, math.Sqrt(sum), norm, m.Bytes())
	}
	if clocks := m.Moves().Clocks(); !slices.Equal(clocks, []int64{1, 1, 1, 0}) {
		t.Errorf("updates %v", clocks)
	}
	if m.Share().Moves() != nil {
		t.Error("a module that shares parameters moves them")
	}
}

// TestCheckChunk is of a model without parts that compute chunks: any will do.
func TestCheckChunk(t *testing.T) {
	if err := newModule[float32](t, 1).CheckChunk(1); err != nil {
		t.Error(err)
	}
}
