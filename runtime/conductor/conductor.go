// Package conductor owns the clock of a model and the stream that it reads.
//
// A model's memory belongs to one position of one stream at one time, so the three
// advance together. A Conductor returns the next chunk together with its pulse;
// when the work on it is done, Advance shows the chunk and its pulse to the
// observers, and only then advances the clock. While a chunk is being processed
// there is no state to save; between two chunks there is one, of pulse and cursors
// together (State), and it is restored completely or not at all.
//
//	c, p, err := d.Next(64)      // the chunk, and when it is
//	…                            // forward, backward, update
//	err = d.Advance()            // observers see p; then it is p.Next(64)
//
// The conductor sets the phase of a run (build, test or stream): parts read it from
// the pulse, and no forward depends on it. A Conductor serves one
// goroutine.
//
//hecate:conductor
package conductor

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// What a Conductor refuses.
var (
	ErrOut       = errors.New("conductor: a chunk is being processed; advance first")
	ErrNotOut    = errors.New("conductor: no chunk is being processed; there is nothing to advance from")
	ErrObserving = errors.New("conductor: an observer may read and not change")
)

// noStream is the panic message of a conductor made without a stream.
const noStream = "conductor: a conductor owns a stream"

// An Observer reads a chunk that has been processed, and its pulse, before the clock
// advances. The chunk is valid until the observer returns. After an error, or a
// panic, the clock has not advanced.
type Observer func(p pulse.Pulse, c stream.Chunk) error

// A Conductor owns a pulse, a stream and the observers of its steps.
type Conductor struct {
	pulse     pulse.Pulse
	stream    *stream.Stream
	observers []Observer
	chunk     stream.Chunk
	out       bool // the chunk is being processed
	observing bool
}

// New returns a conductor at the first chunk of a stream, which it
// owns from now on. The error says what is wrong with the schedule. New panics without a stream
// and for a phase that does not exist.
func New(s *stream.Stream, schedule pulse.Schedule, phase pulse.Phase) (*Conductor, error) {
	if s == nil {
		panic(noStream)
	}
	if err := schedule.Check(); err != nil {
		return nil, err
	}
	return &Conductor{pulse: schedule.First(phase), stream: s}, nil
}

// Pulse returns the pulse of the chunk that is being processed, or of the next one.
func (c *Conductor) Pulse() pulse.Pulse { return c.pulse }

// Batch returns the number of slots of the stream.
func (c *Conductor) Batch() int { return c.stream.Batch() }

// Out reports whether a chunk is being processed.
func (c *Conductor) Out() bool { return c.out }

// Observe appends an observer.
func (c *Conductor) Observe(o Observer) { c.observers = append(c.observers, o) }

// Next returns the next chunk, of the given number of tokens per slot, with its pulse. It
// allocates nothing that the stream does not, and marks the events of the pulse in
// the chunk. The error is ErrOut while the last chunk has not been advanced from,
// ErrObserving, stream.ErrEnd, or that of the stream's source; then nothing has
// moved. Next panics unless tokens is positive.
func (c *Conductor) Next(tokens int) (stream.Chunk, pulse.Pulse, error) {
	if err := c.free(); err != nil {
		return stream.Chunk{}, pulse.Pulse{}, err
	}
	p := c.pulse.Of(tokens)
	x, err := c.stream.Read(tokens)
	if err != nil {
		return stream.Chunk{}, pulse.Pulse{}, err
	}
	x.Mark(p)
	c.chunk, c.pulse, c.out = x, p, true
	return c.chunk, p, nil
}

// free is nil between two chunks.
func (c *Conductor) free() error {
	switch {
	case c.observing:
		return ErrObserving
	case c.out:
		return ErrOut
	}
	return nil
}

// Advance calls the observers with the chunk, in the order in which they were added,
// and advances the clock. When an observer fails, those after it are not called, the
// clock and the chunk stay as they are, and Advance may be called again. The error is the observer's, with its number and
// the step, or ErrNotOut or ErrObserving.
func (c *Conductor) Advance() error {
	switch {
	case c.observing:
		return ErrObserving
	case !c.out:
		return ErrNotOut
	}
	if err := c.show(); err != nil {
		return err
	}
	c.pulse, c.out = c.pulse.Next(c.chunk.Tokens), false
	return nil
}

// show runs the observers.
func (c *Conductor) show() error {
	c.observing = true
	defer func() { c.observing = false }()
	for i, o := range c.observers {
		if err := o(c.pulse, c.chunk); err != nil {
			return fmt.Errorf("conductor: observer %d at step %d: %w", i, c.pulse.Step(), err)
		}
	}
	return nil
}

// Enter changes the phase of the run, between two chunks. The error is ErrOut or
// ErrObserving. Enter panics for a phase that does not exist.
func (c *Conductor) Enter(phase pulse.Phase) error {
	if err := c.free(); err != nil {
		return err
	}
	c.pulse = c.pulse.In(phase)
	return nil
}
