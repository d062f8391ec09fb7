package reconcile

import (
	"context"
	"fmt"
	"time"
)

// A Barrier runs a Machine over a way to send and a way to receive. Envelopes may
// come in any order, each once. A rank has at most two of another's in its inbox,
// one of its pulse and one of the next, and an answer beside them: an inbox with
// room for three of each other rank never blocks a sender.
type Barrier struct {
	machine *Machine
	send    func(to int, e Envelope) error
	inbox   <-chan Envelope
}

// NewBarrier returns the barrier of a rank.
func NewBarrier(m *Machine, send func(to int, e Envelope) error, inbox <-chan Envelope) *Barrier {
	return &Barrier{m, send, inbox}
}

// Machine returns the rank's state to read.
func (b *Barrier) Machine() *Machine { return b.machine }

// Sync sends this rank's digest for its pulse to all ranks, waits for theirs, and
// advances to the next pulse. It returns the digests by rank.
// The error is the machine's, that of sending, or the context's; an envelope that
// is refused ends the wait as well, since ranks that keep to the protocol send
// none.
func (b *Barrier) Sync(ctx context.Context, d Digest) ([]Digest, error) {
	e, err := b.machine.Arrive(d)
	if err != nil {
		return nil, err
	}
	for to := range b.machine.c.Ranks {
		if to == e.Rank {
			continue
		}
		if err := b.send(to, e); err != nil {
			return nil, fmt.Errorf("reconcile: rank %d to rank %d: %w", e.Rank, to, err)
		}
	}
	for b.machine.State() != Complete {
		if err := b.wait(ctx); err != nil {
			return nil, err
		}
	}
	all, err := b.machine.Digests()
	if err != nil {
		return nil, err
	}
	return all, b.machine.Advance()
}

// wait takes one envelope, or as much time as there is.
func (b *Barrier) wait(ctx context.Context) error {
	timer := time.NewTimer(b.machine.Left())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return b.machine.Check()
	case e := <-b.inbox:
		v, answer, err := b.machine.Receive(e)
		if err == nil && v == Answer {
			err = b.send(e.Rank, answer)
		}
		return err
	}
}
