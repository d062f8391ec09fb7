package module

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// There are two kinds of checkpoints. That of a build holds everything that the next
// step depends on: parameters, the state of their updates and how often each was updated,
// the conductor, a cursor for each batch slot, and the context memory. That of a
// session has no parameters: it names them by their digest, and is refused by a model
// with others. Inner state and gradients are in neither: they do not outlive a step.
//
// A resumed run is the same run. So a checkpoint carries the identity of its run, a
// list of names and values, and is refused where one differs; and it is read
// strictly: a tensor that is missing, that has another shape, or that nothing reads
// is an error. All of that is checked before anything changes. Donate begins a new
// run with another run's parameters.

// format is the layout of what a session writes.
const format = "4"

// The kinds of checkpoints, and the keys of their metadata.
const (
	kindBuild   = "build"
	kindSession = "session"

	formatKey     = "hecate.format"
	kindKey       = "hecate.kind"
	deviceKey     = "hecate.device" // that computed, where it was not the processor
	layoutKey     = "hecate.layout"
	scheduleKey   = "hecate.schedule"
	parametersKey = "hecate.parameters"
	fieldKey      = "run."
)

// The reasons to refuse a checkpoint, besides those of package checkpoint and of the
// conductor's state; a *Mismatch wraps one, but for ErrPosition.
var (
	ErrFormat     = errors.New("format")
	ErrKind       = errors.New("kind of checkpoint")
	ErrIdentity   = errors.New("run")
	ErrSchedule   = errors.New("schedule of the learning rate")
	ErrLayout     = errors.New("layout of the model")
	ErrOperands   = errors.New("type of the operands of products")
	ErrParameters = errors.New("parameters")
	ErrClocks     = errors.New("clocks")
	ErrPosition   = errors.New("position of a context")
)

// A Mismatch says in what a checkpoint differs from the run.
type Mismatch struct {
	Err         error
	What        string // which one, of an identity; of a schedule the step
	Saved, Here string
}

func (m *Mismatch) Error() string {
	switch m.Err {
	case ErrIdentity:
		return fmt.Sprintf("the %s of the run differs: saved %s, here %s", m.What, m.Saved, m.Here)
	case ErrKind:
		return fmt.Sprintf("the kind of checkpoint differs: saved %s, here %s is wanted", m.Saved, m.Here)
	}
	if m.What != "" {
		return fmt.Sprintf("the %v differs: saved %s, here %s, which has another rate at %s", m.Err, m.Saved, m.Here, m.What)
	}
	return fmt.Sprintf("the %v of the checkpoint differs: saved %s, here %s", m.Err, m.Saved, m.Here)
}

func (m *Mismatch) Unwrap() error { return m.Err }

// A Field is a property that a resumed run must share.
type Field struct{ Name, Value string }

// An Identity is the properties of a run that a resumed one must share: the hash of
// its specification, the model and its sizes, the update and its settings, the
// text, the seed, and whatever else a step depends on. Its fields are compared in
// order, and saved in a checkpoint's metadata as run.NAME.
type Identity []Field

// SnapshotBuild returns the whole state of a build. The error is the conductor's
// while a chunk is being processed, ErrOpen within a window of gradient, or a
// *BadNumber: a diverged state is not saved.
func (s *Session[F]) SnapshotBuild(id Identity) (*checkpoint.Snapshot, error) {
	if s.module.Open() {
		return nil, ErrOpen
	}
	snap, err := s.snapshot(kindBuild, id)
	if err != nil {
		return nil, err
	}
	m := s.module
	rows := append(m.parameters(), m.moved()...)
	if m.optimizer != nil {
		steps := m.optimizer.Clocks()
		waits := m.optimizer.Waits()
		text, err := json.Marshal(m.optimizer.Schedule())
		if err != nil {
			panic("module: BUG: a schedule does not print: " + err.Error())
		}
		snap.SetMeta(scheduleKey, string(text))
		rows = append(rows, row{updatesName, tensor.Shape{len(steps)}, steps}, row{waitsName, tensor.Shape{len(waits)}, waits})
	}
	return snap, s.at(write[F](snap, rows))
}

// at adds the step to the error of a number that cannot be saved.
func (s *Session[F]) at(err error) error {
	var bad *BadNumber
	if errors.As(err, &bad) {
		bad.Step = s.conductor.Pulse().Step() - 1 // the last one that was done
	}
	return err
}

// SnapshotSession returns the state of a session without its parameters, which it
// names by their digest. The error is that of SnapshotBuild.
func (s *Session[F]) SnapshotSession(id Identity) (*checkpoint.Snapshot, error) {
	snap, err := s.snapshot(kindSession, id)
	if err != nil {
		return nil, err
	}
	snap.SetMeta(parametersKey, s.module.Digest())
	return snap, nil
}

// snapshot is the part of both kinds: the identity, the conductor and the context.
func (s *Session[F]) snapshot(kind string, id Identity) (*checkpoint.Snapshot, error) {
	state, err := s.conductor.State()
	if err != nil {
		return nil, err
	}
	snap := &checkpoint.Snapshot{}
	snap.SetMeta(formatKey, format)
	snap.SetMeta(kindKey, kind)
	snap.SetMeta(layoutKey, s.module.Layout())
	if m := s.module.memory; m != nil {
		snap.SetMeta(deviceKey, m.String())
	}
	if s.module.bfloat16 {
		snap.SetMeta(OperandsKey, operandTypes[true])
	}
	for _, f := range id {
		snap.SetMeta(fieldKey+f.Name, f.Value)
	}
	clock, cursors := state.Words()
	errs := []error{
		checkpoint.Add(snap, pulseName, tensor.Shape{len(clock)}, clock),
		checkpoint.Add(snap, cursorsName, tensor.Shape{len(state.Cursors), stream.CursorWords}, cursors),
	}
	if err := s.withContext(func(mem *Memory[F]) error { return write[F](snap, mem.rows()) }); err != nil {
		return nil, s.at(err)
	}
	return snap, errors.Join(errs...)
}

// withContext calls f with the session's context, which f only reads.
func (s *Session[F]) withContext(f func(mem *Memory[F]) error) error {
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
