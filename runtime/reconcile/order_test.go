package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A world is some ranks and the envelopes between them, delivered in any order.
type world struct {
	ranks []*Machine
	way   []delivery
	got   int // envelopes received
	last  uint64
}

type delivery struct {
	to int
	e  Envelope
}

func newWorld(t testing.TB, ranks, skew int, last uint64) *world {
	w := &world{last: last}
	still := func() time.Time { return time.Unix(0, 0) }
	for r := range ranks {
		w.ranks = append(w.ranks, machine(t, Config{Rank: r, Ranks: ranks, Skew: skew, Clock: still}))
	}
	return w
}

func (w *world) clone() *world {
	c := &world{way: slices.Clone(w.way), got: w.got, last: w.last}
	for _, m := range w.ranks {
		c.ranks = append(c.ranks, m.clone())
	}
	return c
}

// key is what the future depends on.
func (w *world) key() string {
	var b strings.Builder
	for _, m := range w.ranks {
		fmt.Fprint(&b, m.pulse, ":")
		for p := m.pulse; p <= m.pulse+uint64(m.c.Skew); p++ {
			for _, e := range m.at(p) {
				fmt.Fprint(&b, e.there, " ")
			}
		}
	}
	way := slices.Clone(w.way)
	slices.SortFunc(way, func(a, b delivery) int {
		return slices.Compare([]int{a.to, a.e.Rank, int(a.e.Pulse)}, []int{b.to, b.e.Rank, int(b.e.Pulse)})
	})
	for _, d := range way {
		fmt.Fprint(&b, "|", d.to, d.e.Rank, d.e.Pulse)
	}
	return b.String()
}

// moves are all things that can happen next.
func (w *world) moves() (moves []func(w *world) error) {
	for i, m := range w.ranks {
		switch s := m.State(); {
		case s == Working && m.Pulse() < w.last:
			moves = append(moves, func(w *world) error { return w.arrive(i) })
		case s == Complete:
			moves = append(moves, func(w *world) error { return w.ranks[i].Advance() })
		}
	}
	for i := range w.way {
		moves = append(moves, func(w *world) error { return w.deliver(i) })
	}
	return moves
}

func (w *world) arrive(i int) error {
	e, err := w.ranks[i].Arrive(gives(i, w.ranks[i].Pulse()))
	for to := range w.ranks {
		if to != i {
			w.way = append(w.way, delivery{to, e})
		}
	}
	return err
}

func (w *world) deliver(i int) error {
	d := w.way[i]
	w.way = slices.Delete(w.way, i, i+1)
	v, _, err := w.ranks[d.to].Receive(d.e)
	if err == nil && v != Counted && v != Held {
		err = fmt.Errorf("%v to rank %d: %v", d.e, d.to, v)
	}
	w.got++
	return err
}

// sound is what holds at every moment.
func (w *world) sound() error {
	lo, hi := w.ranks[0].Pulse(), w.ranks[0].Pulse()
	for _, m := range w.ranks {
		lo, hi = min(lo, m.Pulse()), max(hi, m.Pulse())
		if m.State() != Complete {
			continue
		}
		all, err := m.Digests()
		if err != nil {
			return err
		}
		for r, d := range all {
			if d != gives(r, m.Pulse()) {
				return fmt.Errorf("rank %d has another digest of rank %d at pulse %d", m.c.Rank, r, m.Pulse())
			}
		}
	}
	if hi-lo > 1 {
		return fmt.Errorf("one rank is at pulse %d, one at %d", lo, hi)
	}
	return nil
}

// ended is what holds where nothing can happen any more.
func (w *world) ended() error {
	for r, m := range w.ranks {
		if m.Pulse() != w.last || m.State() != Working {
			return fmt.Errorf("deadlock: rank %d is %v at pulse %d of %d, without %v", r, m.State(), m.Pulse(), w.last, m.Missing())
		}
	}
	if want := len(w.ranks) * (len(w.ranks) - 1) * int(w.last); w.got != want {
		return fmt.Errorf("%d envelopes were received, want %d", w.got, want)
	}
	return nil
}

// TestAllOrders goes through every order in which a few ranks can arrive,
// receive and go on.
func TestAllOrders(t *testing.T) {
	for _, x := range []struct {
		ranks, skew int
		last        uint64
	}{{2, 4, 6}, {2, 1, 6}, {3, 1, 3}, {3, 4, 3}, {4, 2, 1}} {
		seen := map[string]bool{}
		ends := 0
		todo := []*world{newWorld(t, x.ranks, x.skew, x.last)}
		for len(todo) > 0 {
			w := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			moves := w.moves()
			if len(moves) == 0 {
				ends++
				if err := w.ended(); err != nil {
					t.Fatal(err)
				}
			}
			for _, move := range moves {
				next := w.clone()
				if err := errors.Join(move(next), next.sound()); err != nil {
					t.Fatalf("%d ranks, %s: %v", x.ranks, w.key(), err)
				}
				if k := next.key(); !seen[k] {
					seen[k] = true
					todo = append(todo, next)
				}
			}
		}
		if ends != 1 {
			t.Errorf("%d ranks: %d ends, want one", x.ranks, ends)
		}
		t.Logf("%d ranks, skew %d, %d pulses: %d states", x.ranks, x.skew, x.last, len(seen))
	}
}

// TestRandomOrders follows long runs of up to four ranks in drawn orders.
func TestRandomOrders(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t, 2+int(seed%3), 1+int(seed%4), 40)
		for {
			moves := w.moves()
			if len(moves) == 0 {
				break
			}
			if err := errors.Join(moves[random.IntN(len(moves))](w), w.sound()); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if err := w.ended(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// barriers are ranks on channels.
func barriers(t *testing.T, ranks int, timeout time.Duration) []*Barrier {
	inboxes := make([]chan Envelope, ranks)
	for r := range inboxes {
		inboxes[r] = make(chan Envelope, 3*(ranks-1))
	}
	var out []*Barrier
	for r := range ranks {
		m := machine(t, Config{Rank: r, Ranks: ranks, Timeout: timeout})
		out = append(out, NewBarrier(m, func(to int, e Envelope) error {
			inboxes[to] <- e
			return nil
		}, inboxes[r]))
	}
	return out
}

// TestGoroutines runs ranks side by side, each as fast as it can.
func TestGoroutines(t *testing.T) {
	const last = 400
	for _, ranks := range []int{1, 2, 3, 4} {
		var wg sync.WaitGroup
		for r, b := range barriers(t, ranks, 0) {
			wg.Go(func() {
				for p := range uint64(last) {
					all, err := b.Sync(context.Background(), gives(r, p))
					if err != nil {
						t.Errorf("rank %d of %d: %v", r, ranks, err)
						return
					}
					for other, d := range all {
						if d != gives(other, p) {
							t.Errorf("rank %d has another digest of rank %d at pulse %d", r, other, p)
						}
					}
				}
				if b.Machine().Pulse() != last {
					t.Errorf("rank %d is at pulse %d, want %d", r, b.Machine().Pulse(), last)
				}
			})
		}
		wg.Wait()
	}
}

// TestLostRank: those that are left give up, and so does one that is told to.
func TestLostRank(t *testing.T) {
	b := barriers(t, 3, 20*time.Millisecond)
	var wg sync.WaitGroup
	for r := range 2 {
		wg.Go(func() {
			if _, err := b[r].Sync(context.Background(), gives(r, 0)); !errors.Is(err, ErrTimeout) {
				t.Errorf("rank %d: %v, want a timeout", r, err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := barriers(t, 2, 0)[0].Sync(ctx, gives(0, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	broken := errors.New("no wire")
	m := machine(t, Config{Rank: 0, Ranks: 2})
	if _, err := NewBarrier(m, func(int, Envelope) error { return broken }, nil).Sync(context.Background(), gives(0, 0)); !errors.Is(err, broken) {
		t.Errorf("%v, want the sender's error", err)
	}
}

// TestBarrierAnswers has a rank that begins again ask one that waits.
func TestBarrierAnswers(t *testing.T) {
	ahead := machine(t, Config{Rank: 0, Ranks: 2})
	for range 3 {
		pass(t, ahead)
	}
	inbox := make(chan Envelope, 3)
	var sent []Envelope
	b := NewBarrier(ahead, func(_ int, e Envelope) error { sent = append(sent, e); return nil }, inbox)
	inbox <- envelope(1, 2)
	inbox <- envelope(1, 3)
	if _, err := b.Sync(context.Background(), gives(0, 3)); err != nil {
		t.Fatal(err)
	}
	if want := []Envelope{envelope(0, 3), envelope(0, 2)}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
}
