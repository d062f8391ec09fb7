package reconcile

import "fmt"

// Verdict says what became of an envelope.
type Verdict uint8

// The verdicts. The zero Verdict comes with an error.
const (
	_       Verdict = iota
	Counted         // of the present
	Held            // of the future, kept until this rank is there
	Answer          // of the past: the sender is to have this rank's envelope of that pulse
)

// String returns the verdict in lower case.
func (v Verdict) String() string {
	names := []string{"refused", "counted", "held", "answer"}
	if int(v) < len(names) {
		return names[v]
	}
	return names[0]
}

// Receive takes an envelope of another rank. Beside the verdict Answer it returns
// the envelope to send back. An *Error refuses the envelope; the machine is as it
// was, but stopped after ErrEquivocation and ErrTimeout.
func (m *Machine) Receive(e Envelope) (Verdict, Envelope, error) {
	if err := m.Check(); err != nil {
		return 0, Envelope{}, err
	}
	if e.Rank < 0 || e.Rank >= m.c.Ranks || e.Rank == m.c.Rank {
		return 0, Envelope{}, &Error{ErrRank, e.String(), fmt.Sprintf("this is rank %d of %d", m.c.Rank, m.c.Ranks)}
	}
	if err := m.reach(e); err != nil {
		return 0, Envelope{}, err
	}
	was := &m.at(e.Pulse)[e.Rank]
	switch {
	case was.there && was.digest != e.Digest:
		return 0, Envelope{}, m.stop(&Error{ErrEquivocation, e.String(), "before it sent " + was.digest.String()})
	case e.Pulse < m.pulse: // all of the past is there: nobody goes on without
		return Answer, Envelope{m.c.Rank, e.Pulse, m.at(e.Pulse)[m.c.Rank].digest}, nil
	case was.there:
		return 0, Envelope{}, &Error{ErrDuplicate, e.String(), fmt.Sprintf("rank %d has it since before, and is at pulse %d", m.c.Rank, m.pulse)}
	}
	*was = entry{e.Digest, true}
	if e.Pulse > m.pulse {
		return Held, Envelope{}, nil
	}
	return Counted, Envelope{}, nil
}

// reach refuses an envelope whose pulse is further from this rank's than the
// skew, or before its first.
func (m *Machine) reach(e Envelope) error {
	skew := uint64(m.c.Skew)
	here := fmt.Sprintf("rank %d is at pulse %d", m.c.Rank, m.pulse)
	switch {
	case e.Pulse > m.pulse && e.Pulse-m.pulse > skew:
		return &Error{ErrSkew, e.String(), fmt.Sprintf("%s and holds %d pulses", here, skew)}
	case e.Pulse < m.first:
		return &Error{ErrPast, e.String(), fmt.Sprintf("%s and began at %d", here, m.first)}
	case e.Pulse < m.pulse && m.pulse-e.Pulse > skew:
		return &Error{ErrPast, e.String(), fmt.Sprintf("%s and remembers %d pulses", here, skew)}
	}
	return nil
}
