package engine

import (
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// A Session reads one text to its end, with a memory that goes on, and can be
// saved between two calls. It serves one goroutine.
type Session interface {
	// Step reads the next call and returns the nats of predicting what follows.
	// ok is false at the end of the text.
	Step() (nats float64, predicted int, ok bool, err error)
	// Position is how many bytes were read.
	Position() int
	// Hash is a digest of the context.
	Hash() (string, error)
	// Save writes memory, time and place, and names the parameters by their
	// digest.
	Save(path string) error
}

// session is a Session over a module's.
type session struct {
	of       *module.Session[float32]
	stream   *stream.Stream
	identity module.Identity
	chunk    int
}

// NewSession opens a checkpoint on a text, in calls of so many tokens. It goes on
// from the file at saved, if there is one; what is saved there of other
// parameters or of another text is refused.
func (m *Modules) NewSession(path, text string, chunk int, saved string) (Session, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	r := &reader{}
	if err := m.load(r, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := stream.Open(text)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	x := &session{chunk: chunk, identity: module.Identity{{Name: "model", Value: r.info.Model}, {Name: "sizes", Value: r.info.Sizes}, {Name: "chunk", Value: fmt.Sprint(chunk)}}}
	if x.stream, err = stream.NewSession(stream.Whole(t), 1); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if x.of, err = module.NewSession(r.module, x.stream, pulse.Schedule{}, pulse.Stream); err != nil {
		return nil, err
	}
	if _, err := os.Stat(saved); err != nil {
		return x, nil // Save will say what is wrong with a place that cannot be written
	}
	snap, err := checkpoint.Read(saved)
	if err == nil {
		err = x.of.ResumeSession(snap, x.identity, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", saved, err)
	}
	return x, nil
}

// Step reads the next call.
func (s *session) Step() (nats float64, predicted int, ok bool, err error) {
	if s.stream.Ended() {
		return 0, 0, false, nil
	}
	x, err := s.of.Step(min(s.chunk, s.stream.Left(0)))
	return x.Nats * float64(x.Valid), x.Valid, true, err
}

// Position is how many bytes were read.
func (s *session) Position() int { return int(s.of.Conductor().Pulse().Position()) }

// Hash is that of a reader's context.
func (s *session) Hash() (hash string, err error) {
	err = s.of.Probe(func(h rtcontext.Handle[*module.Memory[float32]], _ pulse.Pulse) error {
		r := reader{context: h, fed: true}
		hash, err = r.Hash()
		return err
	})
	return hash, err
}

// Save writes the session.
func (s *session) Save(path string) error {
	snap, err := s.of.SnapshotSession(s.identity)
	if err != nil {
		return err
	}
	return checkpoint.Write(path, snap)
}
