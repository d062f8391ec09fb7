package module_test

import (
	"bytes"
	goctx "context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

var id = module.Identity{{Name: "specification", Value: "abc"}, {Name: "seed", Value: "9"}}

// through writes a snapshot as a file and reads it.
func through(t testing.TB, s *checkpoint.Snapshot, err error) *checkpoint.Snapshot {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	back, err := checkpoint.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// words is a whole session as bytes.
func words[F module.Float](t testing.TB, s *module.Session[F]) []byte {
	t.Helper()
	snap, err := s.SnapshotBuild(id)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := snap.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func step[F module.Float](t testing.TB, s *module.Session[F], tokens int) float64 {
	t.Helper()
	r, err := s.Step(tokens)
	if err != nil {
		t.Fatal(err)
	}
	return r.Nats
}

// TestResumeBuild saves after every step, and goes on for the rest: losses,
// samples and the last checkpoint are those of the unbroken run, to the bit.
func TestResumeBuild(t *testing.T) {
	const last = 14
	for _, s := range []pulse.Schedule{{}, {Periods: []int{1, 2, 8}}, {Unit: pulse.Tokens, Periods: []int{1, 16}}} {
		sample := func(x *module.Session[float64]) []int32 {
			out, err := x.Generate(goctx.Background(), 1, []int32{'x'}, module.Sampling{Limit: 20, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		whole := newSession[float64](t, 2, 9, s)
		var losses []float64
		for i := range last {
			losses = append(losses, step(t, whole, 3+i%4))
		}
		want, drawn := words(t, whole), sample(whole)
		for cut := range last {
			x := newSession[float64](t, 2, 9, s)
			for i := range cut {
				step(t, x, 3+i%4)
			}
			saved, err := x.SnapshotBuild(id)
			saved = through(t, saved, err)
			rest := newSession[float64](t, 2, 1234, s) // other parameters until then
			if cut%2 == 1 {
				step(t, rest, 5) // and elsewhere
			}
			if err := rest.ResumeBuild(saved, id, nil); err != nil {
				t.Fatalf("%v, cut at %d: %v", s, cut, err)
			}
			for i := cut; i < last; i++ {
				if got := step(t, rest, 3+i%4); got != losses[i] {
					t.Fatalf("%v, cut at %d: loss %d is %v, want %v", s, cut, i, got, losses[i])
				}
			}
			if !bytes.Equal(words(t, rest), want) {
				t.Fatalf("%v, cut at %d: the last checkpoint differs", s, cut)
			}
			if !slices.Equal(sample(rest), drawn) {
				t.Fatalf("%v, cut at %d: the samples differ", s, cut)
			}
		}
	}
}

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
	other := func(v int, d int, lane int, sch pulse.Schedule, phase pulse.Phase, part stream.Part) *module.Session[float32] {
		m, err := module.New(module.Config[float32]{Model: echo[float32]{v, d}, Update: &descent[float32]{0.5}, Seed: 9})
		if err != nil {
			t.Fatal(err)
		}
		x, err := stream.New(part, lane)
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
	elsewhere, _ := changed.Split()
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
		{"format", same(), meta(build, "hecate.format", "2"), id, nil, module.ErrFormat, []string{"saved 2, here 3"}, false},
		{"no checkpoint of ours", same(), &checkpoint.Snapshot{}, id, nil, checkpoint.ErrMetadata, []string{"no checkpoint of a build"}, false},
		{"a session's for a build", same(), session(), id, nil, module.ErrKind, []string{"saved session, here build"}, false},
		{"a build's for a session", same(), build(), id, nil, module.ErrKind, []string{"saved build, here session"}, true},
		{"width", other(256, 4, 2, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrShape, []string{`"param.E"`, "[256 3]", "[256 4]"}, false},
		{"lanes", other(256, 3, 3, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrMissing, []string{"lane2."}, false},
		{"fewer lanes", other(256, 3, 1, schedule, pulse.Build, text(t)), build(), id, nil, checkpoint.ErrShape, []string{"conductor.cursors"}, false},
		{"periods", other(256, 3, 2, pulse.Schedule{Periods: []int{1, 8}}, pulse.Build, text(t)), build(), id, nil, conductor.ErrSchedule, []string{"saved 1 4 chunks, here 1 8 chunks"}, false},
		{"unit", other(256, 3, 2, pulse.Schedule{Unit: 1, Periods: []int{1, 4}}, pulse.Build, text(t)), build(), id, nil, conductor.ErrSchedule, []string{"chunks, here 1 4 tokens"}, false},
		{"phase", other(256, 3, 2, schedule, pulse.Stream, text(t)), build(), id, nil, conductor.ErrPhase, []string{"saved build, here stream"}, false},
		{"text", other(256, 3, 2, schedule, pulse.Build, elsewhere), build(), id, nil, stream.ErrDataset, []string{"dataset digest"}, false},
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
	refused(t, "pulse of a cursor", s, func() error { return s.ResumeBuild(spoilt, id, nil) }, conductor.ErrPulse, "cursor of lane 1 before chunk 6", "model before chunk 5")
}

// TestSession goes on with a stream on another module of the same parameters, and
// gives the same outputs.
func TestSession(t *testing.T) {
	build := newSession[float32](t, 2, 9, pulse.Schedule{})
	for range 4 {
		step(t, build, 6)
	}
	parameters := func() *checkpoint.Snapshot { x, err := build.SnapshotBuild(id); return through(t, x, err) }
	open := func() *module.Session[float32] {
		m := newModule[float32](t, 77)
		if err := m.Donate(parameters()); err != nil {
			t.Fatal(err)
		}
		s, err := module.NewSession(m.Share(), lanes(t, 2), pulse.Schedule{}, pulse.Stream)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	live := open()
	for range 3 {
		step(t, live, 5)
	}
	snap, err := live.SnapshotSession(id)
	file := through(t, snap, err)
	for _, name := range file.Names() {
		if strings.HasPrefix(name, "param.") || strings.HasPrefix(name, "update.") {
			t.Errorf("a session's checkpoint has %s", name)
		}
	}
	there := open()
	if err := there.ResumeSession(file, id, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		if a, b := step(t, live, 5), step(t, there, 5); a != b {
			t.Errorf("step %d: loss %v there, %v here", i, b, a)
		}
	}
	if err := there.ResumeBuild(parameters(), id, nil); err != module.ErrShared {
		t.Errorf("a build resumed on shared parameters: %v", err)
	}
}

// TestDonate: parameters come over and nothing else; those of another model do
// not.
func TestDonate(t *testing.T) {
	s, build, session := saved(t)
	fresh := newSession[float32](t, 2, 1, pulse.Schedule{Periods: []int{1, 2}})
	before := fresh.Conductor().Pulse()
	if err := fresh.Module().Donate(build()); err != nil {
		t.Fatal(err)
	}
	if fresh.Module().Digest() != s.Module().Digest() || fresh.Conductor().Pulse() != before {
		t.Error("a donor gave other parameters, or the time")
	}
	if err := fresh.Module().Donate(session()); !errors.Is(err, module.ErrKind) {
		t.Errorf("a session's checkpoint as a donor: %v", err)
	}
	if err := fresh.Module().Share().Donate(build()); err != module.ErrShared {
		t.Errorf("a donor for shared parameters: %v", err)
	}
	for how, to := range map[string]string{"missing": "", "unknown": "param.other", "both": "param.J"} {
		spoilt := copyOf(t, build(), func(name string) (string, tensor.Shape) {
			if name == "param.H" && how != "unknown" {
				return to, nil
			}
			return name, nil
		})
		if how == "unknown" {
			if err := checkpoint.Add(spoilt, to, tensor.Shape{1}, []float32{1}); err != nil {
				t.Fatal(err)
			}
		}
		digest := fresh.Module().Digest()
		if err := fresh.Module().Donate(spoilt); err == nil || fresh.Module().Digest() != digest {
			t.Errorf("a donor with a parameter %s: %v", how, err)
		}
	}
}

// sphere is an echo whose page would say that its state is of norm one.
type sphere struct{ echo[float32] }

func (e sphere) NewMemory(n int) *block.Memory[float32] {
	m := e.echo.NewMemory(n)
	m.Slots[0].Rows = block.UnitRows
	return m
}

// TestOutsideASet: a context with a state outside its set is refused.
func TestOutsideASet(t *testing.T) {
	_, build, _ := saved(t)
	m, err := module.New(module.Config[float32]{Model: sphere{echo[float32]{stream.Vocab, 3}}, Update: &descent[float32]{0.5}, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	s, err := module.NewSession(m, lanes(t, 2), pulse.Schedule{Periods: []int{1, 4}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	before := words(t, s)
	var e *block.StateError
	if err := s.ResumeBuild(build(), id, nil); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "lane0: state s of lane 0 begins outside its set") {
		t.Errorf("a state outside its set: %v", err)
	}
	if !bytes.Equal(words(t, s), before) {
		t.Error("it changed the session")
	}
}

// TestSnapshotBetweenSteps: there is no state while a chunk is out.
func TestSnapshotBetweenSteps(t *testing.T) {
	s := newSession[float32](t, 1, 1, pulse.Schedule{})
	if _, _, err := s.Conductor().Next(3); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SnapshotBuild(id); err != conductor.ErrOut {
		t.Errorf("a snapshot while a chunk is out: %v", err)
	}
	if err := s.Conductor().Advance(); err != nil {
		t.Fatal(err)
	}
	_, err := s.SnapshotBuild(id)
	if err != nil {
		t.Error(err)
	}
	_ = s.Probe(func(h context.Handle[*module.Memory[float32]], p pulse.Pulse) error { return nil })
}
