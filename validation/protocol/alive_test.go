package protocol

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// With the pages' own first values every parameter receives a gradient within one
// full period of the slowest level. Only the loss is differentiated, as in a build,
// and nothing moves meanwhile.

// dead says why a design leaves a parameter without one, or "" where it does not.
func dead(x scenario, name string) string {
	switch {
	case x.levels == 1 && (strings.HasSuffix(name, "memory.alpha") && x.schedule != "" || strings.HasSuffix(name, "memory.b") || strings.HasSuffix(name, "memory.w")):
		return "one level has all the weight, and its gate is open"
	case x.schedule == gated && laterLevel.MatchString(name):
		return "the gate of the level begins shut, by its bias; its memory stays empty"
	}
	return ""
}

var laterLevel = regexp.MustCompile(`memory\.memory\.[1-9]`)

// TestAlive checks every model of the scenarios once. What a shut gate leaves dead is
// alive when the gates are open.
func TestAlive(t *testing.T) {
	t.Parallel()
	done, unmoved, lost := map[string]bool{}, 0, 0
	for _, x := range scenarios() {
		x.mask = all(x.levels)
		if done[x.formula()] {
			continue
		}
		done[x.formula()] = true
		s := newSubject[float64](t, x, small(x), 4)
		s.set.Fill(1)
		got, tiny := s.period()
		if tiny {
			lost++
			s.relisten(got)
		}
		s.gate()
		open, _ := s.period()
		v := s.set.View()
		for i := range v.Len() {
			p := v.Param(i)
			switch why := dead(x, p.Name); {
			case p.Fixed || len(v.Data(i)) == 0 || got[p.Name]:
			case why == "":
				t.Errorf("%s: %s has no gradient", x.formula(), p.Name)
			case x.levels > 1 && !open[p.Name]:
				t.Errorf("%s: %s has no gradient with all gates open either", x.formula(), p.Name)
			default:
				unmoved++
			}
		}
	}
	t.Logf("%d models, %d of them faint; %d parameters are dead by design at first", len(done), lost, unmoved)
}

// relisten adds what receives a gradient when the model is louder.
func (s *subject[F]) relisten(got map[string]bool) {
	for _, gain := range gains {
		s.set.Fill(1)
		s.louder(gain)
		louder, _ := s.period()
		maps.Copy(got, louder)
	}
	s.set.Fill(1)
}

// period runs one full period of the levels and says what received a gradient, and
// whether some of it is faint.
func (s *subject[F]) period() (got map[string]bool, tiny bool) {
	periods := []int{1, 2, 4, 8}[:s.x.levels]
	s.pulse = pulse.First(pulse.Build, periods...)
	got = map[string]bool{}
	for l := range s.batch {
		s.mem.Reset(l)
	}
	for range slices.Max(periods) {
		s.tokens(s.steps, fmt.Sprint(s.pulse.Step()))
		clear(s.logitsBar)
		r := s.call(s.mem, true)
		tiny = tiny || r.faint()
		for name, g := range r.grads {
			if lives(g) {
				got[name] = true
			}
		}
		s.pulse = s.pulse.Next(s.steps)
	}
	return got, tiny
}
