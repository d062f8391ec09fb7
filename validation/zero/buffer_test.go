package zero

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// What waits until a level is updated. A run whose update moves nothing and writes down
// what it was given is compared with one whose buffer writes down what it collects:
// the parameters stay, so both see the same gradients.

// A scribe is an update that moves nothing. As an update it notes every step, as a
// buffer every gradient, and passes on what it was last given.
type scribe struct {
	buffer bool
	notes  map[string][][]float64
}

func (*scribe) Name() string                     { return "scribe" }
func (*scribe) Settings(func(string, float64))   {}
func (*scribe) Set(name string, _ float64) error { return update.Unknown(name) }
func (s *scribe) Slots(p context.Param) update.Slots[float64] {
	return &scribed{s, p.Name}
}

type scribed struct {
	of   *scribe
	name string
}

func (s *scribed) By() string                   { return "scribe" }
func (s *scribed) Each(func(string, []float64)) {}
func (s *scribed) Step(_ *tape.Run[float64], n int, w, g []float64) {
	s.of.notes[s.name] = append(s.of.notes[s.name], append([]float64{float64(n)}, g...))
	if s.of.buffer {
		copy(w, g)
	}
}

const bufferPeriod, bufferSteps = 4, 9

// session is a small model of two levels at the first chunk of a text.
func session[F module.Float](t *testing.T, formula string, u, buffer update.Update[F]) *module.Session[F] {
	t.Helper()
	sizes := block.NewSizes(map[string]int{"V": 256}).Else(func(name string) int {
		return map[string]int{"d": 4, "H": 2, "n_p": 1, "w": 3, "d_k": 3, "d_h": 5, "m": 3}[name]
	})
	m, err := registry.NewModel[F](formula, sizes)
	if err != nil {
		t.Fatal(err)
	}
	text, err := stream.FromDocuments("text", bytes.Repeat([]byte("a river runs where it ran before, and is another. "), 20))
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.New(stream.Whole(text), 2)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := module.New(module.Config[F]{Model: m, Update: u, Buffer: buffer, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	out, err := module.NewSession(mod, s, pulse.Schedule{Unit: pulse.Chunks, Periods: []int{1, bufferPeriod}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatWaitsMovesOnce(t *testing.T) {
	const formula = "ByteLM(MAG(CMS([DeltaRule, TitansLMM]), SlidingWindow))"
	for name, mean := range map[string]bool{"ErrorBuffer": true, "ErrorBufferSum": false} {
		buffer, err := registry.NewUpdate[float64](name)
		if err != nil {
			t.Fatal(err)
		}
		updated, collected := &scribe{notes: map[string][][]float64{}}, &scribe{buffer: true, notes: map[string][][]float64{}}
		a := session[float64](t, formula, updated, buffer)
		b := session[float64](t, formula, &scribe{notes: map[string][][]float64{}}, collected)
		for range bufferSteps {
			if _, err := a.Step(5); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Step(5); err != nil {
				t.Fatal(err)
			}
		}
		v := a.Module().Params()
		for i := range v.Len() {
			p := v.Param(i)
			steps := updated.notes[p.Name]
			if p.Level == 0 {
				if len(steps) != bufferSteps {
					t.Errorf("%s: %s updated %d times in %d steps", name, p.Name, len(steps), bufferSteps)
				}
				continue
			}
			waiting(t, name+": "+p.Name, steps, collected.notes[p.Name], mean)
		}
	}
}

// waiting wants each step of a slow parameter to be of what was collected since
// the one before: all of it, and the last of it when the level was active.
func waiting(t *testing.T, what string, steps, collected [][]float64, mean bool) {
	t.Helper()
	if want := (bufferSteps + bufferPeriod - 1) / bufferPeriod; len(steps) != want {
		t.Errorf("%s updated %d times, want %d", what, len(steps), want)
		return
	}
	read := strings.Contains(what, "Q") // a frozen level answers, and only its queries are asked
	at := 0
	for k, e := range steps {
		sum, n := make([]float64, len(e)-1), 0
		for ; at < len(collected) && (n == 0 || collected[at][0] != 1); at++ { // a count of one begins anew
			for j, g := range collected[at][1:] {
				sum[j] += g
			}
			n++
		}
		if want := map[bool]int{false: 1, true: bufferPeriod}[read && k > 0]; n != want {
			t.Errorf("%s: %d gradients waited for step %d, want %d", what, n, k+1, want)
		}
		for j, x := range e[1:] {
			if mean {
				sum[j] /= float64(n)
			}
			if d := x - sum[j]; !(d <= 1e-15 && -d <= 1e-15) {
				t.Errorf("%s: step %d moves entry %d by %v, want %v", what, k+1, j, x, sum[j])
			}
		}
		if e[0] != float64(k+1) {
			t.Errorf("%s: step %d has the count %v", what, k+1, e[0])
		}
	}
}

// TestFrozenParametersStay wants the parameters of a frozen level unchanged to the
// bit, and moved when it is updated.
func TestFrozenParametersStay(t *testing.T) {
	u, err := registry.NewUpdate[float64]("AdamW")
	if err != nil {
		t.Fatal(err)
	}
	buffer, err := registry.NewUpdate[float64]("ErrorBuffer")
	if err != nil {
		t.Fatal(err)
	}
	s := session[float64](t, "ByteLM(MAG(CMSIndependent([DeltaRule, Hebbian]), SlidingWindow))", u, buffer)
	v := s.Module().Params()
	for step := range bufferSteps {
		before := make([]string, v.Len())
		for i := range before {
			before[i] = fmt.Sprint(v.Data(i))
		}
		if _, err := s.Step(5); err != nil {
			t.Fatal(err)
		}
		for i, old := range before {
			p := v.Param(i)
			due := p.Level == 0 || step%bufferPeriod == 0
			if same := fmt.Sprint(v.Data(i)) == old; same == due {
				t.Errorf("step %d: %s of level %d: unchanged is %v", step, p.Name, p.Level, same)
			}
		}
	}
}

// TestDecayedMemoriesStayFinite lets every rule read on for so long without a new
// context that what nothing feeds has decayed below what float32 has numbers for.
func TestDecayedMemoriesStayFinite(t *testing.T) {
	for _, rule := range []string{"MONETA", "YAAD", "MEMORA", "DeepTitans"} {
		u, err := registry.NewUpdate[float32]("AdamW")
		if err == nil {
			err = u.Set("lr", 1e-9) // the parameters stay about where they are
		}
		if err != nil {
			t.Fatal(err)
		}
		s := session(t, "ByteLM(MAG("+rule+", SlidingWindow))", u, nil)
		for step := range 120 {
			if _, err := s.Step(8); err != nil {
				t.Errorf("%s, step %d: %v", rule, step, err)
				break
			}
		}
	}
}
