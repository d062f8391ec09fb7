package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Class 1, isolation. A spy takes the place of each part of a model. It passes
// calls on, over a node that gives the part an input of its own, and writes down what
// went in. When the tape has run backwards each call is made again, alone, on a new
// tape with nothing but that input, those parameters and that memory, from the adjoint
// that the part's answer received: it must answer the same bits, leave the same
// memory, and send back the same gradients. So a part depends on nothing that is not
// its own, and nothing else adds to what it alone reads.

// sumTol is for a parameter whose part was called twice: two gradients in one sum,
// in another order.
const sumTol = 1e-12

// A spy is a part that is watched.
type spy struct {
	block.Block[float64]
	prefix string // of its parameters
	seen   *[]*recorded
}

// A recorded call is what a part was called with and what it gave.
type recorded struct {
	part          block.Block[float64]
	prefix        string // of its parameters
	frozen        bool
	mem           *block.Memory[float64] // before the call
	after         *block.Memory[float64] // the one that the call was given
	x             []float64
	in, out       tape.Value[float64]
	xBar, y, yBar []float64
}

// Declare remembers the names of the part's parameters.
func (p *spy) Declare(s *context.ParamSet[float64], prefix string) error {
	p.prefix = prefix
	return p.Block.Declare(s, prefix)
}

func (p *spy) Step(c block.Call[float64], w block.Weights[float64], m *block.Memory[float64], x tape.Value[float64]) (tape.Value[float64], error) {
	return p.watch(c, w, m, x, false)
}

func (p *spy) Read(c block.Call[float64], w block.Weights[float64], m *block.Memory[float64], x tape.Value[float64]) (tape.Value[float64], error) {
	return p.watch(c, w, m, x, true)
}

func (p *spy) watch(c block.Call[float64], w block.Weights[float64], m *block.Memory[float64], x tape.Value[float64], frozen bool) (tape.Value[float64], error) {
	r := &recorded{part: p.Block, prefix: p.prefix, frozen: frozen, mem: p.NewMemory(m.Batch), after: m, x: slices.Clone(x.Data), in: same(c.Run, x)}
	fill(r.mem, m)
	*p.seen = append(*p.seen, r)
	f := p.Block.Step
	if frozen {
		f = p.Block.Read
	}
	y, err := f(c, w, m, r.in)
	r.out, r.y = y, slices.Clone(y.Data)
	return y, err
}

// fill copies a memory's values, those that it borrows too.
func fill(to, from *block.Memory[float64]) {
	copy(to.Pos, from.Pos)
	for i := range to.Slots {
		copy(to.Slots[i].Data, from.Slots[i].Data)
	}
	for i := range to.Parts {
		fill(to.Parts[i].Memory, from.Parts[i].Memory)
	}
}

var sameKind = tape.NewKind()

// sameNode gives a reader of a value an adjoint that is its own.
type sameNode struct{ in, out tape.Value[float64] }

func same(r *tape.Run[float64], x tape.Value[float64]) tape.Value[float64] {
	n := tape.Push[float64, sameNode](r, sameKind)
	y := r.Arena.Alloc(len(x.Data))
	copy(y, x.Data)
	n.in, n.out = x, r.Output(y)
	return n.out
}

func (n *sameNode) Backward(t *tape.Tape[float64]) {
	if dy := t.Adjoint(n.out); dy != nil {
		block.Accumulate(t, n.in, dy)
	}
}

// watch puts a spy into every place of a part, however deep: the fields of a
// generated type that are a block or a list of them.
func watch(v reflect.Value, seen *[]*recorded) {
	blocks := reflect.TypeFor[block.Block[float64]]()
	lists := reflect.TypeFor[block.List[float64]]()
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	put := func(at reflect.Value) {
		watch(at, seen)
		at.Set(reflect.ValueOf(&spy{Block: at.Interface().(block.Block[float64]), seen: seen}))
	}
	for i := range v.NumField() {
		switch f := v.Field(i); f.Type() {
		case blocks:
			put(f)
		case lists:
			parts := f.FieldByName("Parts")
			for k := range parts.Len() {
				put(parts.Index(k))
			}
		}
	}
}

// TestIsolation is Class 1 of every scenario.
func TestIsolation(t *testing.T) {
	t.Parallel()
	calls := 0
	for _, x := range scenarios() {
		s := newSubject[float64](t, x, small(x), 4)
		s.grow(mixed)
		calls += isolation(t, s)
	}
	t.Logf("%d calls of parts", calls)
}

func isolation(t *testing.T, s *subject[float64]) int {
	t.Helper()
	plain := s.backward()
	var seen []*recorded
	watch(reflect.ValueOf(s.model), &seen)
	s.set = new(context.ParamSet[float64])
	if err := s.model.Declare(s.set, ""); err != nil {
		t.Fatal(err)
	}
	s.draw("")
	m := s.mem.Clone()
	s.after = func(r *tape.Run[float64]) {
		for _, c := range seen {
			c.xBar, c.yBar = slices.Clone(r.Tape.GradOf(c.in)), slices.Clone(r.Tape.GradOf(c.out))
		}
	}
	got := s.call(m, true)
	s.after = nil
	sameBits(t, s.x.String()+", watched", got.outs, plain.outs)
	sameBits(t, s.x.String()+", watched, memory", got.memory, plain.memory)
	if len(seen) < 2 {
		t.Errorf("%v: %d calls of parts were seen", s.x, len(seen))
	}
	sums := totals{map[string][]float64{}, map[string]int{}, seen}
	for _, c := range seen {
		alone(t, s, c, sums)
	}
	for name, sum := range sums.of {
		what := fmt.Sprintf("%v: gradient of %s", s.x, name)
		if sums.times[name] == 1 {
			bits(t, what, orZeros(got.grads[name], len(sum)), sum)
			continue
		}
		nearBy(t, what, orZeros(got.grads[name], len(sum)), sum, 1, sumTol)
	}
	return len(seen)
}

// alone makes a call again on a tape of its own, and adds what it sends to its own
// parameters to the totals.
func alone(t *testing.T, s *subject[float64], c *recorded, sums totals) {
	t.Helper()
	what := fmt.Sprintf("%v: %s alone, frozen %v", s.x, c.prefix, c.frozen)
	var own context.ParamSet[float64]
	if err := c.part.Declare(&own, ""); err != nil {
		t.Fatal(err)
	}
	s.lend(&own, c.prefix)
	var arena tape.Arena[float64]
	arena.Debug = true
	err := tape.With(&arena, s.pulse, func(r *tape.Run[float64]) error {
		f := c.part.Step
		if c.frozen {
			f = c.part.Read
		}
		x := r.Input(c.x)
		y, err := f(block.Call[float64]{Run: r, Pulse: s.pulse, Batch: s.batch, Tokens: s.steps}, block.Bind(r, own.View()), c.mem, x)
		if err != nil {
			return err
		}
		bits(t, what+": the answer", c.y, y.Data)
		if c.yBar == nil {
			return nil
		}
		r.Tape.Seed(y, c.yBar)
		r.Tape.Reverse()
		bits(t, what+": gradient of the input", orZeros(c.xBar, len(c.x)), orZeros(r.Tape.GradOf(x), len(c.x)))
		r.Tape.Params(func(name string, g []float64) { sums.add(c.prefix, c.prefix+name, g) })
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if s.x.schedule != gated && (!c.frozen || !s.x.again()) {
		c.mem.Keep()
		sameBits(t, what+": memory", flat(c.after), flat(c.mem))
	}
}

// flat names the slots of a memory.
func flat[F num.Float](m *block.Memory[F]) map[string][]F {
	out := map[string][]F{}
	m.Each("", func(name string, _ []int, data []F) { out[name] = data })
	return out
}

// totals are the gradients that calls alone send to parameters, and how many of them
// send any.
type totals struct {
	of    map[string][]float64
	times map[string]int
	seen  []*recorded
}

// add counts a gradient, unless the parameter belongs to a part within the part: then
// that one's call counts.
func (s totals) add(prefix, name string, g []float64) {
	inner := slices.ContainsFunc(s.seen, func(c *recorded) bool { return len(c.prefix) > len(prefix) && strings.HasPrefix(name, c.prefix) })
	if g == nil || inner {
		return
	}
	s.times[name]++
	if s.of[name] == nil {
		s.of[name] = make([]float64, len(g))
	}
	for i := range g {
		s.of[name][i] += g[i]
	}
}
