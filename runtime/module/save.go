package module

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/conductor"
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
// while a chunk is out.
func (s *Session[F]) SnapshotBuild(id Identity) (*checkpoint.Snapshot, error) {
	snap, err := s.snapshot(kindBuild, id)
	if err != nil {
		return nil, err
	}
	m := s.module
	rows := append(m.parameters(), m.moved()...)
	if m.moves != nil {
		fires := m.moves.Clocks()
		rows = append(rows, row{firesName, tensor.Shape{len(fires)}, fires})
	}
	return snap, write[F](snap, rows)
}

// SnapshotSession returns what a session is beside its parameters, which it names
// by their digest. The error is the conductor's while a chunk is out.
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
	errs = append(errs, s.look(func(mem *Memory[F]) error { return write[F](snap, mem.rows()) }))
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

// ResumeBuild goes on from a checkpoint of a build of the same identity. more
// takes the tensors that the caller has added to the snapshot; it may be nil, and
// must keep nothing if it fails. Whatever the error, of a file, a mismatch of
// either side or a state outside its set, the session is then as it was.
func (s *Session[F]) ResumeBuild(snap *checkpoint.Snapshot, id Identity, more func(*checkpoint.Snapshot) error) error {
	m := s.module
	if m.moves == nil {
		return ErrShared
	}
	return s.resume(kindBuild, snap, id, more, func() (func(), error) {
		parameters, err := read[F](snap, m.parameters())
		if err != nil {
			return nil, err
		}
		moved, err := read[F](snap, m.moved())
		if err != nil {
			return nil, err
		}
		fires := make([]int64, m.params.View().Len())
		if err := checkpoint.Take(snap, firesName, tensor.Shape{len(fires)}, fires); err != nil {
			return nil, err
		}
		was := slices.Clone(m.moves.Clocks())
		if err := m.moves.SetClocks(fires); err != nil { // all or nothing
			return nil, &Mismatch{Err: ErrClocks, Saved: err.Error(), Here: "a fire or more of what moves, none of what is fixed"}
		}
		if err := m.moves.SetClocks(was); err != nil {
			panic("module: BUG: clocks that were there are refused")
		}
		return func() {
			m.restore(parameters)
			moved()
			_ = m.moves.SetClocks(fires) // they were taken a moment ago
		}, nil
	})
}

// ResumeSession goes on from a checkpoint of a session, as ResumeBuild does: with
// the same parameters, to the bit.
func (s *Session[F]) ResumeSession(snap *checkpoint.Snapshot, id Identity, more func(*checkpoint.Snapshot) error) error {
	return s.resume(kindSession, snap, id, more, func() (func(), error) {
		saved, err := snap.Meta(parametersKey)
		if err != nil {
			return nil, err
		}
		if here := s.module.Digest(); saved != here {
			return nil, &Mismatch{Err: ErrParameters, Saved: saved, Here: here}
		}
		return func() {}, nil
	})
}

// resume looks at everything, and then moves everything: own reads what only one
// kind has.
func (s *Session[F]) resume(kind string, snap *checkpoint.Snapshot, id Identity, more func(*checkpoint.Snapshot) error, own func() (put func(), err error)) error {
	if err := s.same(kind, snap, id); err != nil {
		return err
	}
	put, err := own()
	if err != nil {
		return err
	}
	staged := s.module.newMemory(s.conductor.Lanes())
	fill, err := read[F](snap, staged.rows())
	if err != nil {
		return err
	}
	fill()
	if err := staged.check(); err != nil {
		return err
	}
	state, err := s.readState(snap)
	if err != nil {
		return err
	}
	if layout, err := snap.Meta(layoutKey); err != nil || layout != s.module.Layout() {
		return &Mismatch{Err: ErrLayout, Saved: layout, Here: s.module.Layout()}
	}
	if more != nil {
		if err := more(snap); err != nil {
			return err
		}
	}
	if err := snap.Done(); err != nil {
		return err
	}
	if err := s.conductor.Restore(state); err != nil {
		return err
	}
	put()
	return s.look(func(mem *Memory[F]) error {
		mem.copyFrom(staged)
		return nil
	})
}

// same compares who wrote a checkpoint with who reads it.
func (s *Session[F]) same(kind string, snap *checkpoint.Snapshot, id Identity) error {
	if err := isKind(snap, kind); err != nil {
		return err
	}
	const nothing = "nothing"
	known := map[string]bool{}
	for _, f := range id {
		known[fieldKey+f.Name] = true
		saved, err := snap.Meta(fieldKey + f.Name)
		if err != nil {
			saved = nothing
		}
		if err != nil || saved != f.Value {
			return &Mismatch{ErrIdentity, f.Name, saved, f.Value}
		}
	}
	for _, key := range snap.MetaKeys() {
		if name, ok := strings.CutPrefix(key, fieldKey); ok && !known[key] {
			saved, _ := snap.Meta(key)
			return &Mismatch{ErrIdentity, name, saved, nothing}
		}
	}
	return nil
}

// isKind refuses a checkpoint of another format or kind.
func isKind(snap *checkpoint.Snapshot, kind string) error {
	switch saved, err := snap.Meta(formatKey); {
	case err != nil:
		return fmt.Errorf("no checkpoint of a %s: %w", kind, err)
	case saved != format:
		return &Mismatch{Err: ErrFormat, Saved: saved, Here: format}
	}
	switch saved, err := snap.Meta(kindKey); {
	case err != nil:
		return err
	case saved != kind:
		return &Mismatch{Err: ErrKind, Saved: saved, Here: kind}
	}
	return nil
}

// readState takes the conductor's state.
func (s *Session[F]) readState(snap *checkpoint.Snapshot) (conductor.State, error) {
	lanes := s.conductor.Lanes()
	clock, cursors := make([]uint64, conductor.StateWords), make([]uint64, lanes*stream.CursorWords)
	if err := checkpoint.Take(snap, pulseName, tensor.Shape{len(clock)}, clock); err != nil {
		return conductor.State{}, err
	}
	if err := checkpoint.Take(snap, cursorsName, tensor.Shape{lanes, stream.CursorWords}, cursors); err != nil {
		return conductor.State{}, err
	}
	return conductor.FromWords(clock, cursors)
}

// Donate begins with the parameters of another run: those of a checkpoint of a
// build, of whatever identity. It takes parameters and nothing else, no cursor, no
// context and no update's state, and the module must have been made anew. All of
// its parameters must be there in their shapes, and no other.
func (m *Module[F]) Donate(snap *checkpoint.Snapshot) error {
	if m.writer == nil {
		return ErrShared
	}
	if err := isKind(snap, kindBuild); err != nil {
		return err
	}
	rows := m.parameters()
	put, err := read[F](snap, rows)
	if err != nil {
		return err
	}
	for _, name := range snap.Names() {
		if strings.HasPrefix(name, paramPrefix) && !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return &checkpoint.Error{Tensor: name, Err: checkpoint.ErrUnknown, Detail: "the model here has no such parameter"}
		}
	}
	m.restore(put)
	return nil
}
