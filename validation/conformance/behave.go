package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// causal changes the inputs from each token on: what came out before it keeps
// its bits, and what comes out at it does not.
func causal(t *testing.T, u unit, output string) {
	z := longest(u.sizes, u.tokens)
	steps := z["T"]
	want := newSetup(u.f64(t, z), newArgs[float64](t, z, 1)).forward().outs[output]
	all := [2]int{0, batch}
	for at := 1; at < steps; at++ {
		q := newSetup(u.f64(t, z), newArgs[float64](t, z, 1))
		for _, name := range q.inputs {
			q.perturb(name, at, steps)
		}
		got := q.forward().outs[output]
		before, now := [2]int{0, at}, [2]int{at, at + 1}
		bits(t, label(z)+" before the changed tokens", cut(got, batch, steps, all, before), cut(want, batch, steps, all, before))
		if slices.Equal(cut(got, batch, steps, all, now), cut(want, batch, steps, all, now)) {
			t.Errorf("%v: token %d does not see itself", z, at)
		}
	}
}

// perturb changes an input from a token on.
func (u *setup[F]) perturb(name string, from, steps int) {
	if x := u.a.In[name]; x != nil {
		n := len(x) / (batch * steps)
		for i := range x {
			if i/n%steps >= from {
				x[i] = 1 - x[i]
			}
		}
		return
	}
	x := u.a.Ints[name]
	for i := range x {
		switch {
		case i%steps < from:
		case x[i] <= 0: // also the value that means no target
			x[i]++
		default:
			x[i]--
		}
	}
}

// frozen holds the frozen read to what it is: it writes no state of a rule, and
// it answers what the active call answers from the same state.
func frozen(t *testing.T, b Block) {
	eachSize(t, b.Sizes, b.Tokens, func(t *testing.T, z Sizes, seed uint64) {
		unchanged(t, b, z, seed)
		if b.Mixed {
			return // no memory holds what the active call saw
		}
		z["T"] = 1
		wrote, read := b.setup(t, z, seed, false).forward(), b.setup(t, z, seed, true)
		// After its write, or before it, the active call saw this memory.
		before := read.forward()
		for _, name := range b.Frozen {
			copy(read.a.In[name], wrote.memory[name])
		}
		after := read.forward()
		if !within(after.outs["y"], wrote.outs["y"]) && !within(before.outs["y"], wrote.outs["y"]) {
			t.Errorf("%v: the frozen read gives %v from the memory after the write and %v from that before, the active call %v", z,
				after.outs["y"], before.outs["y"], wrote.outs["y"])
		}
	})
}

// setup draws a block for an active call or a frozen read. Where first states
// are learned its contexts are old ones.
func (b Block) setup(t *testing.T, z Sizes, seed uint64, isFrozen bool) *setup[float64] {
	u := newSetup(blockSubject(made(t, z, b.F64), isFrozen), newArgs[float64](t, z, seed))
	if b.Starts {
		u.grow()
	}
	return u
}

// grow makes every context an old one.
func (u *setup[F]) grow() {
	u.mem.EachPos("", func(_ string, pos []int32) {
		for l := range pos {
			pos[l] = 100
		}
	})
}

// unchanged wants the states of rules after a frozen read as they were, on a
// tape and without.
func unchanged(t *testing.T, b Block, z Sizes, seed uint64) {
	read := b.setup(t, z, seed, true)
	off, on := read.forward(), read.backward()
	for _, name := range b.Frozen {
		if read.a.In[name] == nil {
			t.Fatalf("there is no state %s", name)
		}
		bits(t, label(z)+" after a frozen read: "+name, off.memory[name], read.a.In[name])
		bits(t, label(z)+" after a frozen read on a tape: "+name, on.memory[name], read.a.In[name])
	}
}

// sameTails wants a frozen read to leave the tails that an active call leaves:
// the first call that writes again looks back at them.
func sameTails(t *testing.T, b Block) {
	eachSize(t, b.Sizes, b.Tokens, func(t *testing.T, z Sizes, seed uint64) {
		active, read := b.setup(t, z, seed, false).forward(), b.setup(t, z, seed, true).forward()
		for name, tail := range active.memory {
			if strings.HasSuffix(name, ".tail") {
				bits(t, label(z)+" after a frozen read: "+name, read.memory[name], tail)
			}
		}
		for name, pos := range active.pos {
			if !slices.Equal(read.pos[name], pos) {
				t.Errorf("%v: after a frozen read %s is %v, after an active call %v", z, name, read.pos[name], pos)
			}
		}
	})
}

func within(a, b []float64) bool {
	for i := range b {
		if d := a[i] - b[i]; !(d <= sumTol && -d <= sumTol) {
			return false
		}
	}
	return true
}

// noTargets gives one sequence no target at all: its loss is zero, and it sends
// back nothing.
func noTargets(t *testing.T, u unit) {
	z := longest(u.sizes, u.tokens)
	p := newSetup(u.f64(t, z), newArgs[float64](t, z, 1))
	p.forward()
	clear(p.a.Bars["logits"])
	for i := range z["T"] {
		p.a.Ints["next"][i] = -1
	}
	got := p.backward()
	if l := got.outs["loss"][0]; l != 0 {
		t.Errorf("%v: the loss without targets is %v", z, l)
	}
	alone := sequence(u, p, 0).backward()
	for name, g := range alone.grads {
		if nonzero(g) {
			t.Errorf("%v: without targets %s has a gradient", z, name)
		}
	}
}

// A Model is the table of a generated test of a model.
type Model struct {
	Name    string
	F64     func(Sizes) (block.Model[float64], error)
	F32     func(Sizes) (block.Model[float32], error)
	Sizes   []Sizes
	Tokens  [][]int
	Causal  bool
	Carries bool
	Gates   []string // as of a block
	Vectors string
}

// Test runs all checks.
func (m Model) Test(t *testing.T) {
	u := unit{sizes: m.Sizes, tokens: m.Tokens, vectors: m.Vectors, declared: m.Gates,
		f64: func(t testing.TB, z Sizes) subject[float64] { return modelSubject(made(t, z, m.F64)) },
		f32: func(t testing.TB, z Sizes) subject[float32] { return modelSubject(made(t, z, m.F32)) }}
	u.common(t, "logits", m.Causal, m.Carries)
	t.Run("input", func(t *testing.T) { badModel(t, m) })
	t.Run("empty", func(t *testing.T) { noTargets(t, u) })
}
