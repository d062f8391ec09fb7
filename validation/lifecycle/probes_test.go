package lifecycle

import (
	"reflect"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// TestOneForward wants the same bits in every phase: what differs is whether a tape
// is there. The phase is switched in the middle as well.
func TestOneForward(t *testing.T) {
	x := draw("phases", 6, 7)
	for name, makes := range models {
		k := makes(t)
		bare := func(rs []result) (out [][]float32) {
			for _, r := range rs {
				out = append(out, append(r.logits, r.loss))
			}
			return out
		}
		want := bare(k.session(t, pulse.Build).read(x, 0, 6))
		for _, phase := range []pulse.Phase{pulse.Test, pulse.Stream} {
			if got := bare(k.session(t, phase).read(x, 0, 6)); !slices.EqualFunc(got, want, same) {
				t.Errorf("%s: the phase %v has other bits than build", name, phase)
			}
		}
		s := k.session(t, pulse.Build)
		got := s.read(x, 0, 3)
		s.now = pulse.First(pulse.Stream).At(s.now.Step(), s.now.Position())
		got = append(got, s.read(x, 3, 6)...)
		if !slices.EqualFunc(bare(got), want, same) {
			t.Errorf("%s: the end of building changed the forward", name)
		}
		if got[2].grads == nil || got[3].grads != nil {
			t.Errorf("%s: gradients do not follow the phase", name)
		}
	}
}

// TestProbesLeaveNoTrace samples from a fork of a context, in the middle of a build
// with updates: the build goes on bit for bit as without. Around it: a sample that
// is kept.
func TestProbesLeaveNoTrace(t *testing.T) {
	x, probe := draw("probed", 6, 6), draw("probe", 2, 4)
	build := func(look func(s *session)) (out []result) {
		k := learned(t)
		s := k.session(t, pulse.Build)
		for c := range 6 {
			look(s)
			r := s.step(x.chunk(c))
			k.update(r.grads)
			out = append(out, r)
		}
		return out
	}
	want := build(func(*session) {})
	if !alike(want, build(func(s *session) {
		fork, err := s.ctx.Fork((*block.Memory[float32]).Clone)
		if err != nil {
			t.Fatal(err)
		}
		p := &session{t: t, model: s.model, arena: s.arena, ctx: fork, now: pulse.First(pulse.Stream)}
		p.read(probe, 0, 2)
	})) {
		t.Error("a probe of a fork changed the build")
	}
	if alike(want, build(func(s *session) { s.step(probe.chunk(0)) })) {
		t.Error("a probe of the live context has no symptom: the test shows nothing")
	}
}

// TestStartsAreLearned wants a gradient in every learned start: it is how a slow
// level hands down what it knows.
func TestStartsAreLearned(t *testing.T) {
	k := begun(t)
	out := k.session(t, pulse.Build).read(draw("starts", 2, 6), 0, 2)
	for _, name := range []string{"memory.W1_init", "memory.W2_init"} {
		i, err := k.set.View().Index(name)
		if err != nil {
			t.Fatal(err)
		}
		zero := func(g []float32) bool { return !slices.ContainsFunc(g, func(x float32) bool { return x != 0 }) }
		if zero(out[0].grads[i]) {
			t.Errorf("%s has no gradient in the chunk in which its context begins", name)
		}
		if !zero(out[1].grads[i]) {
			t.Errorf("%s has a gradient in a chunk in which no context begins", name)
		}
	}
}

// TestRepetitionStaysFinite reads one token 512 times, which drove memories of the
// past to infinity.
func TestRepetitionStaysFinite(t *testing.T) {
	for name, makes := range models {
		s := makes(t).session(t, pulse.Stream)
		ids := slices.Repeat([]int32{0}, 64)
		for range 8 {
			for _, z := range s.step(ids, ids).logits {
				if !num.IsFinite(z) {
					t.Fatalf("%s: after %d tokens a logit is %v", name, s.now.Position(), z)
				}
			}
		}
	}
}

// TestOneWayIn wants blocks and models to have the methods of their interface and
// no others: nothing to store, look up, freeze or finish with.
func TestOneWayIn(t *testing.T) {
	methods := func(x reflect.Type) (names []string) {
		for m := range x.Methods() {
			names = append(names, m.Name)
		}
		return names
	}
	want := methods(reflect.TypeFor[block.Block[float32]]())
	sizes := map[string]int{}
	for _, name := range registry.Rules() {
		b, _ := registry.NewRule[float32](name, block.NewSizes(sizes), 8) // its sizes do not matter
		if b == nil {
			t.Errorf("there is no rule %s", name)
		} else if got := methods(reflect.TypeOf(b)); !slices.Equal(got, want) {
			t.Errorf("%s has the methods %v, want %v", name, got, want)
		}
	}
	k := zeroB(t)
	if got, want := methods(reflect.TypeOf(k.Model)), methods(reflect.TypeFor[block.Model[float32]]()); !slices.Equal(got, want) {
		t.Errorf("a model has the methods %v, want %v", got, want)
	}
}
