package module

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// There are two checkpoints. That of a build is all that the next step depends
// on: parameters, what their updates keep and how often each fired, the
// conductor, a cursor for each lane, and the context memory, without which the
// text that follows would be read by a model that has not read what went before.
// That of a session has no parameters: it names them by their digest, and is
// refused where others are. Inner state and gradients are in neither: they do not
// outlive a step.
//
// To go on is to be the same run. So a checkpoint carries the identity of its run,
// a list of names and values, and is refused where one differs; and it is read
// strictly: a tensor that is missing, that is of another shape, or that nothing
// reads is an error. All of that is looked at before anything moves. To begin with
// another run's parameters is something else, and is called so (Donate).

// format is the layout of what a session writes.
const format = "3"

// The kinds of checkpoints, and the keys of their metadata.
const (
	kindBuild   = "build"
	kindSession = "session"

	formatKey     = "hecate.format"
	kindKey       = "hecate.kind"
	layoutKey     = "hecate.layout"
	parametersKey = "hecate.parameters"
	fieldKey      = "run."
)

// What a checkpoint can be refused for, besides what it is as a file and what its
// conductor is on this stream; a *Mismatch wraps one, but for ErrPosition.
var (
	ErrFormat     = errors.New("format")
	ErrKind       = errors.New("kind of checkpoint")
	ErrIdentity   = errors.New("run")
	ErrLayout     = errors.New("layout of the model")
	ErrParameters = errors.New("parameters")
	ErrClocks     = errors.New("clocks")
	ErrPosition   = errors.New("position of a context")
)

// A Mismatch says what of a checkpoint is not what it is here.
type Mismatch struct {
	Err         error
	What        string // which one, of an identity
	Saved, Here string
}

func (m *Mismatch) Error() string {
	switch m.Err {
	case ErrIdentity:
		return fmt.Sprintf("the %s of the run differs: saved %s, here %s", m.What, m.Saved, m.Here)
	case ErrKind:
		return fmt.Sprintf("the kind of checkpoint differs: saved %s, here %s is wanted", m.Saved, m.Here)
	}
	return fmt.Sprintf("the %v of the checkpoint differs: saved %s, here %s", m.Err, m.Saved, m.Here)
}

func (m *Mismatch) Unwrap() error { return m.Err }

// A Field is something that two runs must share to be one.
type Field struct{ Name, Value string }

// An Identity is what a run is made of and a resumed one must share: the hash of
// its specification, the model and its sizes, the update and its settings, the
// text, the seed, and whatever else a step depends on. Its fields are compared in
// order, and stand in a checkpoint's metadata as run.NAME.
type Identity []Field

// SnapshotBuild returns the whole state of a build. The error is the conductor's
// while a chunk is out, or a *BadNumber: what has diverged is not saved.
func (s *Session[F]) SnapshotBuild(id Identity) (*checkpoint.Snapshot, error) {
	snap, err := s.snapshot(kindBuild, id)
	if err != nil {
		return nil, err
	}
	m := s.module
	rows := append(m.parameters(), m.moved()...)
	if m.moves != nil {
		fires := m.moves.Clocks()
		waits := m.moves.Waits()
		rows = append(rows, row{firesName, tensor.Shape{len(fires)}, fires}, row{waitsName, tensor.Shape{len(waits)}, waits})
	}
	return snap, s.at(write[F](snap, rows))
}

// at puts the time into the error of a number that cannot be saved.
func (s *Session[F]) at(err error) error {
	var bad *BadNumber
	if errors.As(err, &bad) {
		bad.Step = s.conductor.Pulse().Step() - 1 // the last one that was done
	}
	return err
}

// SnapshotSession returns what a session is beside its parameters, which it names
// by their digest. The error is that of SnapshotBuild.
func (s *Session[F]) SnapshotSession(id Identity) (*checkpoint.Snapshot, error) {
	snap, err := s.snapshot(kindSession, id)
	if err != nil {
		return nil, err
	}
	snap.SetMeta(parametersKey, s.module.Digest())
	return snap, nil
}

// snapshot is what both kinds have: who it is, the conductor and the context.
func (s *Session[F]) snapshot(kind string, id Identity) (*checkpoint.Snapshot, error) {
	state, err := s.conductor.State()
	if err != nil {
		return nil, err
	}
	snap := &checkpoint.Snapshot{}
	snap.SetMeta(formatKey, format)
	snap.SetMeta(kindKey, kind)
	snap.SetMeta(layoutKey, s.module.Layout())
	for _, f := range id {
		snap.SetMeta(fieldKey+f.Name, f.Value)
	}
	clock, cursors := state.Words()
	errs := []error{
		checkpoint.Add(snap, pulseName, tensor.Shape{len(clock)}, clock),
		checkpoint.Add(snap, cursorsName, tensor.Shape{len(state.Cursors), stream.CursorWords}, cursors),
	}
	if err := s.look(func(mem *Memory[F]) error { return write[F](snap, mem.rows()) }); err != nil {
		return nil, s.at(err)
	}
	return snap, errors.Join(errs...)
}

// look shows the session's context.
func (s *Session[F]) look(f func(mem *Memory[F]) error) error {
	mem, err := s.context.Take()
	if err != nil {
		return err
	}
	err = f(mem)
	next, e := s.context.Return(mem)
	if e != nil {
		panic("module: BUG: a context that was taken cannot be returned")
	}
	s.context = next
	return err
}
