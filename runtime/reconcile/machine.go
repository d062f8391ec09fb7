// Package reconcile keeps the pulses of several ranks together.
//
// Ranks that build one model must do the same step at the same pulse. A synchronous
// barrier ensures that: a rank that has finished a pulse sends an envelope to all
// others, with the digest of its result, and continues when it has the envelope of
// every rank for that pulse. A Machine is the state machine of one rank: its methods
// take events and return decisions. It has no goroutine, no channel and no clock but
// the one in its Config, so the same events lead to the same states.
//
//	         Arrive              the last envelope        Advance
//	working ───────► waiting ─────────────────► complete ────────► working, one pulse on
//	                    │ timeout, equivocation
//	                    └──────► stopped
//
// An envelope is of the past, the present or the future, compared with the pulse
// of the rank that receives it. The present is counted. The future is held until
// the rank gets there, and refused when it is further away than the skew: a
// rank can be one pulse ahead of another, since to be two ahead it would need an
// envelope that the other has not sent. The past is answered: a rank that sends
// again what it sent before was restored from a checkpoint and does that step
// again; what it needs is the others' envelopes of that time. It is refused when
// it is further back than the skew or before this rank began.
//
// What cannot happen among ranks that keep to this is an error that names both
// sides and changes nothing: an unknown rank, an envelope that came already, a
// pulse out of reach. Two digests of one rank for one pulse are an equivocation:
// that rank has done two different things, and everyone who sees it stops, as do
// those that have waited too long.
package reconcile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// The limits of the protocol.
const (
	MaxSkew = 4                // pulses that an envelope may be from here
	Timeout = 30 * time.Second // that a rank waits for the others
)

// What a Machine refuses; an *Error wraps one.
var (
	ErrRank         = errors.New("unknown rank")
	ErrDuplicate    = errors.New("said twice")
	ErrEquivocation = errors.New("equivocation")
	ErrSkew         = errors.New("too far in the future")
	ErrPast         = errors.New("too far in the past")
	ErrTimeout      = errors.New("timeout")
	ErrState        = errors.New("out of order")
)

// An Error says what is wrong with an envelope or a call, with both sides.
type Error struct {
	Err         error
	There, Here string
}

func (e *Error) Error() string {
	return fmt.Sprintf("reconcile: %v: %s, but %s", e.Err, e.There, e.Here)
}

func (e *Error) Unwrap() error { return e.Err }

// A Digest is the SHA-256 of a rank's result at a pulse.
type Digest [32]byte

// String returns the first eight bytes in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:8]) }

// An Envelope says that a rank has done its work on a pulse.
type Envelope struct {
	Rank   int
	Pulse  uint64 // number of the step, as pulse.Pulse.Step counts
	Digest Digest
}

// String names the envelope in an error.
func (e Envelope) String() string {
	return fmt.Sprintf("rank %d at pulse %d sends %v", e.Rank, e.Pulse, e.Digest)
}

// Config is the fixed parameters of a rank. Zero Skew, Timeout and Clock are MaxSkew,
// Timeout and time.Now.
type Config struct {
	Rank, Ranks int
	Pulse       uint64 // of the first step
	Skew        int
	Timeout     time.Duration
	Clock       func() time.Time
}

// State says where a Machine is.
type State uint8

// The states. The zero State is invalid.
const (
	_        State = iota
	Working        // this rank has not arrived at its pulse
	Waiting        // it has, and others have not
	Complete       // all have
	Stopped        // for good
)

// String returns the state in lower case.
func (s State) String() string {
	names := []string{"invalid", "working", "waiting", "complete", "stopped"}
	if int(s) < len(names) {
		return names[s]
	}
	return names[0]
}

// A Machine is the state of one rank. It serves one goroutine.
type Machine struct {
	c     Config
	first uint64  // the pulse it began at
	pulse uint64  // its own
	said  []entry // [2·skew+1, ranks]: what each rank said for the pulses around its own, by pulse modulo 2·skew+1
	since time.Time
	err   *Error // why it stopped
}

// An entry is what one rank said for one pulse.
type entry struct {
	digest Digest
	there  bool
}

// New returns a rank that works on its first pulse. The error says what is wrong
// with the configuration.
func New(c Config) (*Machine, error) {
	if c.Skew == 0 {
		c.Skew = MaxSkew
	}
	if c.Timeout == 0 {
		c.Timeout = Timeout
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	switch {
	case c.Ranks < 1 || c.Rank < 0 || c.Rank >= c.Ranks:
		return nil, fmt.Errorf("reconcile: rank %d of %d: ranks count from 0", c.Rank, c.Ranks)
	case c.Skew < 1 || c.Skew > MaxSkew:
		return nil, fmt.Errorf("reconcile: a skew of %d pulses, want 1 to %d", c.Skew, MaxSkew)
	case c.Timeout < 0:
		return nil, fmt.Errorf("reconcile: a timeout of %v, want more than none", c.Timeout)
	}
	return &Machine{c: c, first: c.Pulse, pulse: c.Pulse, said: make([]entry, (2*c.Skew+1)*c.Ranks)}, nil
}

// at returns what the ranks said for a pulse within the skew, by rank.
func (m *Machine) at(pulse uint64) []entry {
	i := int(pulse%uint64(2*m.c.Skew+1)) * m.c.Ranks
	return m.said[i : i+m.c.Ranks]
}

// Pulse returns the pulse that the rank is at.
func (m *Machine) Pulse() uint64 { return m.pulse }

// State returns where the machine is.
func (m *Machine) State() State {
	switch {
	case m.err != nil:
		return Stopped
	case !m.at(m.pulse)[m.c.Rank].there:
		return Working
	case len(m.Missing()) > 0:
		return Waiting
	}
	return Complete
}

// Missing returns the ranks that have not arrived at this rank's pulse.
func (m *Machine) Missing() (ranks []int) {
	for r, e := range m.at(m.pulse) {
		if !e.there {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// Digests returns what every rank sent for this rank's pulse, by rank. The error
// wraps ErrState while one is missing.
func (m *Machine) Digests() ([]Digest, error) {
	if s := m.State(); s != Complete {
		return nil, m.wrong("digests", s)
	}
	var out []Digest
	for _, e := range m.at(m.pulse) {
		out = append(out, e.digest)
	}
	return out, nil
}

// wrong is the error of a call that the state does not allow.
func (m *Machine) wrong(call string, s State) error {
	if m.err != nil {
		return m.err
	}
	here := fmt.Sprintf("rank %d is %v at pulse %d", m.c.Rank, s, m.pulse)
	if s == Waiting {
		here += fmt.Sprintf(", without ranks %v", m.Missing())
	}
	return &Error{ErrState, call + " was called", here}
}

// stop ends the machine.
func (m *Machine) stop(err *Error) error {
	m.err = err
	return err
}

// Arrive says that this rank has done its work on its pulse, and returns the
// envelope to send to every other rank. The error wraps ErrState, or is why the
// machine stopped.
func (m *Machine) Arrive(d Digest) (Envelope, error) {
	if s := m.State(); s != Working {
		return Envelope{}, m.wrong("arrive", s)
	}
	m.at(m.pulse)[m.c.Rank] = entry{d, true}
	m.since = m.c.Clock()
	return Envelope{m.c.Rank, m.pulse, d}, nil
}

// Advance goes on to the next pulse. What was held for it is present from now
// on. The error wraps ErrState unless all ranks have arrived, or is why the
// machine stopped.
func (m *Machine) Advance() error {
	if s := m.State(); s != Complete {
		return m.wrong("advance", s)
	}
	m.pulse++
	clear(m.at(m.pulse + uint64(m.c.Skew))) // it was that of the oldest pulse
	return nil
}

// Left returns how long this rank goes on waiting: the whole timeout unless it
// waits.
func (m *Machine) Left() time.Duration {
	if m.State() != Waiting {
		return m.c.Timeout
	}
	return m.since.Add(m.c.Timeout).Sub(m.c.Clock())
}

// Check stops the machine if it has waited too long. The error wraps ErrTimeout
// and names the ranks that are missing, or is why the machine stopped before.
func (m *Machine) Check() error {
	if m.err != nil {
		return m.err
	}
	if m.State() != Waiting || m.Left() > 0 {
		return nil
	}
	return m.stop(&Error{ErrTimeout, fmt.Sprintf("ranks %v have not arrived at pulse %d", m.Missing(), m.pulse),
		fmt.Sprintf("rank %d has waited %v", m.c.Rank, m.c.Timeout)})
}
