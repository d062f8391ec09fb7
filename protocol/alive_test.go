package protocol

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// With the pages' own first values every parameter receives a gradient within one
// full period of the slowest level. Only the loss is differentiated, as in a build,
// and nothing moves meanwhile.

// dead says where a design leaves a parameter without one, by the end of its name,
// and why. Each is alive once what closes it is open.
var dead = []struct{ schedule, name, why string }{}

// TestAlive looks at every model of the trials once.
func TestAlive(t *testing.T) {
	t.Parallel()
	done := map[string]bool{}
	for _, x := range trials() {
		x.mask = all(x.levels)
		if done[x.formula()] {
			continue
		}
		done[x.formula()] = true
		s := newSubject[float64](t, x, small, 4)
		s.set.Fill(1)
		s.logitsBar = make([]float64, len(s.logitsBar))
		got := s.period()
		v := s.set.View()
		for i := range v.Len() {
			p := v.Param(i)
			if !p.Fixed && len(v.Data(i)) > 0 && !got[p.Name] {
				t.Errorf("%s: %s has no gradient", x.formula(), p.Name)
			}
		}
	}
	t.Logf("%d models", len(done))
}

// period runs one full period of the levels and says what received a gradient.
func (s *subject[F]) period() map[string]bool {
	periods := []int{1, 2, 4, 8}[:s.x.levels]
	s.pulse = pulse.First(pulse.Build, periods...)
	got := map[string]bool{}
	for range slices.Max(periods) {
		s.tokens(s.steps, s.pulse.Phase().String()+string(rune('a'+s.pulse.Step())))
		clear(s.logitsBar)
		for name, g := range s.call(s.mem, true).grads {
			got[name] = got[name] || nonzero(g)
		}
		s.pulse = s.pulse.Next(s.steps)
	}
	return got
}
