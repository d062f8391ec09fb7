package protocol

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// One forward. Where no token can tell how tokens were cut into calls (irbuild.Cuts
// says so of the program), one call, a few, and one for each token give the same
// bits: logits, and the memory after them. Elsewhere, and with several levels, whose
// clock counts calls, the grid of calls is part of the model; on one grid a memory that
// was written out and read back between calls goes on as the one that was not. With or
// without a tape, sequences together or alone, on one core or two: the same bits. All of it
// in float32, in which models run, at widths on both sides of a vector.

// levelsHere are the levels of arithmetic that this machine has.
func levelsHere(t *testing.T, f func(t *testing.T)) {
	for _, l := range cpu.Targets() {
		restore, err := cpu.Force(l)
		if err != nil {
			t.Log(err)
			continue
		}
		t.Run(l.String(), f)
		restore()
	}
}

// streamSteps are the tokens of the streams that are cut, or a few more where a rule
// counts chunks.
const streamSteps = 13

// cutsOf are the ways to cut a stream beside one call.
func cutsOf(steps int) [][]int {
	return [][]int{{5, steps - 5}, {1, 3, steps - 4}, slices.Repeat([]int{1}, steps)}
}

// TestOneForward cuts streams of every rule without a cut, as the gate of an attention
// and in front of one, alone and as the only level of a schedule.
func TestOneForward(t *testing.T) {
	var free []scenario
	for _, x := range uncut() {
		var ds diag.List
		if len(irbuild.Cuts(irbuild.WholeAt(blockOf(t, x.formula()), nil, &ds))) == 0 {
			free = append(free, x)
		}
	}
	rules := map[int]bool{}
	for _, x := range free {
		rules[x.rule] = true
	}
	t.Logf("%d of %d rules, in %d models", len(rules), len(registry.Rules()), len(free))
	if !(len(rules) >= len(registry.Rules())/2) {
		t.Errorf("%d of %d rules are without a cut", len(rules), len(registry.Rules()))
	}
	levelsHere(t, func(t *testing.T) {
		for _, x := range free {
			s := newSubject[float32](t, x, wide, streamSteps)
			s.grow(mixed)
			want := s.forward()
			for _, parts := range cutsOf(s.steps) {
				got := s.pieces(parts, func(m *block.Memory[float32]) *block.Memory[float32] { return m })
				what := fmt.Sprintf("%v in calls of %v", x, parts)
				bits(t, what, got.outs["logits"], want.outs["logits"])
				sameBits(t, what+", memory", got.memory, want.memory)
				samePos(t, what, got.pos, want.pos)
			}
		}
	})
}

// uncut are the models that may be without a cut: one level, a gate or a layer.
func uncut() []scenario {
	var out []scenario
	for r := range registry.Rules() {
		for c, shape := range compositions {
			if shape.name == "MAG" || shape.name == "MAL" {
				out = append(out, scenario{c, "", r, 1, 1}, scenario{c, "CMS", r, 1, 1})
			}
		}
	}
	return out
}

// pieces runs the tokens in several calls. Between two of them the memory goes
// through between.
func (s *subject[F]) pieces(parts []int, between func(*block.Memory[F]) *block.Memory[F]) result[F] {
	s.t.Helper()
	steps, ids, next, old := s.steps, s.ids, s.next, s.pulse
	defer func() { s.steps, s.ids, s.next, s.pulse = steps, ids, next, old }()
	m := s.mem.Clone()
	logits := make([][]F, s.batch)
	var last result[F]
	for from, i := 0, 0; i < len(parts); from, i = from+parts[i], i+1 {
		s.steps = parts[i]
		s.ids, s.next = tokensOf(ids, s.batch, steps, from, from+s.steps), tokensOf(next, s.batch, steps, from, from+s.steps)
		last = s.call(m, false)
		for l := range s.batch {
			n := len(last.outs["logits"]) / s.batch
			logits[l] = append(logits[l], last.outs["logits"][l*n:(l+1)*n]...)
		}
		s.pulse = s.pulse.Next(s.steps)
		m = between(m)
	}
	last.outs["logits"] = slices.Concat(logits...)
	return last
}

func samePos(t testing.TB, what string, got, want map[string][]int32) {
	t.Helper()
	for name, pos := range want {
		if !slices.Equal(got[name], pos) {
			t.Errorf("%s: %s is %v, want %v", what, name, got[name], pos)
		}
	}
}

// TestSameGrid runs every model over a grid of calls in which its levels are updated and
// rest, the memory kept in place and written out and back.
func TestSameGrid(t *testing.T) {
	grid := []int{3, 1, 4, 3, 2}
	for _, x := range scenarios() {
		s := newSubject[float32](t, x, small(x), streamSteps)
		s.tokens(streamSteps, "")
		s.grow(mixed)
		s.pulse = s.pulse.At(6, 60)
		want := s.pieces(grid, func(m *block.Memory[float32]) *block.Memory[float32] { return m })
		got := s.pieces(grid, s.restored)
		what := x.String() + ", memory restored between calls"
		bits(t, what, got.outs["logits"], want.outs["logits"])
		sameBits(t, what+", memory", got.memory, want.memory)
		samePos(t, what, got.pos, want.pos)
	}
}

// restored is a new memory with the numbers of another, by name, as a
// checkpoint does it; the other one is spoiled.
func (s *subject[F]) restored(m *block.Memory[F]) *block.Memory[F] {
	out := s.model.NewMemory(s.batch)
	inherit(out, m)
	m.Each("", func(_ string, _ []int, d []F) { clear(d) })
	return out
}

// TestTape compares calls with a tape and without.
func TestTape(t *testing.T) {
	for _, x := range scenarios() {
		s := newSubject[float32](t, x, wide, 4)
		s.grow(mixed)
		hash := s.set.View().Hash()
		off, on := s.forward(), s.backward()
		sameBits(t, x.String()+" with and without a tape", on.outs, off.outs)
		sameBits(t, x.String()+" with and without a tape, memory", on.memory, off.memory)
		sameBits(t, x.String()+", the same call again", s.backward().grads, on.grads)
		if s.set.View().Hash() != hash {
			t.Errorf("%v: a call changed the parameters", x)
		}
	}
}

// TestSequences compares sequences side by side with each sequence alone: logits, losses and
// memory to the last bit.
func TestSequences(t *testing.T) {
	for _, x := range scenarios() {
		s := newSubject[float32](t, x, wide, 4)
		s.grow(mixed)
		want := s.forward()
		for l := range batch {
			got := s.sequence(l).forward()
			what := fmt.Sprintf("%v: sequence %d alone", x, l)
			for name, y := range got.outs {
				bits(t, what+": "+name, y, want.outs[name][l*len(y):(l+1)*len(y)])
			}
			for name, d := range got.memory {
				bits(t, what+": "+name, d, want.memory[name][l*len(d):(l+1)*len(d)])
			}
		}
	}
}

// sequence is a subject of one sequence of s.
func (s *subject[F]) sequence(l int) *subject[F] {
	one := &subject[F]{t: s.t, x: s.x, sizes: s.sizes, model: s.model, set: s.set, mem: s.model.NewMemory(1), pulse: s.pulse,
		batch: 1, steps: s.steps, ids: s.ids[l*s.steps : (l+1)*s.steps], next: s.next[l*s.steps : (l+1)*s.steps]}
	data, pos := map[string][]F{}, map[string][]int32{}
	s.mem.Each("", func(name string, _ []int, d []F) { data[name] = d })
	s.mem.EachPos("", func(name string, p []int32) { pos[name] = p })
	one.mem.Each("", func(name string, _ []int, d []F) { copy(d, data[name][l*len(d):]) })
	one.mem.EachPos("", func(name string, p []int32) { p[0] = pos[name][l] })
	return one
}

// TestCores compares one core with two: outputs, memory and gradients. The width is
// one at which kernels have several parts to give away.
func TestCores(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	defer workers.SetCount(0)
	broad := maps.Clone(wide)
	broad["d"], broad["d_k"], broad["d_h"], broad["V"] = 48, 40, 33, 64
	for _, x := range every(4, scenarios()) {
		s := newSubject[float32](t, x, broad, 9)
		s.grow(mixed)
		run := func(cores int) map[string][]float32 {
			runtime.GOMAXPROCS(cores)
			workers.SetCount(cores)
			r := s.backward()
			out := map[string][]float32{}
			for name, d := range r.outs {
				out[name] = d
			}
			for name, d := range r.memory {
				out["memory "+name] = d
			}
			for name, d := range r.grads {
				out["gradient of "+name] = d
			}
			return out
		}
		one := run(1)
		for range 2 {
			sameBits(t, x.String()+" on one core and on two", run(2), one)
		}
	}
}

// TestUnkept makes a call that nobody keeps, of other tokens and with the gates and
// levels otherwise, and then the call: as if the first had not been. A measured run
// leaves no trace.
func TestUnkept(t *testing.T) {
	for _, x := range scenarios() {
		s := newSubject[float32](t, x, small(x), 4)
		s.grow(mixed)
		want := s.forward()
		m := s.mem.Clone()
		s.open(all(x.levels) ^ x.mask | 1)
		s.unkept(m, false)
		s.open(x.mask)
		got := s.call(m, false)
		sameBits(t, x.String()+" after a call that was not kept", got.outs, want.outs)
		sameBits(t, x.String()+" after a call that was not kept, memory", got.memory, want.memory)
	}
}

// openTol is how far an open gate may be from one: it is one, plus the logistic
// function, minus it, in this order, and so one but for a rounding.
const openTol = 4 * 0x1p-23

// TestGatesAreSchedules opens and shuts the gates of CMSGated and makes the same levels
// of CMS active: the same answers, and the same memory to the last bit.
func TestGatesAreSchedules(t *testing.T) {
	for _, x := range scenarios() {
		if x.schedule != gated || x.levels == 1 {
			continue
		}
		s := newSubject[float32](t, x, small(x), 4)
		s.grow(mixed)
		y := x
		y.schedule = "CMS"
		fixed := newSubject[float32](t, y, small(x), 4)
		s.lend(fixed.set, "")
		inherit(fixed.mem, s.mem)
		fixed.ids, fixed.next = s.ids, s.next
		got, want := s.forward(), fixed.forward()
		for l, v := range want.outs["logits"] {
			if d := math.Abs(float64(v - got.outs["logits"][l])); !(d <= openTol*peak(want.outs["logits"])) {
				t.Errorf("%v: logits[%d] are %v, of a schedule with the same mask %v", x, l, got.outs["logits"][l], v)
				break
			}
		}
		if compositions[x.composition].name == "Stack" || x.again() {
			continue // what the second block and the second call of the memory see is rounded
		}
		for name, d := range want.memory {
			if strings.Contains(name, "memory.") {
				bits(t, x.String()+" as a schedule: "+name, got.memory[name], d)
			}
		}
	}
}

// inherit gives a memory the numbers of another, by name.
func inherit[F num.Float](to, from *block.Memory[F]) {
	data, pos := map[string][]F{}, map[string][]int32{}
	from.Each("", func(name string, _ []int, d []F) { data[name] = d })
	from.EachPos("", func(name string, p []int32) { pos[name] = p })
	to.Each("", func(name string, _ []int, d []F) { copy(d, data[name]) })
	to.EachPos("", func(name string, p []int32) { copy(p, pos[name]) })
}
