package module_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// state is every number of a context by name.
//
//hecate:borrows
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
		for range 6 { // past the documents' and the ranges' ends
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
	const n, tokens = 5, 13
	m, c := newModule[float32](t, 5), newConductor(t, n, pulse.Test)
	h := m.NewContext(n)
	var single []context.Handle[*module.Memory[float32]]
	for range n {
		single = append(single, m.NewContext(1))
	}
	for range 5 {
		x, p, _ := c.Next(tokens)
		out := make([]float32, n*tokens*stream.Vocab)
		var err error
		if _, h, err = m.ProcessInto(out, x, h, p); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			one := stream.Chunk{ID: x.ID, Batch: 1, Tokens: tokens, Inputs: x.Inputs[i*tokens : (i+1)*tokens], Targets: x.Targets[i*tokens : (i+1)*tokens]}
			for _, e := range x.Events {
				if e.Slot == i {
					e.Slot = 0
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

// TestDocuments: after a document's end a slot begins again, whatever it has read
// before, and the other one goes on; a bad number there has its place in the
// chunk.
//
//hecate:allow outerwrite a parameter is spoilt: that is the test
func TestDocuments(t *testing.T) {
	m := newModule[float32](t, 5)
	p := pulse.First(pulse.Build)
	run := func(h context.Handle[*module.Memory[float32]], c stream.Chunk) ([]float32, context.Handle[*module.Memory[float32]]) {
		out := make([]float32, c.Batch*c.Tokens*stream.Vocab)
		_, h, err := m.ProcessInto(out, c, h, p)
		if err != nil {
			t.Fatal(err)
		}
		return out, h
	}
	ids := []int32{10, 11, 12, 13, 14, 10, 11, 12, 13, 14}
	c := stream.Chunk{Batch: 2, Tokens: 5, Inputs: ids, Targets: ids, Events: []stream.Event{{Slot: 0, At: 3, Kind: stream.DocumentEnd}}}
	out, h := run(m.NewContext(2), c)
	whole, _ := run(m.NewContext(1), stream.Chunk{Batch: 1, Tokens: 5, Inputs: ids[:5], Targets: ids[:5]})
	rest, fresh := run(m.NewContext(1), stream.Chunk{Batch: 1, Tokens: 2, Inputs: ids[3:5], Targets: ids[3:5]})
	same(t, "before the end", out[:3*stream.Vocab], whole[:3*stream.Vocab])
	same(t, "after the end", out[3*stream.Vocab:5*stream.Vocab], rest)
	same(t, "the other slot", out[5*stream.Vocab:], whole)
	same(t, "the state after the end", state(t, h)["lane0.s"], state(t, fresh)["lane0.s"])
	same(t, "the position after the end", state(t, h)["lane0.pos"], []float32{2})
	m.Params().Data(0)[3*14] = 3e38 // E of 14
	_, _, err := m.Process(c, h, p)
	var bad *module.BadNumber
	if !errors.As(err, &bad) || bad.Token != 4 || bad.Slot != 0 {
		t.Errorf("a bad number after a document's end: %v", err)
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
// is refused for another batch.
//
//hecate:allow consumeonce a context that was moved is refused: that is the test
func TestHandle(t *testing.T) {
	m, c := newModule[float32](t, 5), newConductor(t, 4, pulse.Build)
	h := m.NewContext(4)
	x, p, _ := c.Next(7)
	_, h2, err := m.Process(x, h, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Process(x, h, p); err != context.ErrMoved {
		t.Errorf("a context that was moved: %v", err)
	}
	before := state(t, h2)
	x.Inputs[9] = 300 // of the second slot
	_, h3, err := m.Process(x, h2, p)
	if err == nil || !strings.Contains(err.Error(), "batch slot 1: ids[2] is 300") {
		t.Errorf("a token outside the vocabulary: %v", err)
	}
	sameStates(t, "after an error", state(t, h3), before)
	if _, err := m.Update(p); err != module.ErrGradient {
		t.Errorf("an update after an error: %v", err)
	}
	_, h4, err := m.Process(x, m.NewContext(3), p)
	if err == nil || !strings.Contains(err.Error(), "a batch of 4, the context of 3") {
		t.Errorf("a context of another batch: %v", err)
	}
	if _, err := h4.Take(); err != nil {
		t.Errorf("the context is lost: %v", err)
	}
	if _, _, err := m.ProcessInto(make([]float32, 5), x, h3, p); err == nil || !strings.Contains(err.Error(), "5 elements") {
		t.Errorf("too few places: %v", err)
	}
}
