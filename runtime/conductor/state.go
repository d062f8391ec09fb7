package conductor

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// stateVersion is the layout of Words.
const stateVersion = 1

// StateWords is the length of a pulse as stored in a checkpoint.
const StateWords = 6 + pulse.MaxLevels

// What a saved state can be refused for; a *Mismatch wraps one. What is wrong
// with a cursor on the stream is a *stream.Mismatch.
var (
	ErrVersion  = errors.New("version of the state")
	ErrCursors  = errors.New("number of cursors")
	ErrPulse    = errors.New("pulse of the cursor and of the model")
	ErrSchedule = errors.New("schedule")
	ErrPhase    = errors.New("phase")
	ErrTime     = errors.New("time")
)

// A Mismatch says what differs between a saved state and the live conductor, or
// within a saved state.
type Mismatch struct {
	What        error
	Saved, Here string
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("conductor: the %v differs: saved %s, here %s", m.What, m.Saved, m.Here)
}

func (m *Mismatch) Unwrap() error { return m.What }

// A State is a conductor between two chunks: the pulse of the next chunk and one
// cursor for each slot of the batch, taken at the same pulse.
type State struct {
	Pulse   pulse.Pulse
	Cursors []stream.Cursor
}

// State returns the state. The error is ErrOut or ErrObserving.
func (c *Conductor) State() (State, error) {
	if err := c.free(); err != nil {
		return State{}, err
	}
	return State{c.pulse, c.stream.Cursors(c.pulse)}, nil
}

// Restore puts the conductor, pulse and stream, where a state was taken. That
// the pulse ids of the cursors are the model's step is looked at first. All of
// it is compared before anything moves: on an error, a *Mismatch, a
// *stream.Mismatch, ErrOut or ErrObserving, the conductor is unchanged.
func (c *Conductor) Restore(s State) error {
	if err := c.free(); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	here := c.pulse
	if saved, own := s.Pulse.Schedule().String(), here.Schedule().String(); saved != own {
		return &Mismatch{ErrSchedule, saved, own}
	}
	if saved, own := s.Pulse.Phase(), here.Phase(); saved != own {
		return &Mismatch{ErrPhase, saved.String(), own.String()}
	}
	if err := c.stream.Restore(s.Cursors, s.Pulse); err != nil {
		return err
	}
	c.pulse = here.At(s.Pulse.Step(), s.Pulse.Position())
	return nil
}

// check looks for a state that no conductor was ever in.
func (s State) check() error {
	if len(s.Cursors) == 0 {
		return &Mismatch{ErrCursors, "none", "one for each batch slot"}
	}
	for _, c := range s.Cursors {
		if c.PulseID != s.Pulse.Step() {
			return &Mismatch{ErrPulse, fmt.Sprintf("cursor of slot %d before chunk %d", c.Slot, c.PulseID),
				fmt.Sprintf("model before chunk %d of the same checkpoint", s.Pulse.Step())}
		}
	}
	return nil
}

// Words returns the state as two tensors of a checkpoint: of the pulse
// [StateWords], and of the cursors [batch, stream.CursorWords].
func (s State) Words() (clock, cursors []uint64) {
	p := s.Pulse
	clock = []uint64{stateVersion, p.Step(), p.Position(), uint64(p.Phase()), uint64(p.Unit()), uint64(p.Levels())}
	for l := range pulse.MaxLevels {
		period := uint64(0)
		if l < p.Levels() {
			period = uint64(p.Period(l))
		}
		clock = append(clock, period)
	}
	for _, c := range s.Cursors {
		cursors = append(cursors, c.Words()...)
	}
	return clock, cursors
}

// FromWords is the inverse of Words. It takes nothing on trust: the error is a
// *Mismatch for words that no conductor has written, or the stream's.
func FromWords(clock, cursors []uint64) (State, error) {
	if len(clock) != StateWords || clock[0] != stateVersion {
		saved := fmt.Sprintf("%d words", len(clock))
		if len(clock) > 0 {
			saved += fmt.Sprintf(" of version %d", clock[0])
		}
		return State{}, &Mismatch{ErrVersion, saved, fmt.Sprintf("%d words of version %d", StateWords, stateVersion)}
	}
	p, err := pulseOf(clock)
	if err != nil {
		return State{}, err
	}
	if len(cursors)%stream.CursorWords != 0 {
		return State{}, &Mismatch{ErrCursors, fmt.Sprintf("%d words", len(cursors)), fmt.Sprintf("a multiple of %d", stream.CursorWords)}
	}
	s := State{Pulse: p}
	for at := 0; at < len(cursors); at += stream.CursorWords {
		c, err := stream.CursorFromWords(cursors[at : at+stream.CursorWords])
		if err != nil {
			return State{}, err
		}
		s.Cursors = append(s.Cursors, c)
	}
	return s, s.check()
}

// pulseOf reads a pulse, field by field.
func pulseOf(w []uint64) (pulse.Pulse, error) {
	step, position, phase, unit, levels := w[1], w[2], w[3], w[4], w[5]
	periods := w[6:]
	if phase < uint64(pulse.Build) || phase > uint64(pulse.Stream) {
		return pulse.Pulse{}, &Mismatch{ErrPhase, fmt.Sprint(phase), "build, test or stream"}
	}
	if unit > uint64(pulse.Tokens) || levels < 1 || levels > pulse.MaxLevels {
		return pulse.Pulse{}, &Mismatch{ErrSchedule, fmt.Sprintf("%d levels in unit %d", levels, unit), fmt.Sprintf("1 to %d levels in chunks or tokens", pulse.MaxLevels)}
	}
	s := pulse.Schedule{Unit: pulse.Unit(unit)}
	for l, n := range periods {
		switch {
		case l < int(levels):
			s.Periods = append(s.Periods, int(min(n, 1<<40)))
		case n != 0:
			return pulse.Pulse{}, &Mismatch{ErrSchedule, fmt.Sprintf("a period for level %d", l), fmt.Sprintf("%d levels", levels)}
		}
	}
	if err := s.Check(); err != nil {
		return pulse.Pulse{}, &Mismatch{ErrSchedule, s.String(), err.Error()}
	}
	if position < step {
		return pulse.Pulse{}, &Mismatch{ErrTime, fmt.Sprintf("%d tokens in %d chunks", position, step), "at least one token in a chunk"}
	}
	return s.First(pulse.Phase(phase)).At(step, position), nil
}
