package reconcile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// gives is what a rank gives at a pulse.
func gives(rank int, pulse uint64) Digest {
	return sha256.Sum256([]byte(fmt.Sprint(rank, pulse)))
}

func envelope(rank int, pulse uint64) Envelope { return Envelope{rank, pulse, gives(rank, pulse)} }

// A clock is told the time.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func machine(t testing.TB, c Config) *Machine {
	t.Helper()
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// arrived is a rank that arrives at the pulse of its configuration.
func arrived(t testing.TB, c Config) *Machine {
	t.Helper()
	m := machine(t, c)
	if _, err := m.Arrive(gives(c.Rank, c.Pulse)); err != nil {
		t.Fatal(err)
	}
	return m
}

// pass takes a machine of three ranks through its pulse.
func pass(t testing.TB, m *Machine) {
	t.Helper()
	p := m.Pulse()
	if _, err := m.Arrive(gives(m.c.Rank, p)); err != nil {
		t.Fatal(err)
	}
	for r := range m.c.Ranks {
		if r != m.c.Rank && slices.Contains(m.Missing(), r) {
			if _, _, err := m.Receive(envelope(r, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.Advance(); err != nil {
		t.Fatal(err)
	}
}

// clone is the same machine again.
func (m *Machine) clone() *Machine {
	c := *m
	c.said = slices.Clone(m.said)
	return &c
}

// TestReceive has a row for every kind of envelope, in every state.
func TestReceive(t *testing.T) {
	other := envelope(1, 12)
	other.Digest[0]++
	past := envelope(1, 11)
	past.Digest[31]++
	future := envelope(1, 13)
	future.Digest[5]++
	twelve := func(arrive bool, before ...Envelope) func(testing.TB) *Machine {
		return func(t testing.TB) *Machine {
			m := machine(t, Config{Rank: 0, Ranks: 3, Pulse: 6})
			for m.Pulse() < 12 {
				pass(t, m)
			}
			if arrive {
				if _, err := m.Arrive(gives(0, 12)); err != nil {
					t.Fatal(err)
				}
			}
			for _, e := range before {
				if _, _, err := m.Receive(e); err != nil {
					t.Fatal(err)
				}
			}
			return m
		}
	}
	for name, x := range map[string]struct {
		m       func(testing.TB) *Machine
		e       Envelope
		verdict Verdict
		answer  Envelope
		err     error
		after   State
		says    []string
	}{
		"present, working":          {twelve(false), envelope(1, 12), Counted, Envelope{}, nil, Working, nil},
		"present, waiting":          {twelve(true), envelope(1, 12), Counted, Envelope{}, nil, Waiting, nil},
		"present, the last":         {twelve(true, envelope(2, 12)), envelope(1, 12), Counted, Envelope{}, nil, Complete, nil},
		"present, last but working": {twelve(false, envelope(2, 12)), envelope(1, 12), Counted, Envelope{}, nil, Working, nil},
		"next":                      {twelve(true), envelope(1, 13), Held, Envelope{}, nil, Waiting, nil},
		"next before present":       {twelve(true, envelope(1, 13)), envelope(1, 12), Counted, Envelope{}, nil, Waiting, nil},
		"four ahead":                {twelve(true), envelope(1, 16), Held, Envelope{}, nil, Waiting, nil},
		"five ahead":                {twelve(true), envelope(1, 17), 0, Envelope{}, ErrSkew, Waiting, []string{"rank 1 at pulse 17", "rank 0 is at pulse 12 and holds 4"}},
		"far ahead":                 {twelve(true), envelope(1, 1<<63), 0, Envelope{}, ErrSkew, Waiting, []string{"pulse 9223372036854775808"}},
		"last pulse of all":         {twelve(true), envelope(1, 1<<64-1), 0, Envelope{}, ErrSkew, Waiting, nil},
		"one back":                  {twelve(true), envelope(1, 11), Answer, envelope(0, 11), nil, Waiting, nil},
		"four back":                 {twelve(false), envelope(2, 8), Answer, envelope(0, 8), nil, Working, nil},
		"five back":                 {twelve(true), envelope(1, 7), 0, Envelope{}, ErrPast, Waiting, []string{"rank 1 at pulse 7", "rank 0 is at pulse 12 and remembers 4"}},
		"before the beginning":      {twelve(true), envelope(1, 5), 0, Envelope{}, ErrPast, Waiting, []string{"began at 6"}},
		"twice":                     {twelve(true, envelope(1, 12)), envelope(1, 12), 0, Envelope{}, ErrDuplicate, Waiting, []string{"rank 1 at pulse 12", "rank 0 has it"}},
		"twice, held":               {twelve(true, envelope(1, 14)), envelope(1, 14), 0, Envelope{}, ErrDuplicate, Waiting, []string{"rank 1 at pulse 14"}},
		"twice, complete":           {twelve(true, envelope(1, 12), envelope(2, 12)), envelope(2, 12), 0, Envelope{}, ErrDuplicate, Complete, nil},
		"next, complete":            {twelve(true, envelope(1, 12), envelope(2, 12)), envelope(2, 13), Held, Envelope{}, nil, Complete, nil},
		"two digests":               {twelve(true, envelope(1, 12)), other, 0, Envelope{}, ErrEquivocation, Stopped, []string{other.Digest.String(), gives(1, 12).String()}},
		"two digests, past":         {twelve(true), past, 0, Envelope{}, ErrEquivocation, Stopped, []string{past.Digest.String(), gives(1, 11).String()}},
		"two digests, held":         {twelve(false, envelope(1, 13)), future, 0, Envelope{}, ErrEquivocation, Stopped, []string{"rank 1 at pulse 13"}},
		"no such rank":              {twelve(true), envelope(3, 12), 0, Envelope{}, ErrRank, Waiting, []string{"rank 3 at pulse 12", "this is rank 0 of 3"}},
		"rank below zero":           {twelve(true), envelope(-1, 12), 0, Envelope{}, ErrRank, Waiting, []string{"rank -1"}},
		"own rank":                  {twelve(false), envelope(0, 12), 0, Envelope{}, ErrRank, Working, []string{"this is rank 0 of 3"}},
	} {
		m := x.m(t)
		before := m.clone()
		v, answer, err := m.Receive(x.e)
		if v != x.verdict || answer != x.answer || !errors.Is(err, x.err) || m.State() != x.after {
			t.Errorf("%s: %v, %v, %v, then %v; want %v, %v, %v, then %v", name, v, answer, err, m.State(), x.verdict, x.answer, x.err, x.after)
		}
		if m.Pulse() != 12 {
			t.Errorf("%s: the pulse became %d", name, m.Pulse())
		}
		if err != nil {
			for _, s := range x.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", name, err, s)
				}
			}
			if !slices.Equal(m.said, before.said) {
				t.Errorf("%s: a refused envelope was kept", name)
			}
		}
	}
}

// TestCalls has a row for every call in every state.
func TestCalls(t *testing.T) {
	c := Config{Rank: 1, Ranks: 2, Pulse: 3}
	stopped := func() *Machine {
		m := arrived(t, c)
		e := envelope(0, 3)
		_, _, _ = m.Receive(e)
		e.Digest[0]++
		_, _, _ = m.Receive(e)
		return m
	}
	complete := func() *Machine {
		m := arrived(t, c)
		_, _, _ = m.Receive(envelope(0, 3))
		return m
	}
	for _, x := range []struct {
		m                        func() *Machine
		state                    State
		arrive, advance, digests error
		missing                  []int
	}{
		{func() *Machine { return machine(t, c) }, Working, nil, ErrState, ErrState, []int{0, 1}},
		{func() *Machine { return arrived(t, c) }, Waiting, ErrState, ErrState, ErrState, []int{0}},
		{complete, Complete, ErrState, nil, nil, nil},
		{stopped, Stopped, ErrEquivocation, ErrEquivocation, ErrEquivocation, nil},
	} {
		if m := x.m(); m.State() != x.state || !slices.Equal(m.Missing(), x.missing) {
			t.Errorf("%v without %v, want %v without %v", m.State(), m.Missing(), x.state, x.missing)
		}
		if e, err := x.m().Arrive(gives(1, 3)); !errors.Is(err, x.arrive) || err == nil && e != envelope(1, 3) {
			t.Errorf("%v: Arrive = %v, %v, want %v", x.state, e, err, x.arrive)
		}
		if d, err := x.m().Digests(); !errors.Is(err, x.digests) || err == nil && !slices.Equal(d, []Digest{gives(0, 3), gives(1, 3)}) {
			t.Errorf("%v: Digests = %v, %v, want %v", x.state, d, err, x.digests)
		}
		m := x.m()
		if err := m.Advance(); !errors.Is(err, x.advance) {
			t.Errorf("%v: Advance = %v, want %v", x.state, err, x.advance)
		} else if want := map[bool]uint64{true: 4, false: 3}[err == nil]; m.Pulse() != want {
			t.Errorf("%v: the pulse is %d, want %d", x.state, m.Pulse(), want)
		}
	}
	m := stopped()
	if _, _, err := m.Receive(envelope(0, 4)); !errors.Is(err, ErrEquivocation) {
		t.Errorf("a stopped machine receives: %v", err)
	}
}

// TestTimeout: time runs while a rank waits, and only then.
func TestTimeout(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	m := machine(t, Config{Rank: 0, Ranks: 3, Clock: c.read})
	c.now = c.now.Add(time.Hour)
	if err := m.Check(); err != nil || m.Left() != Timeout {
		t.Errorf("a rank that works has %v left: %v", m.Left(), err)
	}
	if _, err := m.Arrive(gives(0, 0)); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(Timeout - 1)
	if _, _, err := m.Receive(envelope(2, 0)); err != nil || m.Left() != 1 {
		t.Errorf("before the timeout, %v left: %v", m.Left(), err)
	}
	late := m.clone()
	c.now = c.now.Add(1)
	err := m.Check()
	if !errors.Is(err, ErrTimeout) || m.State() != Stopped {
		t.Errorf("after the timeout: %v, %v", err, m.State())
	}
	for _, want := range []string{"ranks [1]", "pulse 0", "rank 0 has waited 30s"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if _, _, err := late.Receive(envelope(1, 0)); !errors.Is(err, ErrTimeout) {
		t.Errorf("the last envelope came too late: %v", err)
	}
	if _, _, err := m.Receive(envelope(1, 0)); !errors.Is(err, ErrTimeout) {
		t.Errorf("a stopped rank receives: %v", err)
	}
	c.now = c.now.Add(-2)
	done := late.clone()
	done.err = nil
	if _, _, err := done.Receive(envelope(1, 0)); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Hour)
	if err := done.Check(); err != nil || done.State() != Complete {
		t.Errorf("a complete barrier timed out: %v", err)
	}
}

// TestRestored: a rank that begins again two pulses back is answered until it is
// where the others are.
func TestRestored(t *testing.T) {
	ahead := machine(t, Config{Rank: 0, Ranks: 2})
	for range 5 {
		pass(t, ahead)
	}
	back := machine(t, Config{Rank: 1, Ranks: 2, Pulse: 3})
	for back.Pulse() < 5 {
		e, err := back.Arrive(gives(1, back.Pulse()))
		if err != nil {
			t.Fatal(err)
		}
		v, answer, err := ahead.Receive(e)
		if v != Answer || err != nil {
			t.Fatalf("%v: %v, %v", e, v, err)
		}
		if v, _, err := back.Receive(answer); v != Counted || err != nil {
			t.Fatalf("the answer %v: %v, %v", answer, v, err)
		}
		if err := back.Advance(); err != nil {
			t.Fatal(err)
		}
	}
	wrong := envelope(1, 4)
	wrong.Digest[0]++
	if _, _, err := ahead.Receive(wrong); !errors.Is(err, ErrEquivocation) {
		t.Errorf("a rank that does a step again and differently: %v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{}, {Ranks: 2, Rank: 2}, {Ranks: 2, Rank: -1}, {Ranks: 2, Skew: 5}, {Ranks: 2, Skew: -1}, {Ranks: 2, Timeout: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	alone := arrived(t, Config{Ranks: 1})
	if err := alone.Advance(); err != nil || alone.Pulse() != 1 {
		t.Errorf("one rank alone: %v at pulse %d", err, alone.Pulse())
	}
	for s, want := range map[State]string{0: "invalid", Stopped: "stopped", 99: "invalid"} {
		if s.String() != want {
			t.Errorf("state %d is %v", s, s)
		}
	}
	for v, want := range map[Verdict]string{0: "refused", Answer: "answer", 99: "refused"} {
		if v.String() != want {
			t.Errorf("verdict %d is %v", v, v)
		}
	}
}
