package conformance

import (
	"maps"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/tape"
)

// A Pair is a forward kernel with its backward.
type Pair struct {
	Name     string
	Taped    func(r *tape.Run[float64], a *Args[float64]) error // the call that records
	Direct   func(a *Args[float64])                             // the two kernels, called by hand
	Direct32 func(a *Args[float32])                             // the same in float32
	Sizes    []Sizes
	Tokens   [][]int
	Segments bool     // keeps checkpoints, from which its backward replays
	Starts   bool     // first states are learned: the kernels see those of old contexts
	Flat     bool     // nothing has a gradient, so there is none to compare
	Gates    []string // parameters with a stopped value after them
	Order    int      // degree in the sizes of what is computed at a token; 0 for at most 2
	Vectors  string   // file with vectors under the pair's name, or ""
}

// Test runs all checks.
func (p Pair) Test(t *testing.T) {
	t.Run("class1/"+p.Name, func(t *testing.T) {
		eachSize(t, p.Sizes, p.Tokens, func(t *testing.T, z Sizes, seed uint64) { p.isolated(t, p.args(t, z, seed)) })
	})
	if !p.Flat {
		t.Run("class2/"+p.Name, func(t *testing.T) {
			var s tally
			eachSize(t, p.Sizes, p.Tokens, func(t *testing.T, z Sizes, seed uint64) {
				p.differences(t, &s, tameDraw(seed, func(seed uint64) *Args[float64] { return p.args(t, z, seed) },
					func(a *Args[float64]) float64 { return largest(a.Outs) }))
			})
			s.report(t)
		})
	}
	if p.Vectors != "" {
		t.Run("class3/"+p.Name, func(t *testing.T) { p.vectors(t) })
	}
	t.Run("guards/"+p.Name, func(t *testing.T) { p.guards(t) })
	if p.Segments {
		t.Run("replay/"+p.Name, func(t *testing.T) { eachSize(t, p.Sizes, p.Tokens, p.replay) })
	}
}

// args are drawn by a first direct call.
func (p Pair) args(t testing.TB, z Sizes, seed uint64) *Args[float64] {
	a := newArgs[float64](t, z, seed)
	if p.Starts {
		a.Ints["pos"] = slices.Repeat([]int32{100}, a.Size("L"))
	}
	p.Direct(a)
	return a
}

const bystander = "a parameter that the block does not have"

// isolated holds the tape to a direct call: the same bits come out, the same
// bits flow back, and nothing reaches anything else.
func (p Pair) isolated(t *testing.T, a *Args[float64]) {
	what := label(a.Sizes)
	taped := newArgs[float64](t, a.Sizes, a.seed)
	taped.In, taped.Ints, taped.Bars = maps.Clone(a.In), a.Ints, a.Bars
	before := clone(a.In)
	var arena tape.Arena[float64]
	arena.Debug = true
	err := tape.With(&arena, first(), func(r *tape.Run[float64]) error {
		other := r.Param(bystander, []float64{1, 2, 3})
		if err := p.Taped(r, taped); err != nil {
			return err
		}
		taped.reverse(r)
		if r.Tape.GradOf(other) != nil {
			t.Errorf("%s: the gradient reaches %s", what, bystander)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	sameBits(t, what+" changed what it read", a.In, before)
	for name := range a.Bars { // the tape has no adjoint for the memory after the call
		if _, ok := taped.given[name]; !ok {
			clear(a.Bars[name])
		}
	}
	p.Direct(a)
	p.compare(t, what, a, taped)
	p.remembered(t, what, a, taped)
}

// compare wants the same outputs and gradients, no gradient that the kernels do
// not have, and one for every input and parameter that they have one for.
func (p Pair) compare(t *testing.T, what string, a, taped *Args[float64]) {
	for name, y := range taped.Outs {
		bits(t, what+" "+name, y, a.Outs[name])
	}
	for name, g := range taped.Grads {
		if a.Grads[name] == nil {
			if !nonzero(g) {
				continue // of a learned start, in an old context
			}
			t.Errorf("%s: the gradient reaches %s, which no kernel has an adjoint for", what, name)
			continue
		}
		bits(t, what+" gradient of "+name, added(g), added(a.Grads[name]))
	}
	for name, g := range a.Grads {
		_, leaf := taped.leaves[name]
		if taped.Grads[name] == nil && nonzero(g) && (leaf || taped.weights[name]) {
			t.Errorf("%s: no gradient reaches %s", what, name)
		}
	}
}

// added is an adjoint added to zero, as a tape does it from the second time on: −0 becomes 0.
func added(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] += v
	}
	return out
}

// remembered holds the memory to the direct call: unchanged until it is kept,
// and then what the kernel gave.
func (p Pair) remembered(t *testing.T, what string, a, taped *Args[float64]) {
	if taped.mem == nil {
		return
	}
	taped.mem.Each("", func(name string, _ []int, d []float64) { bits(t, what+" too early, "+name, d, taped.In[name]) })
	taped.mem.Keep()
	taped.mem.Each("", func(name string, _ []int, d []float64) {
		if a.Outs[name] != nil {
			bits(t, what+" "+name, d, a.Outs[name])
		}
	})
}

// differences holds every adjoint of the backward kernel to differences of the
// forward kernel: by every input, parameter and state, with an adjoint for
// every output and every state after the call.
func (p Pair) differences(t *testing.T, s *tally, a *Args[float64]) {
	what, grads := label(a.Sizes), a.Grads
	a.ForwardOnly = true
	for _, name := range slices.Sorted(maps.Keys(a.In)) {
		if a.consts[name] || slices.Contains(p.Gates, name) {
			continue
		}
		check(t, s, what+" "+name, func() float64 {
			p.Direct(a)
			return dot(a.Outs, a.Bars)
		}, a.In[name], grads[name])
	}
}

// replay holds a backward that replays from checkpoints to one that stores
// every state: the same bits for every distance.
func (p Pair) replay(t *testing.T, z Sizes, seed uint64) {
	stored := p.args(t, z.with(Sizes{"C": 1}), seed)
	for _, distance := range []int{2, 3, 64} {
		a := newArgs[float64](t, z.with(Sizes{"C": distance}), seed)
		a.In, a.Ints, a.Bars = stored.In, stored.Ints, stored.Bars
		p.Direct(a)
		sameBits(t, label(a.Sizes)+" outputs", a.Outs, stored.Outs)
		sameBits(t, label(a.Sizes)+" gradients", a.Grads, stored.Grads)
	}
}

// vectors holds a pair of kernels, called directly, to the interpreter.
func (p Pair) vectors(t *testing.T) {
	for _, c := range read(t, p.Vectors, p.Name) {
		a := args[float64](t, c)
		p.Direct(a)
		c.holds(t, "out", a.Outs)
		c.holds(t, "grad", a.Grads)
	}
}

func clone(m map[string][]float64) map[string][]float64 {
	out := map[string][]float64{}
	for n, x := range m {
		out[n] = slices.Clone(x)
	}
	return out
}
