package module_test

import (
	goctx "context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// state is every number of a context by name.
func state[F module.Float](t testing.TB, h context.Handle[*module.Memory[F]]) map[string][]F {
	t.Helper()
	fork, err := h.Fork((*module.Memory[F]).Clone)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := fork.Take()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]F{}
	mem.Each(func(name string, _ []int, data []F) { out[name] = data })
	mem.EachPos(func(name string, pos []int32) {
		for _, p := range pos {
			out[name] = append(out[name], F(p))
		}
	})
	return out
}

// same compares bits.
func same[F module.Float](t testing.TB, what string, got, want []F) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("%s: number %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func sameStates[F module.Float](t testing.TB, what string, got, want map[string][]F) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%s: %d tensors, want %d", what, len(got), len(want))
	}
	for name := range want {
		same(t, what+" "+name, got[name], want[name])
	}
}

// TestPhases: the same chunks in all three phases give the same bits, losses,
// outputs and contexts, and only a build can be updated from.
func TestPhases(t *testing.T) {
	type seen struct {
		nats   []float32
		logits []float32
		state  map[string][]float32
	}
	var all []seen
	for _, phase := range []pulse.Phase{pulse.Build, pulse.Test, pulse.Stream} {
		m, c := newModule[float32](t, 3), newConductor(t, 2, phase)
		h := m.NewContext(2)
		var s seen
		for range 6 { // past the documents' and the lanes' ends
			x, p, err := c.Next(11)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]float32, 2*11*stream.Vocab)
			var r module.Result
			if r, h, err = m.ProcessInto(out, x, h, p); err != nil {
				t.Fatal(err)
			}
			s.nats, s.logits = append(s.nats, float32(r.Nats)), append(s.logits, out...)
			if err := c.Advance(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Update(c.Pulse()); err != module.ErrGradient {
			t.Errorf("%v: an update at another pulse: %v", phase, err)
		}
		s.state = state(t, h)
		all = append(all, s)
	}
	for _, s := range all[1:] {
		same(t, "loss", s.nats, all[0].nats)
		same(t, "logits", s.logits, all[0].logits)
		sameStates(t, "state", s.state, all[0].state)
	}
	if all[0].nats[0] == all[0].nats[1] {
		t.Error("the losses do not change: nothing was compared")
	}
}

// TestUpdateOnce: one gradient moves the parameters once, and only in a build.
func TestUpdateOnce(t *testing.T) {
	for _, phase := range []pulse.Phase{pulse.Build, pulse.Test, pulse.Stream} {
		m, c := newModule[float32](t, 3), newConductor(t, 1, phase)
		x, p, _ := c.Next(9)
		before := m.Params().Hash()
		if _, err := m.Update(p); err != module.ErrGradient {
			t.Errorf("%v: an update before any chunk: %v", phase, err)
		}
		_, _, err := m.Process(x, m.NewContext(1), p)
		if err != nil || m.Params().Hash() != before {
			t.Fatalf("%v: Process = %v, or it moved a parameter", phase, err)
		}
		norm, err := m.Update(p)
		if builds := phase == pulse.Build; builds != (err == nil) || builds != (m.Params().Hash() != before) || builds != (norm > 0) {
			t.Errorf("%v: Update = %v, %v; moved: %v", phase, norm, err, m.Params().Hash() != before)
		}
		moved := m.Params().Hash()
		if _, err := m.Update(p); err != module.ErrGradient || m.Params().Hash() != moved {
			t.Errorf("%v: a second update: %v", phase, err)
		}
		if _, err := m.Share().Update(p); err != module.ErrShared {
			t.Errorf("%v: an update of shared parameters: %v", phase, err)
		}
	}
}

// TestBatch: a batch of slots gives the bits of as many single ones, and its
// gradient is the sum of theirs in order.
func TestBatch(t *testing.T) {
	const n, tokens = 3, 13
	m, c := newModule[float32](t, 5), newConductor(t, n, pulse.Test)
	h := m.NewContext(n)
	single := make([]context.Handle[*module.Memory[float32]], n)
	for i := range single {
		single[i] = m.NewContext(1)
	}
	for range 5 {
		x, p, _ := c.Next(tokens)
		out := make([]float32, n*tokens*stream.Vocab)
		var err error
		if _, h, err = m.ProcessInto(out, x, h, p); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			one := stream.Chunk{ID: x.ID, Lanes: 1, Tokens: tokens, Inputs: x.Inputs[i*tokens : (i+1)*tokens], Targets: x.Targets[i*tokens : (i+1)*tokens]}
			for _, e := range x.Events {
				if e.Lane == i {
					e.Lane = 0
					one.Events = append(one.Events, e)
				}
			}
			alone := make([]float32, tokens*stream.Vocab)
			if _, single[i], err = m.ProcessInto(alone, one, single[i], p); err != nil {
				t.Fatal(err)
			}
			same(t, "logits", out[i*tokens*stream.Vocab:(i+1)*tokens*stream.Vocab], alone)
		}
		if err := c.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	batch := state(t, h)
	for i := range n {
		for name, data := range state(t, single[i]) {
			same(t, name, batch[strings.Replace(name, "lane0", "lane"+string(rune('0'+i)), 1)], data)
		}
	}
}

// TestDocuments: behind a document's end a slot begins anew, whatever it has read
// before, and the other one goes on; a bad number there has its place in the
// chunk.
func TestDocuments(t *testing.T) {
	m := newModule[float32](t, 5)
	p := pulse.First(pulse.Build)
	run := func(h context.Handle[*module.Memory[float32]], c stream.Chunk) ([]float32, context.Handle[*module.Memory[float32]]) {
		out := make([]float32, c.Lanes*c.Tokens*stream.Vocab)
		_, h, err := m.ProcessInto(out, c, h, p)
		if err != nil {
			t.Fatal(err)
		}
		return out, h
	}
	ids := []int32{10, 11, 12, 13, 14, 10, 11, 12, 13, 14}
	c := stream.Chunk{Lanes: 2, Tokens: 5, Inputs: ids, Targets: ids, Events: []stream.Event{{Lane: 0, At: 3, Kind: stream.DocumentEnd}}}
	out, h := run(m.NewContext(2), c)
	whole, _ := run(m.NewContext(1), stream.Chunk{Lanes: 1, Tokens: 5, Inputs: ids[:5], Targets: ids[:5]})
	rest, fresh := run(m.NewContext(1), stream.Chunk{Lanes: 1, Tokens: 2, Inputs: ids[3:5], Targets: ids[3:5]})
	same(t, "before the end", out[:3*stream.Vocab], whole[:3*stream.Vocab])
	same(t, "behind the end", out[3*stream.Vocab:5*stream.Vocab], rest)
	same(t, "the other slot", out[5*stream.Vocab:], whole)
	same(t, "the state behind the end", state(t, h)["lane0.s"], state(t, fresh)["lane0.s"])
	same(t, "the position behind the end", state(t, h)["lane0.pos"], []float32{2})
	m.Params().Data(0)[3*14] = 3e38 // E of 14
	_, _, err := m.Process(c, h, p)
	var bad *module.BadNumber
	if !errors.As(err, &bad) || bad.Token != 4 || bad.Slot != 0 {
		t.Errorf("a bad number behind a document's end: %v", err)
	}
}

// TestProcessors: no number depends on how many goroutines share the slots.
func TestProcessors(t *testing.T) {
	run := func(procs int) ([]float64, uint64, map[string][]float32) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		m, c := newModule[float32](t, 5), newConductor(t, 5, pulse.Build)
		h := m.NewContext(5)
		var losses []float64
		for range 12 {
			x, p, _ := c.Next(7)
			r, next, err := m.Process(x, h, p)
			if err != nil {
				t.Fatal(err)
			}
			h = next
			if _, err := m.Update(p); err != nil {
				t.Fatal(err)
			}
			losses = append(losses, r.Nats)
			if err := c.Advance(); err != nil {
				t.Fatal(err)
			}
		}
		return losses, m.Params().Hash(), state(t, h)
	}
	losses, hash, states := run(1)
	for _, procs := range []int{2, 3, 8} {
		l, p, s := run(procs)
		same(t, "loss", l, losses)
		sameStates(t, "state", s, states)
		if p != hash {
			t.Errorf("%d processors: other parameters", procs)
		}
	}
}

// TestHandle: a context is taken once, comes back after an error as it was, and
// is refused for another number of lanes.
func TestHandle(t *testing.T) {
	m, c := newModule[float32](t, 5), newConductor(t, 2, pulse.Build)
	h := m.NewContext(2)
	x, p, _ := c.Next(7)
	_, h2, err := m.Process(x, h, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Process(x, h, p); err != context.ErrMoved {
		t.Errorf("a context that was moved: %v", err)
	}
	before := state(t, h2)
	x.Inputs[9] = 300 // of the second lane
	_, h3, err := m.Process(x, h2, p)
	if err == nil || !strings.Contains(err.Error(), "lane 1: ids[2] is 300") {
		t.Errorf("a token outside the vocabulary: %v", err)
	}
	sameStates(t, "after an error", state(t, h3), before)
	if _, err := m.Update(p); err != module.ErrGradient {
		t.Errorf("an update after an error: %v", err)
	}
	_, h4, err := m.Process(x, m.NewContext(3), p)
	if err == nil || !strings.Contains(err.Error(), "2 lanes, the context 3") {
		t.Errorf("a context of other lanes: %v", err)
	}
	if _, err := h4.Take(); err != nil {
		t.Errorf("the context is lost: %v", err)
	}
	if _, _, err := m.ProcessInto(make([]float32, 5), x, h3, p); err == nil || !strings.Contains(err.Error(), "5 places") {
		t.Errorf("too few places: %v", err)
	}
}

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
			if _, err := s.Generate(goctx.Background(), i%2, []int32{'a', 'b'}, module.Sampling{Limit: 5, Seed: uint64(i)}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Module().Score(goctx.Background(), pulse.Schedule{}, 'a', []int32{'b', 'c', 'd'}, 2); err != nil {
				t.Fatal(err)
			}
			err = s.Probe(func(h context.Handle[*module.Memory[float32]], p pulse.Pulse) error {
				_, _, err := s.Module().Process(stream.Chunk{Lanes: 2, Tokens: 1, Inputs: []int32{1, 2}, Targets: []int32{3, 4}}, h, p.In(pulse.Test))
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
		s, err := module.NewSession(newModule[float32](t, 1), lanes(t, 3), pulse.Schedule{Periods: []int{1, 8}}, phase)
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
	if _, err := module.NewSession(s.Module(), lanes(t, 1), pulse.Schedule{Periods: []int{1, 3, 4}}, pulse.Build); err == nil {
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
		t.Errorf("fires %v", clocks)
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
