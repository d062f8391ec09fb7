package lifecycle

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// same compares bits.
func same(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

var models = map[string]func(testing.TB) *model{"ZeroB": zeroB, "learned start": learned}

func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

// TestInnerStateStaysOutOfParameters is the first bug: a forward that leaves its
// memory in the model. Around it: the memory is lent the parameter's own list, as a
// model did that kept its memory among its parameters.
func TestInnerStateStaysOutOfParameters(t *testing.T) {
	x := draw("inner", 4, 6)
	for name, makes := range models {
		for _, phase := range []pulse.Phase{pulse.Build, pulse.Test, pulse.Stream} {
			k := makes(t)
			hash, version := k.set.View().Hash(), k.set.View().Version()
			s := k.session(t, phase)
			for c := range 4 {
				s.step(x.chunk(c))
				if v := k.set.View(); v.Hash() != hash || v.Version() != version {
					t.Fatalf("%s: chunk %d of the phase %v changed the parameters", name, c, phase)
				}
			}
		}
	}

	k := learned(t)
	v := k.set.View()
	start, err := v.Index("memory.W1_init")
	if err != nil {
		t.Fatal(err)
	}
	clean := k.session(t, pulse.Stream).read(x, 0, 2)
	hash := v.Hash()
	m := k.NewMemory(1)
	m.PartOf("block").PartOf("memory").Slots[0].Data = v.Data(start)
	if _, err := k.forward(&tape.Arena[float32]{}, pulse.First(pulse.Stream), m, x.ids[:6], x.ids[1:7], nil); err != nil {
		t.Fatal(err)
	}
	m.Keep()
	if v.Hash() == hash {
		t.Error("a memory that lies in a parameter went unseen by the hash")
	}
	if alike(k.session(t, pulse.Stream).read(x, 0, 2), clean) {
		t.Error("a leak into a parameter has no symptom: the test shows nothing")
	}
}

// TestSessionsShareParametersOnly is the second bug: state that ranks or sessions
// share. Four read four texts at once, and read what each reads alone. Around it:
// two sessions with one memory.
func TestSessionsShareParametersOnly(t *testing.T) {
	const n, chunks = 4, 5
	k := zeroB(t)
	texts := make([]text, n)
	alone := make([][]result, n)
	for i := range texts {
		texts[i] = draw(string(rune('A'+i)), chunks, 7)
		alone[i] = k.session(t, pulse.Build).read(texts[i], 0, chunks)
	}
	together := make([][]result, n)
	failed := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		s := k.session(t, pulse.Build)
		wg.Go(func() {
			for c := range chunks {
				ids, next := texts[i].chunk(c)
				out, err := s.try(ids, next)
				together[i], failed[i] = append(together[i], out), errors.Join(failed[i], err)
			}
		})
	}
	wg.Wait()
	for i := range n {
		if failed[i] != nil || !alike(together[i], alone[i]) {
			t.Errorf("session %d among others is not what it is alone (%v)", i, failed[i])
		}
	}

	shared := k.NewMemory(1)
	a, b := k.session(t, pulse.Build), k.session(t, pulse.Build)
	a.ctx, b.ctx = context.New(shared), context.New(shared)
	var first []result
	for c := range chunks {
		first = append(first, a.step(texts[0].chunk(c)))
		b.step(texts[1].chunk(c))
	}
	if alike(first, alone[0]) {
		t.Error("a memory that two sessions share has no symptom: the test shows nothing")
	}
}

// TestSecondClaimsAreRefused gives a session the context of another one, and then its
// arena while it is in use.
func TestSecondClaimsAreRefused(t *testing.T) {
	k := zeroB(t)
	x := draw("claims", 2, 7)
	a, b := k.session(t, pulse.Build), k.session(t, pulse.Build)
	b.ctx = a.ctx
	a.step(x.chunk(0))
	if _, err := b.try(x.chunk(1)); err != context.ErrMoved {
		t.Errorf("a session with the context of another one: %v, want ErrMoved", err)
	}
	b.arena = a.arena
	_ = tape.Without(a.arena, a.now, func(*tape.Run[float32]) error {
		other := make(chan any)
		go func() {
			other <- panicOf(func() { _ = tape.Without(b.arena, b.now, func(*tape.Run[float32]) error { return nil }) })
		}()
		if r := <-other; r != tape.Nested {
			t.Errorf("a second session on one arena: panic %v, want %v", r, tape.Nested)
		}
		return nil
	})
}

// build moves the parameters over a few chunks, each with a context of its own, so
// that what is learned is no longer what it began as.
func (k *model) build(t testing.TB, x text, chunks int) {
	for c := range chunks {
		k.update(k.session(t, pulse.Build).step(x.chunk(c)).grads)
	}
}

// TestDocumentsBeginAnew is the third bug: a new document that remembers the one
// before. A reset gives bit for bit what a new context gives. Around it: no reset.
func TestDocumentsBeginAnew(t *testing.T) {
	before, after := draw("before", 5, 6), draw("after", 3, 6)
	for name, makes := range models {
		k := makes(t)
		k.build(t, before, 4)
		fresh := k.session(t, pulse.Build).read(after, 0, 3)

		reset := func(m *block.Memory[float32]) (*block.Memory[float32], error) {
			m.Reset(0)
			return m, nil
		}
		s := k.session(t, pulse.Build)
		s.read(before, 0, 5)
		var err error
		if s.ctx, err = s.ctx.Step(reset); err != nil {
			t.Fatal(err)
		}
		if !alike(s.read(after, 0, 3), fresh) {
			t.Errorf("%s: a document after a reset is not what it is in a new context", name)
		}
		forgetful := k.session(t, pulse.Build)
		forgetful.read(before, 0, 5)
		if alike(forgetful.read(after, 0, 3), fresh) {
			t.Errorf("%s: a document without a reset remembers nothing: the test shows nothing", name)
		}
	}
}

// TestContextsBeginFromWhatWasLearned puts the starts of the memory back to their
// first values and wants to see it.
func TestContextsBeginFromWhatWasLearned(t *testing.T) {
	before, after := draw("before", 5, 6), draw("after", 3, 6)
	k, unlearned := learned(t), learned(t)
	k.build(t, before, 4)
	i, err := k.set.View().Index("memory.W1_init")
	if err != nil {
		t.Fatal(err)
	}
	if same(k.set.View().Data(i), unlearned.set.View().Data(i)) {
		t.Fatal("the start of the memory was not learned")
	}
	right := k.session(t, pulse.Test).read(after, 0, 1)
	k.writer.Restore(func(j int, p context.Param, data []float32) {
		if strings.HasSuffix(p.Name, "_init") {
			copy(data, unlearned.set.View().Data(j))
		}
	})
	if alike(k.session(t, pulse.Test).read(after, 0, 1), right) {
		t.Error("a context that begins where nothing was learned is not seen: the test shows nothing")
	}
}

// TestOneSequenceBegins resets one of two sequences: the other one goes on as it was.
func TestOneSequenceBegins(t *testing.T) {
	k := learned(t)
	x, y := draw("lane 0", 2, 5), draw("lane 1", 2, 5)
	m := k.NewMemory(2)
	run := func(c int) (out []float32) {
		a := &tape.Arena[float32]{}
		err := tape.Without(a, pulse.First(pulse.Test), func(r *tape.Run[float32]) error {
			i, n := x.chunk(c)
			j, o := y.chunk(c)
			_, logits, err := k.Step(block.Call[float32]{Run: r, Pulse: r.Pulse, Batch: 2, Tokens: 5}, block.Bind(r, k.set.View()), m,
				slices.Concat(i, j), slices.Concat(n, o))
			out = slices.Clone(logits.Data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Keep()
		return out
	}
	run(0)
	m.Reset(0)
	got := run(1)
	for sequence, want := range [][]float32{
		k.session(t, pulse.Test).read(x, 1, 2)[0].logits,
		k.session(t, pulse.Test).read(y, 0, 2)[1].logits,
	} {
		if n := len(got) / 2; !same(got[sequence*n:(sequence+1)*n], want) {
			t.Errorf("sequence %d differs from what it computes alone", sequence)
		}
	}
}

// TestUpdatesAreDeltas is the fourth bug: parameters that change while somebody
// reads them, or that change by half.
func TestUpdatesAreDeltas(t *testing.T) {
	ids, next := draw("delta", 1, 6).chunk(0)
	forward := func(between func(k *model)) (result, *model) {
		k := learned(t)
		out, err := k.forward(&tape.Arena[float32]{Debug: true}, pulse.First(pulse.Build), k.NewMemory(1), ids, next, func() { between(k) })
		if err != nil {
			t.Fatal(err)
		}
		return out, k
	}
	got, k := forward(func(*model) {})
	refused := panicOf(func() {
		forward(func(k *model) {
			k.writer.Update(func(_ int, _ context.Param, data []float32) { data[0] += 3 })
		})
	})
	if refused != tape.Updated {
		t.Errorf("a backward after an update gave %v, want %q", refused, tape.Updated)
	}

	hash, version := k.set.View().Hash(), k.set.View().Version()
	half := k.set.View().Len() / 2
	broken := panicOf(func() {
		_ = tape.Without(k.arena, pulse.First(pulse.Build), func(r *tape.Run[float32]) error {
			k.writer.Update(func(i int, _ context.Param, data []float32) {
				if i == half {
					panic("broken")
				}
				k.moves.Step(r, i, data, k.full(got.grads, i))
			})
			return nil
		})
	})
	if broken != "broken" || k.set.View().Hash() != hash || k.set.View().Version() != version {
		t.Errorf("an update that broke half way (%v) left half of itself", broken)
	}
}

// TestOrderOfSequences moves the parameters once by the gradients of two sequences: their
// order does not matter. Around it: an update for each sequence in turn, which makes a
// build depend on who came first.
func TestOrderOfSequences(t *testing.T) {
	x, y := draw("delta", 1, 6), draw("other lane", 1, 6)
	sequence := func(k *model, x text) [][]float32 { return k.session(t, pulse.Build).step(x.chunk(0)).grads }
	sum := func(k *model, a, b [][]float32) (out [][]float32) {
		for i := range a {
			g := slices.Clone(k.full(a, i))
			for j, z := range k.full(b, i) {
				g[j] += z
			}
			out = append(out, g)
		}
		return out
	}
	gathered, reverse := learned(t), learned(t)
	gathered.update(sum(gathered, sequence(gathered, x), sequence(gathered, y)))
	reverse.update(sum(reverse, sequence(reverse, y), sequence(reverse, x)))
	if gathered.set.View().Hash() != reverse.set.View().Hash() {
		t.Error("one update from two sequences depends on their order")
	}
	forth, back := learned(t), learned(t)
	forth.update(sequence(forth, x))
	forth.update(sequence(forth, y))
	back.update(sequence(back, y))
	back.update(sequence(back, x))
	if forth.set.View().Hash() == back.set.View().Hash() {
		t.Error("updates in turn do not depend on their order: the test shows nothing")
	}
}
