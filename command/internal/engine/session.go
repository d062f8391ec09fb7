package engine

import (
	"errors"
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// session is a Session on top of a module's.
type session struct {
	*saved
	of       *module.Session[float32]
	stream   *stream.Stream
	identity module.Identity
	chunk    int
	units    int // of the targets of the last call
}

// NewSession opens a checkpoint on a text.
func (m *Modules) NewSession(path string, text Text, chunk int, saved string) (_ Session, err error) {
	x, err := m.open(path, text.Tokenizer, text.Device, chunk)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	c, err := x.stream(text.Paths)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := m.source(c)
	if err != nil {
		return nil, err
	}
	if err := x.fits(&r); err != nil {
		return nil, err
	}
	if chunk == 0 {
		chunk = max(x.info.Chunk, 1)
	}
	s := &session{saved: x, chunk: chunk, identity: module.Identity{{Name: "model", Value: x.info.Model}, {Name: "sizes", Value: x.info.Sizes},
		{Name: "periods", Value: x.schedule.String()}, {Name: "chunk", Value: fmt.Sprint(chunk)}}}
	if s.stream, err = stream.NewSession(stream.Whole(r.source), 1); err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if s.of, err = module.NewSession(x.module, s.stream, x.schedule, pulse.Stream); err != nil {
		return nil, err
	}
	s.of.Conductor().Observe(func(_ pulse.Pulse, c stream.Chunk) error {
		s.units = x.sizes(c)
		return nil
	})
	if err := s.resumeFrom(saved); err != nil {
		return nil, err
	}
	return s, nil
}

// resumeFrom resumes from a file, if it exists.
func (s *session) resumeFrom(saved string) error {
	if _, err := os.Stat(saved); err != nil {
		return nil // Save reports a path that cannot be written
	}
	snap, err := checkpoint.Read(saved)
	if err == nil {
		err = s.of.ResumeSession(snap, s.identity, nil)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w", saved, err)
	}
	return nil
}

// Step reads the next call.
func (s *session) Step() (nats float64, predicted int, ok bool, err error) {
	if s.stream.Ended() {
		return 0, 0, false, nil
	}
	x, err := s.of.Step(min(s.chunk, s.stream.Left(0)))
	return x.Nats * float64(x.Valid), s.units, true, err
}

// Position is the number of tokens read.
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
