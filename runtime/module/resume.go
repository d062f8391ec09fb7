package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// ResumeBuild resumes from a checkpoint of a build of the same identity. more
// takes the tensors that the caller has added to the snapshot; it may be nil, and
// must keep nothing if it fails. Whatever the error, of a file, a mismatch of
// either side or a state outside its set, the session is then as it was.
func (s *Session[F]) ResumeBuild(snap *checkpoint.Snapshot, id Identity, more func(*checkpoint.Snapshot) error) error {
	m := s.module
	if m.optimizer == nil {
		return ErrShared
	}
	return s.resume(kindBuild, snap, id, more, func() (func(), error) {
		parameters, err := m.readParameters(snap)
		if err != nil {
			return nil, err
		}
		moved, err := read[F](snap, m.moved())
		if err != nil {
			return nil, err
		}
		steps, waits := make([]int64, m.params.View().Len()), make([]int64, m.params.View().Len())
		if err := errors.Join(checkpoint.Take(snap, updatesName, tensor.Shape{len(steps)}, steps),
			checkpoint.Take(snap, waitsName, tensor.Shape{len(waits)}, waits)); err != nil {
			return nil, err
		}
		if err := m.optimizer.CheckClocks(steps, waits); err != nil {
			return nil, &Mismatch{Err: ErrClocks, Saved: err.Error(), Here: "an update or more of what moves, none of what is fixed"}
		}
		schedule, err := m.readSchedule(snap, slices.Max(steps))
		if err != nil {
			return nil, err
		}
		return func() {
			parameters()
			moved()
			m.optimizer.SetClocks(steps, waits)
			m.optimizer.SetSchedule(schedule)
		}, nil
	})
}

// readSchedule compares the schedule of a checkpoint with that of the run, over the steps
// that are done. A schedule of a number of steps that is not decided takes the saved number.
func (m *Module[F]) readSchedule(snap *checkpoint.Snapshot, done int64) (update.Schedule, error) {
	var saved update.Schedule
	text, err := snap.Meta(scheduleKey)
	if err == nil {
		err = json.Unmarshal([]byte(text), &saved)
	}
	if err != nil {
		return saved, err
	}
	here := m.optimizer.Schedule()
	if here.Undecided() {
		here.Steps = saved.Steps
	}
	if n := here.Differs(saved, int(done)); n > 0 {
		return here, &Mismatch{ErrSchedule, fmt.Sprintf("step %d", n), saved.String(), here.String()}
	}
	return here, nil
}

// ResumeSession resumes from a checkpoint of a session, as ResumeBuild does: with
// the same parameters, bit for bit.
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

// resume checks everything, and then restores everything: own reads the tensors that
// only one kind has.
func (s *Session[F]) resume(kind string, snap *checkpoint.Snapshot, id Identity, more func(*checkpoint.Snapshot) error, own func() (put func(), err error)) (err error) {
	defer device.Recover(s.module.memory, &err)
	if err := s.same(kind, snap, id); err != nil {
		return err
	}
	put, err := own()
	if err != nil {
		return err
	}
	staged := s.module.newMemory(s.conductor.Batch())
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
	s.module.Drop()
	return s.withContext(func(mem *Memory[F]) error {
		mem.copyFrom(staged)
		return nil
	})
}

// same compares the identity of a checkpoint with that of the run.
func (s *Session[F]) same(kind string, snap *checkpoint.Snapshot, id Identity) error {
	if err := isKind(snap, kind); err != nil {
		return err
	}
	saved, err := BFloat16Of(snap)
	if err != nil {
		return err
	}
	if saved != s.module.bfloat16 {
		return &Mismatch{Err: ErrOperands, Saved: operandTypes[saved], Here: operandTypes[!saved]}
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

// OperandsKey is the metadata with the type in which a run stored operands of products, where it is not float32.
const OperandsKey = "hecate.operands"

// operandTypes are their names, by whether they are narrow.
var operandTypes = map[bool]string{false: "float32", true: "bfloat16"}

// BFloat16Of reports whether the run of a checkpoint stored operands of products in bfloat16. The error wraps
// ErrOperands if it names another type.
func BFloat16Of(snap *checkpoint.Snapshot) (bool, error) {
	saved, err := snap.Meta(OperandsKey)
	switch {
	case err != nil:
		return false, nil
	case saved != operandTypes[true]:
		return false, &Mismatch{Err: ErrOperands, Saved: saved, Here: operandTypes[false] + " or " + operandTypes[true]}
	}
	return true, nil
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
	batch := s.conductor.Batch()
	clock, cursors := make([]uint64, conductor.StateWords), make([]uint64, batch*stream.CursorWords)
	if err := checkpoint.Take(snap, pulseName, tensor.Shape{len(clock)}, clock); err != nil {
		return conductor.State{}, err
	}
	if err := checkpoint.Take(snap, cursorsName, tensor.Shape{batch, stream.CursorWords}, cursors); err != nil {
		return conductor.State{}, err
	}
	return conductor.FromWords(clock, cursors)
}

// Donate loads the parameters of another run: those of a checkpoint of a build with
// any identity. It takes parameters and nothing else, no cursor, no
// context and no update's state, and the module must be a new one. All of
// its parameters must be there in their shapes, and no other.
func (m *Module[F]) Donate(snap *checkpoint.Snapshot) error {
	if m.writer == nil {
		return ErrShared
	}
	if err := isKind(snap, kindBuild); err != nil {
		return err
	}
	rows := m.parameters()
	put, err := m.readParameters(snap)
	if err != nil {
		return err
	}
	for _, name := range snap.Names() {
		if strings.HasPrefix(name, paramPrefix) && !slices.ContainsFunc(rows, func(r row) bool { return r.name == name }) {
			return &checkpoint.Error{Tensor: name, Err: checkpoint.ErrUnknown, Detail: "the model here has no such parameter"}
		}
	}
	put()
	return nil
}
