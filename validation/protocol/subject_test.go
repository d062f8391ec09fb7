package protocol

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// A subject is a model with its parameters, a memory, and the tokens of one call.
type subject[F num.Float] struct {
	t            testing.TB
	x            scenario
	sizes        dimensions
	model        block.Model[F]
	set          *context.ParamSet[F]
	mem          *block.Memory[F]
	pulse        pulse.Pulse
	batch, steps int
	ids, next    []int32
	again        string // what makes this draw another than the first
	lossBar      []F
	logitsBar    []F
	arena        tape.Arena[F]
	after        func(r *tape.Run[F]) // looks at the tape when it has run backwards
}

const batch = 2

// An age says how old the contexts of the two sequences are.
type age int

const (
	fresh age = iota
	old
	mixed // the first one begins
)

// newSubject makes the model of a scenario. Calls have a chunk and a rest where the rule
// of the first level computes chunks, and the number of tokens that is given else. Its
// parameters are the pages' first values, each moved a little, so that none is zero
// and no gate shut.
func newSubject[F num.Float](t testing.TB, x scenario, of map[string]int, steps int) *subject[F] {
	t.Helper()
	z := sizesOf(t, x.formula(), of)
	m, err := registry.NewModel[F](x.formula(), block.NewSizes(z.emit))
	if err != nil {
		t.Fatalf("%v: %v", x, err)
	}
	s := &subject[F]{t: t, x: x, sizes: z, model: m, set: new(context.ParamSet[F]), mem: m.NewMemory(batch),
		pulse: at(x.levels, x.mask), batch: batch}
	s.arena.Debug = true
	if err := m.Declare(s.set, ""); err != nil {
		t.Fatal(err)
	}
	s.mem.Chunks("", func(part string, tokens int) {
		if x.schedule == "" || strings.HasSuffix(part, ".memory.0") {
			steps = max(steps, tokens+2)
		}
	})
	s.draw("")
	s.tokens(steps, "")
	return s
}

// draw gives the parameters their values.
func (s *subject[F]) draw(again string) {
	s.again = again
	s.set.Fill(1)
	s.move(moved)
	s.gate()
}

// moved is by how much parameters are moved at most.
const moved = 0.3

// write changes parameters, all at once.
func (s *subject[F]) write(f func(i int, p context.Param, data []F)) { written(s.t, s.set, f) }

func written[F num.Float](t testing.TB, set *context.ParamSet[F], f func(i int, p context.Param, data []F)) {
	t.Helper()
	w, err := set.Writer()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Restore(f)
}

// move adds uniform numbers to the parameters.
func (s *subject[F]) move(by float64) {
	s.write(func(_ int, p context.Param, data []F) {
		if p.Fixed {
			return
		}
		r := num.NewStream(p.Name+s.again, 7)
		for j := range data {
			data[j] += F(r.Uniform(-by, by))
		}
	})
}

// gateBias is so far from zero that the weights of a gate do not change its sign.
const gateBias = 3

// gate opens the gates of the levels in the mask and shuts the others, where gates
// decide: their biases are a vector by level.
func (s *subject[F]) gate() {
	if s.x.schedule != gated {
		return
	}
	s.write(func(_ int, p context.Param, data []F) {
		if !strings.HasSuffix(p.Name, "memory.b") {
			return
		}
		for l := range data {
			data[l] = gateBias
			if s.x.closed(l) {
				data[l] = -gateBias
			}
		}
	})
}

// tokens draws the tokens of a call and the adjoints of its results.
func (s *subject[F]) tokens(steps int, again string) {
	s.steps = steps
	n := s.batch * steps
	r := num.NewStream("ids"+again+s.again, 3)
	s.ids, s.next = make([]int32, n), make([]int32, n)
	for i := range n {
		s.ids[i] = int32(r.Next() >> 33 % uint64(s.model.Vocabulary()))
		s.next[i] = int32(r.Next() >> 33 % uint64(s.model.Vocabulary()))
	}
	s.next[n-1] = -1
	s.lossBar, s.logitsBar = make([]F, s.batch), make([]F, n*s.model.Vocabulary())
	for i := range s.lossBar {
		s.lossBar[i] = F(1 - r.Unit()/2)
	}
	for i := range s.logitsBar {
		s.logitsBar[i] = F(r.Uniform(-1, 1))
	}
}

// grow makes the contexts as old as wanted: a call of other tokens, all levels
// active and all gates open, is before the call.
func (s *subject[F]) grow(how age) {
	if how == fresh {
		return
	}
	steps, mask := s.steps, s.x.mask
	s.tokens(steps, " before")
	s.open(all(s.x.levels))
	s.call(s.mem, false)
	s.open(mask)
	s.tokens(steps, "")
	if how == mixed {
		s.mem.Reset(0)
	}
}

// open makes exactly the levels of a mask active, by the pulse and by gates.
func (s *subject[F]) open(mask uint8) {
	s.x.mask, s.pulse = mask, at(s.x.levels, mask)
	s.gate()
}

// at is a pulse at which exactly the levels of the mask are active. Where the
// periods 1, 8, 64, 512 have such a chunk it is the first one. No periods have the
// others, since each divides the next: there the mask is put into the pulse, for a
// list of levels must not care.
//
//hecate:allow pulsereadonly no schedule has such a mask, and a list must not care
func at(levels int, mask uint8) pulse.Pulse {
	periods := []int{1, 8, 64, 512}[:levels]
	p := pulse.First(pulse.Build, periods...)
	for _, n := range append(periods, 0) {
		if q := p.At(uint64(n), uint64(n)*4); q.Mask() == mask {
			return q
		}
	}
	p = p.At(3, 12)
	field, _ := reflect.TypeOf(p).FieldByName("active")
	*(*uint8)(unsafe.Add(unsafe.Pointer(&p), field.Offset)) = mask
	if p.Mask() != mask {
		panic("protocol: BUG: the mask is not in the pulse")
	}
	return p
}

// A result is what one call gave.
type result[F num.Float] struct {
	outs, grads, memory map[string][]F
	pos                 map[string][]int32
}

// forward calls the model on a copy of the memory.
func (s *subject[F]) forward() result[F] { return s.call(s.mem.Clone(), false) }

// backward is forward with a tape.
func (s *subject[F]) backward() result[F] { return s.call(s.mem.Clone(), true) }

// call runs the model on a memory and keeps what it leaves.
func (s *subject[F]) call(m *block.Memory[F], taped bool) result[F] {
	s.t.Helper()
	out := s.unkept(m, taped)
	m.Keep()
	m.Each("", func(name string, _ []int, data []F) { out.memory[name] = slices.Clone(data) })
	m.EachPos("", func(name string, pos []int32) { out.pos[name] = slices.Clone(pos) })
	return out
}

// unkept runs the model on a memory and leaves that as it is.
func (s *subject[F]) unkept(m *block.Memory[F], taped bool) result[F] {
	s.t.Helper()
	out := result[F]{map[string][]F{}, map[string][]F{}, map[string][]F{}, map[string][]int32{}}
	scope := tape.Without[F]
	if taped {
		scope = tape.With[F]
	}
	err := scope(&s.arena, s.pulse, func(r *tape.Run[F]) error {
		c := block.Call[F]{Run: r, Pulse: s.pulse, Batch: s.batch, Tokens: s.steps}
		loss, logits, err := s.model.Step(c, block.Bind(r, s.set.View()), m, s.ids, s.next)
		if err != nil {
			return err
		}
		out.outs["loss"], out.outs["logits"] = slices.Clone(loss.Data), slices.Clone(logits.Data)
		if taped {
			r.Tape.Seed(loss, s.lossBar)
			r.Tape.Seed(logits, s.logitsBar)
			s.reverse(r, out.grads)
		}
		return nil
	})
	if err != nil {
		s.t.Fatalf("%v: %v", s.x, err)
	}
	return out
}

// reverse runs the tape backwards and collects the gradients of parameters.
func (s *subject[F]) reverse(r *tape.Run[F], grads map[string][]F) {
	r.Tape.Reverse()
	r.Tape.Params(func(name string, g []F) {
		if g != nil {
			grads[name] = slices.Clone(g)
		}
	})
	if s.after != nil {
		s.after(r)
	}
}

// value is what the adjoints of the results weigh: its gradient is the tape's.
func (s *subject[F]) value(r result[F]) float64 {
	sum := 0.0
	for i, x := range r.outs["loss"] {
		sum += float64(x) * float64(s.lossBar[i])
	}
	for i, x := range r.outs["logits"] {
		sum += float64(x) * float64(s.logitsBar[i])
	}
	return sum
}
