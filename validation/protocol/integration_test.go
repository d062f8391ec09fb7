package protocol

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/synthetic"
	"github.com/nl-hecate/hecate/runtime/update"
)

// The sweep builds: every rule as a gate of attention, in front of it and as its
// context, as one level, two and four, at width 8, with AdamW, on a stream that can be
// learned. Of every step: loss, gradients, parameters and memory are finite, a parameter
// stays while its level rests, and what an active level remembers is neither gone nor
// without bound. Of the whole: each parameter has been updated as often as the period of its
// level says, what had a gradient has moved, and the loss has gone down.
//
// A model that has not learned by then goes on, up to four times as long: MAC is slow where its
// memory is almost empty at first.
//
// HECATE_PROTOCOL=full makes twice as many steps at half the rate: levels are updated twice
// as often and parameters end about as far from where they began.

// table is the stream: pairs of a context, one of four, and a symbol that follows it by
// a table that lasts. Symbols alone are scored. Who knows nothing loses ln 8, who knows
// which ids are symbols ln 4, who knows the table about half of that.
var table = synthetic.Piecewise{Symbols: 4, Alpha: 100, Scales: []synthetic.Scale{{Contexts: 4, Segment: 2048}}}

// documents are the stream cut into documents. Rules whose write is a product with their
// memory forget what they began with, once and for all, so contexts must not last for
// ever; their length is no multiple of a chunk.
type documents struct{ *synthetic.Source }

const documentTokens = 150

func (d documents) DocumentEnd(at int) int {
	return min(d.Len(), at-at%documentTokens+documentTokens)
}

// The sizes of the sweep. A chunk is what strategies compute together, so that they do.
// In 24 steps the slowest level is updated three times.
const (
	sweepChunk  = 32
	sweepSteps  = 24
	sweepMost   = 4 // times as many, until the loss has gone down
	sweepRate   = 0.01
	sweepWarmup = 4
)

var (
	sweepSizes   = map[string]int{"V": table.Vocab(), "d": 8, "H": 2, "n_p": 2, "w": 8, "d_k": 8, "d_h": 8, "n_phi": 2, "m": 4, "d_v": 4, "d_c": 4, "heads": 2, "N": 2}
	sweepPeriods = []int{1, 2, 4, 8}
	sweepLevels  = []int{1, 2, 4}
)

// What a build must show.
const (
	// leastFall is by how much the mean of the last losses must lie below that of the
	// first and below ln 8: an eighth of what it is worth to know which ids are symbols.
	leastFall = math.Ln2 / 8
	// leastState and mostState bound the norm of what a level remembers. Its memory may
	// have begun with zero in its last chunk; what it writes first is as small as the
	// square of the first parameters. Bounded rules stay below 100.
	leastState, mostState = 1e-6, 1e3
	// seenGradient is the ε of AdamW: what is below does not move a parameter.
	seenGradient = 1e-8
	ends         = 4 // losses at either end of a build
)

// sweeps are the models that are built.
func sweeps() (of []scenario) {
	for c, shape := range compositions {
		if !slices.Contains([]string{"MAC", "MAG", "MAL"}, shape.name) {
			continue
		}
		for r := range registry.Rules() {
			for _, k := range sweepLevels {
				of = append(of, scenario{c, "CMS", r, k, all(k)})
			}
		}
	}
	return of
}

// effort is the number of steps of a build, and their rate.
func (x scenario) effort() (steps int, rate float64) {
	if full() {
		return 2 * sweepSteps, sweepRate / 2
	}
	return sweepSteps, sweepRate
}

// slow reports whether a model need not learn in so few steps: beyond its δ the slope of YAADPrinted is a sign, as the paper has
// it, so a MAC, which is written with what it answered, stands still until δ has grown.
func slow(x scenario) bool { return strings.Contains(x.formula(), "MAC(CMS([YAADPrinted") }

// TestSweep builds them all.
func TestSweep(t *testing.T) {
	t.Parallel()
	levels, least, worst, peak, longest := map[int]int{}, math.Inf(1), math.Inf(-1), 0., 0
	for _, x := range sweeps() {
		levels[x.levels]++
		s := newSweep(t, x)
		steps, _ := x.effort()
		alive := true
		for alive && (len(s.losses) < steps || len(s.losses) < sweepMost*steps && !s.learned()) {
			alive = s.step()
		}
		s.updated()
		if first, last := s.fall(); alive && !s.learned() && !slow(x) {
			t.Errorf("%v: the loss is %.4f at first and %.4f in the end, want a fall of %.3f", x, first, last, leastFall)
		} else if alive {
			worst = max(worst, last)
			longest = max(longest, len(s.losses))
		}
		least, peak = min(least, s.least), max(peak, s.most)
	}
	t.Logf("models by levels: %v; memories between %.2g and %.2g; the highest last loss is %.3f; the longest build has %d steps", levels, least, peak, worst, longest)
}

// A sweep is one model that is built.
type sweep struct {
	t           testing.TB
	x           scenario
	session     *module.Session[float32]
	losses      []float64
	began, was  [][]float32 // parameters before the first step, and before the last
	seen        []bool      // by parameter: it had a gradient
	least, most float64     // norms of memories
}

func newSweep(t testing.TB, x scenario) *sweep {
	t.Helper()
	_, rate := x.effort()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", x, err)
		}
	}
	u, err := registry.NewUpdate[float32]("AdamW")
	must(err)
	must(u.Set("lr", rate))
	buffer, err := registry.NewUpdate[float32]("ErrorBuffer")
	must(err)
	model, err := registry.NewModel[float32](x.formula(), block.NewSizes(sizesOf(t, x.formula(), sweepSizes).emit))
	must(err)
	m, err := module.New(module.Config[float32]{Model: model, Update: u, Buffer: buffer, Clip: 1, Schedule: update.Schedule{WarmUp: sweepWarmup}, Seed: 1})
	must(err)
	must(m.CheckChunk(sweepChunk))
	src, err := synthetic.New(table, 5, 8)
	must(err)
	in, err := stream.New(stream.Whole(documents{src}), batch)
	must(err)
	session, err := module.NewSession(m, in, pulse.Schedule{Periods: sweepPeriods[:x.levels]}, pulse.Build)
	must(err)
	s := &sweep{t: t, x: x, session: session, seen: make([]bool, m.Params().Len()), least: math.Inf(1)}
	s.began, s.was = s.parameters(), s.parameters()
	return s
}

// parameters are copies of all of them.
func (s *sweep) parameters() (out [][]float32) {
	v := s.session.Module().Params()
	for i := range v.Len() {
		out = append(out, slices.Clone(v.Data(i)))
	}
	return out
}

// step makes one, and reports whether there can be another.
func (s *sweep) step() bool {
	done, err := s.session.Step(sweepChunk)
	if err != nil {
		s.t.Errorf("%v: %v", s.x, err)
		return false
	}
	s.losses = append(s.losses, done.Nats)
	v, now := s.session.Module().Params(), s.parameters()
	for i, norm := range s.session.Module().Norms(nil) {
		p := v.Param(i)
		s.seen[i] = s.seen[i] || !p.Fixed && norm > seenGradient
		if slices.ContainsFunc(now[i], func(w float32) bool { return !num.IsFinite(w) }) {
			s.t.Errorf("%v: step %d: %s is not finite", s.x, done.Pulse.Step(), p.Name)
			return false
		}
		if (p.Fixed || !done.Pulse.Active(p.Level)) && !slices.Equal(now[i], s.was[i]) {
			s.t.Errorf("%v: step %d: %s of level %d moved, and is not updated", s.x, done.Pulse.Step(), p.Name, p.Level)
		}
	}
	s.was = now
	return s.states(done.Pulse)
}

// states checks what the levels remember, and reports whether it is in bounds. One
// that rests may be at the beginning of a context.
func (s *sweep) states(p pulse.Pulse) bool {
	health, err := s.session.Health(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for l, h := range health {
		if p.Active(l) {
			s.least = min(s.least, h.State)
		}
		s.most = max(s.most, h.State)
		if !(h.State <= mostState) || p.Active(l) && !(h.State >= leastState) {
			s.t.Errorf("%v: step %d: the norm of what level %d remembers is %.3g", s.x, p.Step(), l, h.State)
			return false
		}
	}
	return true
}

// updated holds the clocks of the parameters to the periods of their levels, and looks
// for those that had a gradient and stayed.
func (s *sweep) updated() {
	m, moved := s.session.Module(), make([]int, s.x.levels)
	for i, n := range m.Moves().Clocks() {
		p := m.Params().Param(i)
		if p.Fixed {
			continue
		}
		period := sweepPeriods[p.Level]
		if want := (len(s.losses) + period - 1) / period; n != int64(want) {
			s.t.Errorf("%v: %s of level %d has been updated %d times in %d steps, want %d", s.x, p.Name, p.Level, n, len(s.losses), want)
		}
		same := slices.Equal(s.began[i], s.was[i])
		if s.seen[i] && same {
			s.t.Errorf("%v: %s of level %d had a gradient and has not moved", s.x, p.Name, p.Level)
		}
		if s.seen[i] && !same {
			moved[p.Level]++
		}
	}
	for l, n := range moved {
		if n == 0 {
			s.t.Errorf("%v: no parameter of level %d has moved by a gradient", s.x, l)
		}
	}
}

// fall returns the mean of the first losses and of the last.
func (s *sweep) fall() (first, last float64) {
	return mean(s.losses[:ends]), mean(s.losses[len(s.losses)-ends:])
}

// learned reports whether the loss has gone down.
func (s *sweep) learned() bool {
	first, last := s.fall()
	return last <= min(first, math.Log(float64(table.Vocab())))-leastFall
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}
