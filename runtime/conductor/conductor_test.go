package conductor

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

func open(t *testing.T, text string, batch int) *stream.Stream {
	t.Helper()
	x, err := stream.FromDocuments("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	part, _ := stream.Split(x)
	s, err := stream.New(part, batch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

func conduct(t *testing.T, s pulse.Schedule) *Conductor {
	t.Helper()
	c, err := New(open(t, alphabet, 2), s, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// step is one whole step.
func step(t *testing.T, c *Conductor, tokens int) (stream.Chunk, pulse.Pulse) {
	t.Helper()
	x, p, err := c.Next(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Advance(); err != nil {
		t.Fatal(err)
	}
	return x, p
}

// TestAdvance: observers run in order, on the old pulse, and time goes on after
// them.
func TestAdvance(t *testing.T) {
	c := conduct(t, pulse.Schedule{Unit: pulse.Tokens, Periods: []int{1, 8}})
	var seen []string
	for i := range 2 {
		c.Observe(func(p pulse.Pulse, x stream.Chunk) error {
			seen = append(seen, fmt.Sprintf("%d:%d+%d id%d %v", i, p.Position(), p.Tokens(), x.ID, p == c.Pulse()))
			return nil
		})
	}
	for range 3 {
		before := c.Pulse()
		if c.Pulse() != before {
			t.Error("two pulses between two chunks differ")
		}
		_, p, err := c.Next(5)
		if err != nil || p != c.Pulse() || p != before.Of(5) {
			t.Fatalf("Next = %v, %v", p, err)
		}
		if err := c.Advance(); err != nil {
			t.Fatal(err)
		}
		if c.Pulse() != p.Next(5) {
			t.Errorf("after %v it is %v", p, c.Pulse())
		}
	}
	want := []string{"0:0+5 id0 true", "1:0+5 id0 true", "0:5+5 id1 true", "1:5+5 id1 true", "0:10+5 id2 true", "1:10+5 id2 true"}
	if !slices.Equal(seen, want) {
		t.Errorf("observed %v, want %v", seen, want)
	}
}

// TestObserverFails: an error and a panic leave the step where it is; it can be
// gone on from.
func TestObserverFails(t *testing.T) {
	c := conduct(t, pulse.Schedule{})
	bad, calls := errors.New("full"), []int{}
	mode := ""
	c.Observe(func(pulse.Pulse, stream.Chunk) error { calls = append(calls, 0); return nil })
	c.Observe(func(pulse.Pulse, stream.Chunk) error {
		switch mode {
		case "error":
			return bad
		case "panic":
			panic("broken")
		}
		return nil
	})
	c.Observe(func(pulse.Pulse, stream.Chunk) error { calls = append(calls, 2); return nil })
	_, p, _ := c.Next(3)
	for _, mode = range []string{"error", "panic"} {
		var err error
		func() {
			defer func() {
				if r := recover(); (r != nil) != (mode == "panic") {
					t.Errorf("%s: recovered %v", mode, r)
				}
			}()
			err = c.Advance()
		}()
		if mode == "error" && !errors.Is(err, bad) {
			t.Errorf("Advance = %v, want the observer's error", err)
		}
		if c.Pulse() != p || !c.Out() {
			t.Errorf("%s: the step went on to %v", mode, c.Pulse())
		}
	}
	if !slices.Equal(calls, []int{0, 0}) {
		t.Errorf("observers %v were asked, want the first one twice", calls)
	}
	mode = ""
	if err := c.Advance(); err != nil || c.Pulse() != p.Next(3) {
		t.Errorf("Advance after the failures = %v, %v", err, c.Pulse())
	}
}

// TestOrder: nothing else while a chunk is out, and nothing from an observer.
func TestOrder(t *testing.T) {
	c := conduct(t, pulse.Schedule{})
	if err := c.Advance(); err != ErrNotOut {
		t.Errorf("Advance without a chunk = %v", err)
	}
	first, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	touch := func(want error) {
		t.Helper()
		_, _, next := c.Next(2)
		_, state := c.State()
		for what, err := range map[string]error{"Next": next, "State": state, "Restore": c.Restore(first), "Enter": c.Enter(pulse.Test)} {
			if err != want {
				t.Errorf("%s = %v, want %v", what, err, want)
			}
		}
	}
	c.Observe(func(pulse.Pulse, stream.Chunk) error {
		touch(ErrObserving)
		if err := c.Advance(); err != ErrObserving {
			t.Errorf("Advance by an observer = %v", err)
		}
		return nil
	})
	_, p, _ := c.Next(2)
	touch(ErrOut)
	if c.Pulse() != p {
		t.Error("a refused call moved the time")
	}
	if err := c.Advance(); err != nil {
		t.Fatal(err)
	}
	if err := c.Enter(pulse.Stream); err != nil || c.Pulse().Phase() != pulse.Stream || c.Pulse().Step() != 1 {
		t.Errorf("Enter = %v, then %v", err, c.Pulse())
	}
}

// TestStateGoesOn stops after every number of chunks, goes through words, and
// compares what follows.
func TestStateGoesOn(t *testing.T) {
	for _, s := range []pulse.Schedule{{Periods: []int{1, 2, 6}}, {Unit: pulse.Tokens, Periods: []int{1, 8}}} {
		for n := range 9 {
			live := conduct(t, s)
			for i := range n {
				step(t, live, 2+i%3)
			}
			saved, err := live.State()
			if err != nil {
				t.Fatal(err)
			}
			state, err := FromWords(saved.Words())
			if err != nil {
				t.Fatal(err)
			}
			resumed := conduct(t, s)
			if err := resumed.Restore(state); err != nil {
				t.Fatalf("after %d chunks: %v", n, err)
			}
			for range 7 {
				a, p := step(t, live, 4)
				b, q := step(t, resumed, 4)
				if p != q || a.ID != b.ID || !slices.Equal(a.Inputs, b.Inputs) || !slices.Equal(a.Targets, b.Targets) || !slices.Equal(a.Events, b.Events) {
					t.Fatalf("after %d chunks the resumed run reads %v at %v, want %v at %v", n, b, q, a, p)
				}
			}
		}
	}
}

// TestRestoreRefuses breaks one thing at a time: pulse and stream stay.
func TestRestoreRefuses(t *testing.T) {
	c := conduct(t, pulse.Schedule{Periods: []int{1, 4}})
	for range 5 {
		step(t, c, 3)
	}
	for name, x := range map[string]struct {
		want  error
		spoil func(s *State)
	}{
		"no cursor":      {ErrCursors, func(s *State) { s.Cursors = nil }},
		"pulse id":       {ErrPulse, func(s *State) { s.Cursors[1].PulseID = 4 }},
		"step":           {ErrPulse, func(s *State) { s.Pulse = s.Pulse.At(6, 15) }},
		"phase":          {ErrPhase, func(s *State) { s.Pulse = s.Pulse.In(pulse.Test) }},
		"periods":        {ErrSchedule, func(s *State) { s.Pulse = pulse.First(pulse.Build, 1, 5).At(5, 15) }},
		"levels":         {ErrSchedule, func(s *State) { s.Pulse = pulse.First(pulse.Build).At(5, 15) }},
		"unit":           {ErrSchedule, func(s *State) { s.Pulse = pulse.Schedule{Unit: 1, Periods: []int{1, 4}}.First(1).At(5, 15) }},
		"batch":          {stream.ErrSlots, func(s *State) { s.Cursors = s.Cursors[:1] }},
		"stream content": {stream.ErrContent, func(s *State) { s.Cursors[1].ContentHash++ }},
		"dataset":        {stream.ErrDataset, func(s *State) { s.Cursors[0].DatasetDigest[0]++ }},
	} {
		state, err := c.State()
		if err != nil {
			t.Fatal(err)
		}
		x.spoil(&state)
		fresh, same := conduct(t, pulse.Schedule{Periods: []int{1, 4}}), conduct(t, pulse.Schedule{Periods: []int{1, 4}})
		err = fresh.Restore(state)
		if !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
		var m *Mismatch
		if errors.As(err, &m) && (m.Saved == m.Here || m.Saved == "" || m.Here == "") {
			t.Errorf("%s: %v does not name both sides", name, err)
		}
		a, p := step(t, fresh, 3)
		b, q := step(t, same, 3)
		if p != q || !slices.Equal(a.Inputs, b.Inputs) {
			t.Errorf("%s: the refused state moved the conductor to %v", name, p)
		}
	}
}

// TestWordsRefused flips every bit of a state's words: what is accepted is the
// state that those words say, and says so back.
func TestWordsRefused(t *testing.T) {
	c := conduct(t, pulse.Schedule{Periods: []int{1, 4}})
	step(t, c, 3)
	state, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	clock, cursors := state.Words()
	refused := 0
	for i := range clock {
		for bit := range 64 {
			w := slices.Clone(clock)
			w[i] ^= 1 << bit
			s, err := FromWords(w, cursors)
			if err != nil {
				refused++
				continue
			}
			if back, _ := s.Words(); !slices.Equal(back, w) {
				t.Errorf("word %d bit %d: read as %v, written %v", i, bit, w, back)
			}
		}
	}
	if refused < 64*(StateWords-3) {
		t.Errorf("only %d states of %d are refused", refused, 64*StateWords)
	}
	for _, w := range [][]uint64{nil, clock[1:], append(slices.Clone(clock), 0)} {
		if _, err := FromWords(w, cursors); !errors.Is(err, ErrVersion) {
			t.Errorf("%d words: %v, want ErrVersion", len(w), err)
		}
	}
	early := slices.Clone(clock)
	early[2] = 0
	if _, err := FromWords(early, cursors); !errors.Is(err, ErrTime) {
		t.Errorf("no tokens in a chunk: %v, want ErrTime", err)
	}
	if _, err := FromWords(clock, cursors[1:]); !errors.Is(err, ErrCursors) {
		t.Errorf("a piece of a cursor: %v, want ErrCursors", err)
	}
	if _, err := FromWords(clock, nil); !errors.Is(err, ErrCursors) {
		t.Errorf("no cursor: %v, want ErrCursors", err)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	c := conduct(t, pulse.Schedule{Periods: []int{1, 4}})
	c.Observe(func(pulse.Pulse, stream.Chunk) error { return nil })
	body := func() {
		if _, _, err := c.Next(50); err != nil {
			t.Fatal(err)
		}
		if err := c.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	body()
	if n := testing.AllocsPerRun(50, body); n != 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

func TestNew(t *testing.T) {
	if _, err := New(open(t, alphabet, 1), pulse.Schedule{Periods: []int{1, 8, 12}}, pulse.Build); err == nil {
		t.Error("periods that do not divide are accepted")
	}
	defer func() {
		if r := recover(); r != noStream {
			t.Errorf("panic %v, want NoStream", r)
		}
	}()
	_, _ = New(nil, pulse.Schedule{}, pulse.Build)
}
