package module_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// copyOf makes a snapshot of another's tensors under the names that rename gives;
// "" leaves one out.
func copyOf(t testing.TB, s *checkpoint.Snapshot, rename func(name string) (string, tensor.Shape)) *checkpoint.Snapshot {
	t.Helper()
	out := &checkpoint.Snapshot{}
	for _, k := range s.MetaKeys() {
		v, _ := s.Meta(k)
		out.SetMeta(k, v)
	}
	for _, name := range s.Names() {
		typ, shape, err := s.Shape(name)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := shape.Size()
		to, other := rename(name)
		if to == "" {
			continue
		}
		if other == nil {
			other = shape
		}
		switch typ {
		case checkpoint.F32:
			err = pass[float32](s, out, name, to, shape, other, n)
		case checkpoint.I64:
			err = pass[int64](s, out, name, to, shape, other, n)
		case checkpoint.U64:
			err = pass[uint64](s, out, name, to, shape, other, n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func pass[E checkpoint.Element](from, to *checkpoint.Snapshot, name, as string, shape, other tensor.Shape, n int) error {
	data := make([]E, n)
	if err := checkpoint.Take(from, name, shape, data); err != nil {
		return err
	}
	return checkpoint.Add(to, as, other, data)
}

// saved is a session after a few steps and its two checkpoints.
func saved(t testing.TB) (s *module.Session[float32], build, session func() *checkpoint.Snapshot) {
	s = newSession[float32](t, 2, 9, pulse.Schedule{Periods: []int{1, 4}})
	for range 5 {
		step(t, s, 6)
	}
	return s, func() *checkpoint.Snapshot { x, err := s.SnapshotBuild(id); return through(t, x, err) },
		func() *checkpoint.Snapshot { x, err := s.SnapshotSession(id); return through(t, x, err) }
}

// refused wants a session to refuse a checkpoint, and to be as it was.
func refused(t *testing.T, what string, s *module.Session[float32], resume func() error, want error, says ...string) {
	t.Helper()
	before := words(t, s)
	err := resume()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
		return
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %q does not say %q", what, err, text)
		}
	}
	if !bytes.Equal(words(t, s), before) {
		t.Errorf("%s: a refused checkpoint changed the session", what)
	}
}

// TestEveryTensor leaves each tensor of a checkpoint out, gives it another name
// and another shape, and adds one: all of it is refused, and nothing moves.
func TestEveryTensor(t *testing.T) {
	_, build, session := saved(t)
	fresh := newSession[float32](t, 2, 9, pulse.Schedule{Periods: []int{1, 4}})
	step(t, fresh, 4)
	for kind, make := range map[string]func() *checkpoint.Snapshot{"build": build, "session": session} {
		resume := fresh.ResumeBuild
		if kind == "session" {
			resume = fresh.ResumeSession
		}
		names := make().Names()
		if len(names) < 6 {
			t.Fatalf("a checkpoint of a %s has the tensors %v", kind, names)
		}
		for _, name := range names {
			for how, x := range map[string]struct {
				to    string
				shape func(n int) tensor.Shape
			}{
				"without": {to: ""}, "renamed": {to: name + "x"}, "reshaped": {to: name, shape: func(n int) tensor.Shape { return tensor.Shape{1, 1, n} }},
			} {
				spoilt := copyOf(t, make(), func(n string) (string, tensor.Shape) {
					if n != name {
						return n, nil
					}
					if x.shape == nil {
						return x.to, nil
					}
					_, shape, _ := make().Shape(n)
					size, _ := shape.Size()
					return x.to, x.shape(size)
				})
				before := words(t, fresh)
				if err := resume(spoilt, id, nil); err == nil {
					t.Errorf("a checkpoint of a %s with %s %s is accepted", kind, name, how)
				}
				if !bytes.Equal(words(t, fresh), before) {
					t.Errorf("a checkpoint of a %s with %s %s changed the session", kind, name, how)
				}
			}
		}
	}
	more := build()
	if err := checkpoint.Add(more, "extra", tensor.Shape{1}, []float32{1}); err != nil {
		t.Fatal(err)
	}
	refused(t, "a tensor too many", fresh, func() error { return fresh.ResumeBuild(more, id, nil) }, checkpoint.ErrUnknown, `"extra"`)
	var got [1]float32
	err := fresh.ResumeBuild(more, id, func(s *checkpoint.Snapshot) error { return checkpoint.Take(s, "extra", tensor.Shape{1}, got[:]) })
	if err != nil || got[0] != 1 {
		t.Errorf("a tensor that the caller takes: %v", err)
	}
}

// TestResumeRefuses has a row for everything that two runs can differ in.
func TestResumeRefuses(t *testing.T) {
	s, build, session := saved(t)
	schedule := pulse.Schedule{Periods: []int{1, 4}}
	same := func() *module.Session[float32] { return newSession[float32](t, 2, 9, schedule) }
	other := func(v int, d int, batch int, sch pulse.Schedule, phase pulse.Phase, part stream.Part) *module.Session[float32] {
		m, err := module.New(module.Config[float32]{Model: echo[float32]{v, d}, Update: &descent[float32]{0.5}, Seed: 9})
		if err != nil {
			t.Fatal(err)
		}
		x, err := stream.New(part, batch)
		if err != nil {
			t.Fatal(err)
		}
		out, err := module.NewSession(m, x, sch, phase)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	changed, err := stream.FromDocuments("changed", []byte(letters[:31]), []byte(strings.Replace(letters[31:], "lazy", "late", 1)))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, _ := stream.Split(changed)
	meta := func(make func() *checkpoint.Snapshot, key, value string) *checkpoint.Snapshot {
		x := make()
		x.SetMeta(key, value)
		return x
	}
	counts := func(n int64) *checkpoint.Snapshot {
		x := copyOf(t, build(), func(name string) (string, tensor.Shape) {
			if name == "clock.fires" {
				return "", nil
			}
			return name, nil
		})
		if err := checkpoint.Add(x, "clock.fires", tensor.Shape{4}, []int64{5, 5, 5, n}); err != nil {
			t.Fatal(err)
		}
		return x
	}
	far := copyOf(t, build(), func(name string) (string, tensor.Shape) {
		if name == "lane1.pos" {
			return "", nil
		}
		return name, nil
	})
	if err := checkpoint.Add(far, "lane1.pos", tensor.Shape{1}, []int64{1 << 31}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no")
	for _, x := range []struct {
		what  string
		here  *module.Session[float32]
		file  *checkpoint.Snapshot
		id    module.Identity
		more  func(*checkpoint.Snapshot) error
		want  error
		says  []string
		isKin bool // by ResumeSession
	}{
		{"specification", same(), build(), module.Identity{{Name: "specification", Value: "abd"}, id[1]}, nil, module.ErrIdentity, []string{"the specification of the run differs: saved abc, here abd"}, false},
		{"configuration", same(), build(), module.Identity{id[0], {Name: "seed", Value: "10"}}, nil, module.ErrIdentity, []string{"the seed of the run differs: saved 9, here 10"}, false},
		{"a field more here", same(), build(), append(slices.Clone(id), module.Field{Name: "clip", Value: "1"}), nil, module.ErrIdentity, []string{"the clip of the run differs: saved nothing, here 1"}, false},
		{"a field more there", same(), build(), id[:1], nil, module.ErrIdentity, []string{"the seed of the run differs: saved 9, here nothing"}, false},
		{"format", same(), meta(build, "hecate.format", "2"), id, nil, module.ErrFormat, []string{"saved 2, here 4"}, false},
		{"no checkpoint of ours", same(), &checkpoint.Snapshot{}, id, nil, checkpoint.ErrMetadata, []string{"no checkpoint of a build"}, false},
		{"a session's for a build", same(), session(), id, nil, module.ErrKind, []string{"saved session, here build"}, false},
		{"a build's for a session", same(), build(), id, nil, module.ErrKind, []string{"saved build, here session"}, true},
		{"width", other(256, 4, 2, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrShape, []string{`"param.E"`, "[256 3]", "[256 4]"}, false},
		{"batch", other(256, 3, 3, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrMissing, []string{"lane2."}, false},
		{"smaller batch", other(256, 3, 1, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrShape, []string{"conductor.cursors"}, false},
		{"periods", other(256, 3, 2, pulse.Schedule{Periods: []int{1, 8}}, pulse.Build, text(t)), build(), id, nil, conductor.ErrSchedule, []string{"saved 1 4 chunks, here 1 8 chunks"}, false},
		{"unit", other(256, 3, 2, pulse.Schedule{Unit: 1, Periods: []int{1, 4}}, pulse.Build, text(t)), build(), id, nil, conductor.ErrSchedule, []string{"chunks, here 1 4 tokens"}, false},
		{"phase", other(256, 3, 2, schedule, pulse.Stream, text(t)), build(), id, nil, conductor.ErrPhase, []string{"saved build, here stream"}, false},
		{"text", other(256, 3, 2, schedule, pulse.Build, elsewhere), build(), id, nil, stream.ErrDataset, []string{"dataset digest"}, false},
		{"operands", same(), meta(build, module.OperandsKey, "bfloat16"), id, nil, module.ErrOperands, []string{"saved bfloat16, here float32"}, false},
		{"unknown operands", same(), meta(build, module.OperandsKey, "fp8"), id, nil, module.ErrOperands, []string{"saved fp8, here float32 or bfloat16"}, false},
		{"layout", same(), meta(build, "hecate.layout", "0"), id, nil, module.ErrLayout, []string{"saved 0, here "}, false},
		{"clock of what is fixed", same(), counts(5), id, nil, module.ErrClocks, []string{"clock of parameter 3"}, false},
		{"clock below zero", same(), counts(-1), id, nil, module.ErrClocks, nil, false},
		{"a position that none has", same(), far, id, nil, module.ErrPosition, []string{"lane1.pos[0] is 2147483648"}, false},
		{"the caller's", same(), build(), id, func(*checkpoint.Snapshot) error { return broken }, broken, nil, false},
		{"other parameters", newSession[float32](t, 2, 10, schedule), session(), id, nil, module.ErrParameters, []string{s.Module().Digest()}, true},
	} {
		refused(t, x.what, x.here, func() error {
			if x.isKin {
				return x.here.ResumeSession(x.file, x.id, x.more)
			}
			return x.here.ResumeBuild(x.file, x.id, x.more)
		}, x.want, x.says...)
	}
}

// TestPulseOfTheCursor: a checkpoint whose cursor is of another step than its
// model is refused, whoever wrote it.
func TestPulseOfTheCursor(t *testing.T) {
	_, build, _ := saved(t)
	file := build()
	w := make([]uint64, 2*stream.CursorWords)
	if err := checkpoint.Take(file, "conductor.cursors", tensor.Shape{2, stream.CursorWords}, w); err != nil {
		t.Fatal(err)
	}
	c, err := stream.CursorFromWords(w[stream.CursorWords:])
	if err != nil {
		t.Fatal(err)
	}
	c.PulseID++
	spoilt := copyOf(t, file, func(name string) (string, tensor.Shape) {
		if name == "conductor.cursors" {
			return "", nil
		}
		return name, nil
	})
	if err := checkpoint.Add(spoilt, "conductor.cursors", tensor.Shape{2, stream.CursorWords}, append(w[:stream.CursorWords:stream.CursorWords], c.Words()...)); err != nil {
		t.Fatal(err)
	}
	s := newSession[float32](t, 2, 9, pulse.Schedule{Periods: []int{1, 4}})
	refused(t, "pulse of a cursor", s, func() error { return s.ResumeBuild(spoilt, id, nil) }, conductor.ErrPulse, "cursor of slot 1 before chunk 6", "model before chunk 5")
}
