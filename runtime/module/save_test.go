package module_test

import (
	"bytes"
	goctx "context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/conductor"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/sample"
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
			out, err := x.Generate(goctx.Background(), 1, []int32{'x'}, module.Sampling{Settings: sample.Settings{Temperature: 1, Seed: 3}, Limit: 20})
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
		s, err := module.NewSession(m.Share(), batchOf(t, 2), pulse.Schedule{}, pulse.Stream)
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
	s, err := module.NewSession(m, batchOf(t, 2), pulse.Schedule{Periods: []int{1, 4}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	before := words(t, s)
	var e *block.StateError
	if err := s.ResumeBuild(build(), id, nil); !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "lane0: state s of sequence 0 begins outside its set") {
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

// TestNotSaved: a session with a NaN or an infinity has no checkpoint, of
// whichever kind and whatever it is.
//
//hecate:allow outerwrite a parameter is spoilt: that is the test
func TestNotSaved(t *testing.T) {
	for what, spoil := range map[string]func(s *module.Session[float32]){
		"param.E[5]": func(s *module.Session[float32]) { s.Module().Params().Data(0)[5] = float32(math.NaN()) },
		"update.Descent.sum.H[7]": func(s *module.Session[float32]) {
			s.Module().Moves().Slots(1).Each(func(_ string, data []float32) { data[7] = float32(math.Inf(-1)) })
		},
	} {
		s, _, _ := saved(t)
		spoil(s)
		_, err := s.SnapshotBuild(id)
		if want := "the build has diverged at step 5: what was to be saved is "; !errors.Is(err, module.ErrDiverged) || !strings.HasPrefix(err.Error(), want) ||
			!strings.HasSuffix(err.Error(), ": tensor "+what+"; nothing was saved") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
