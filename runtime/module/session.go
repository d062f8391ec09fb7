package module

import (
	goctx "context"
	"errors"

	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// errStream says that a session was made without a stream.
var errStream = errors.New("module: a session needs a stream")

// A Session is a module, the conductor of its stream and the context memory; they are
// saved and restored together. It
// serves one goroutine.
type Session[F Float] struct {
	module    *Module[F]
	conductor *conductor.Conductor
	context   context.Handle[*Memory[F]]
	step      Step
}

// A Step is the result of one step of a session.
type Step struct {
	Result
	Pulse pulse.Pulse // of the chunk
	Norm  float64     // of the gradient before it was clipped, in a build
}

// NewSession returns a session at the first chunk of a stream, which it owns from
// now on, with a new context in every slot. The error says what is wrong
// with the schedule, or that there is no stream.
func NewSession[F Float](m *Module[F], s *stream.Stream, schedule pulse.Schedule, phase pulse.Phase) (_ *Session[F], err error) {
	defer device.Recover(m.memory, &err)
	if s == nil {
		return nil, errStream
	}
	c, err := conductor.New(s, schedule, phase)
	if err != nil {
		return nil, err
	}
	return &Session[F]{module: m, conductor: c, context: m.NewContext(s.Batch())}, nil
}

// Module returns the session's module.
func (s *Session[F]) Module() *Module[F] { return s.module }

// Conductor returns the session's conductor: its pulse, and where observers are
// added.
func (s *Session[F]) Conductor() *conductor.Conductor { return s.conductor }

// Last returns the result of the last step; an observer sees that of the step that is
// about to end.
func (s *Session[F]) Last() Step { return s.step }

// Step runs the next chunk, of the given number of tokens per slot, through the model,
// updates the parameters if this is a build, calls the observers and advances the
// clock. In a build whose gradient spans several chunks it does so for all chunks of a window,
// and the result is that of the window with the pulse of its last chunk. The error is that of Process, Update or Advance. After one of Process only
// the stream has advanced: there is no state to save, and the last checkpoint is
// valid. After one of an observer the step is done, and Advance of the conductor
// continues.
func (s *Session[F]) Step(tokens int) (Step, error) {
	for {
		c, p, err := s.conductor.Next(tokens)
		if err != nil {
			return Step{}, err
		}
		done := Step{Pulse: p}
		if done.Result, s.context, err = s.module.Process(c, s.context, p); err != nil {
			return Step{}, err
		}
		open := s.module.Open() && p.Phase() == pulse.Build
		if p.Phase() == pulse.Build && !open {
			if s.module.window.length > 1 {
				done.Result = s.module.window.result()
			}
			if done.Norm, err = s.module.Update(p); err != nil {
				return Step{}, err
			}
		}
		s.step = done
		if err := s.conductor.Advance(); err != nil || !open {
			return done, err
		}
	}
}

// Probe calls f with a fork of the session's context and its pulse; the session does
// not change.
func (s *Session[F]) Probe(f func(h context.Handle[*Memory[F]], p pulse.Pulse) error) error {
	var own *Memory[F]
	fork, err := s.context.Fork(func(m *Memory[F]) *Memory[F] { own = m.Clone(); return own })
	if err != nil {
		return err
	}
	defer own.release()
	return f(fork, s.conductor.Pulse())
}

// Generate draws tokens that continue what a slot has read, on a fork of its
// context, as Module.Generate does; the session does not change.
func (s *Session[F]) Generate(ctx goctx.Context, slot int, prompt []int32, how Sampling) ([]int32, error) {
	return s.module.Generate(ctx, s.context, slot, s.conductor.Pulse(), prompt, how)
}
