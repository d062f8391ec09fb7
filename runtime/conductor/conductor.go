// Package conductor owns the time of a model and the stream that it reads.
//
// A model's memory is right for one place of one stream at one time, so the
// three never move apart. A Conductor hands out the next chunk together with its
// pulse; when the work on it is done, Advance shows the chunk and its pulse to
// the observers, and only then is it one step later. While a chunk is out there
// is no state to save; between two chunks there is one, of pulse and cursors
// together (State), and it is taken back whole or not at all.
//
//	c, p, err := d.Next(64)      // the chunk, and when it is
//	…                            // forward, backward, update
//	err = d.Advance()            // observers see p; then it is p.Next(64)
//
// What a run is for, building, testing or streaming, is the conductor's to say:
// parts read it off the pulse, and no forward asks. A Conductor serves one
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
	ErrOut       = errors.New("conductor: a chunk is out; advance first")
	ErrNotOut    = errors.New("conductor: no chunk is out; there is nothing to advance from")
	ErrObserving = errors.New("conductor: an observer may look and not touch")
)

// noStream is the panic message of a conductor made without a stream.
const noStream = "conductor: a conductor owns a stream"

// An Observer looks at a chunk that has been worked on, before time goes on. It
// is given the pulse of that chunk. What it is shown is to be read; the chunk is
// valid until it returns. An error, or a panic, keeps the step where it is.
type Observer func(p pulse.Pulse, c stream.Chunk) error

// A Conductor owns a pulse, a stream and the observers of its steps.
type Conductor struct {
	pulse     pulse.Pulse
	stream    *stream.Stream
	observers []Observer
	chunk     stream.Chunk
	out       bool // the chunk is being worked on
	observing bool
}

// New returns a conductor at the first chunk of a stream, which is its own from
// now on. The error says what is wrong with the schedule. New panics without a stream
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

// Pulse returns the time: of the chunk that is out, or of the next one.
func (c *Conductor) Pulse() pulse.Pulse { return c.pulse }

// Lanes returns the number of lanes of the stream.
func (c *Conductor) Lanes() int { return c.stream.Lanes() }

// Out reports whether a chunk is out.
func (c *Conductor) Out() bool { return c.out }

// Observe adds an observer behind those that there are.
func (c *Conductor) Observe(o Observer) { c.observers = append(c.observers, o) }

// Next hands out the next chunk, of so many tokens per lane, with its pulse. It
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

// Advance shows the chunk that is out to the observers, in the order in which
// they were added, and goes on to the next step. When an observer fails, those
// behind it are not asked, the step stays as it is, with the chunk out, and
// Advance may be called again. The error is the observer's, with its number and
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

// Enter changes what the run is for, between two chunks. The error is ErrOut or
// ErrObserving. Enter panics for a phase that does not exist.
func (c *Conductor) Enter(phase pulse.Phase) error {
	if err := c.free(); err != nil {
		return err
	}
	c.pulse = c.pulse.In(phase)
	return nil
}
