package module

import (
	goctx "context"
	"errors"

	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// errStream says that a session was made of nothing to read.
var errStream = errors.New("module: a session needs a stream")

// A Session is a module, the conductor of its stream and the context that they
// have built up: what is one organism, and is saved and restored as one. It
// serves one goroutine.
type Session[F Float] struct {
	module    *Module[F]
	conductor *conductor.Conductor
	context   context.Handle[*Memory[F]]
	step      Step
}

// A Step is what one step of a session gave.
type Step struct {
	Result
	Pulse pulse.Pulse // of the chunk
	Norm  float64     // of the gradient before it was clipped, in a build
}

// NewSession returns a session at the first chunk of a stream, which is its own
// from now on, with a new context in every lane. The error says what is wrong
// with the schedule, or that there is no stream.
func NewSession[F Float](m *Module[F], s *stream.Stream, schedule pulse.Schedule, phase pulse.Phase) (*Session[F], error) {
	if s == nil {
		return nil, errStream
	}
	c, err := conductor.New(s, schedule, phase)
	if err != nil {
		return nil, err
	}
	return &Session[F]{module: m, conductor: c, context: m.NewContext(s.Lanes())}, nil
}

// Module returns the session's module.
func (s *Session[F]) Module() *Module[F] { return s.module }

// Conductor returns the session's conductor: its pulse, and where observers are
// added.
func (s *Session[F]) Conductor() *conductor.Conductor { return s.conductor }

// Last returns what the last step gave; an observer sees that of the step that is
// about to end.
func (s *Session[F]) Last() Step { return s.step }

// Step takes the next chunk, of so many tokens per lane, through the model, moves
// the parameters if this is a build, shows the chunk to the observers and goes on.
// The error is that of Process, Update or Advance. After one of Process nothing
// has moved but the stream: there is no more state to save, and the last one that
// was saved is good. After one of an observer the step is done, and Advance of the
// conductor goes on.
func (s *Session[F]) Step(tokens int) (Step, error) {
	c, p, err := s.conductor.Next(tokens)
	if err != nil {
		return Step{}, err
	}
	done := Step{Pulse: p}
	if done.Result, s.context, err = s.module.Process(c, s.context, p); err != nil {
		return Step{}, err
	}
	if p.Phase() == pulse.Build {
		if done.Norm, err = s.module.Update(p); err != nil {
			return Step{}, err
		}
	}
	s.step = done
	return done, s.conductor.Advance()
}

// Probe calls f with a fork of the session's context, whose chunks f makes as it
// likes; the session is unchanged by it.
func (s *Session[F]) Probe(f func(h context.Handle[*Memory[F]], p pulse.Pulse) error) error {
	fork, err := s.context.Fork((*Memory[F]).Clone)
	if err != nil {
		return err
	}
	return f(fork, s.conductor.Pulse())
}

// Generate draws tokens that go on after what a slot has read, on a fork of its
// context, as Module.Generate does; the session is unchanged by it.
func (s *Session[F]) Generate(ctx goctx.Context, slot int, prompt []int32, how Sampling) ([]int32, error) {
	return s.module.Generate(ctx, s.context, slot, s.conductor.Pulse(), prompt, how)
}
