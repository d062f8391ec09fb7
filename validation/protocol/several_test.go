package protocol

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// The gradient through several calls, as a build with several chunks to a gradient takes
// it: each call on a tape of its own, from the last to the first, with the adjoint of the
// memory between two. Three calls, the levels of the scenario active in the first and the
// last and all of them in the one between: what it writes is read frozen after it. One sequence
// begins with the first call; in every other scenario one begins with the last.
//
// The first witness is the interpreter: the adjoint program of each call, seeded with the
// adjoints of all results and states, chained in float64. The second is differences of
// the forward of all calls.

// calls are the subjects of the calls and the memory that each begins with.
type calls struct {
	s        *subject[float64]
	mem      []*block.Memory[float64]
	restarts bool // sequence 1 begins with the last call
}

const severalCalls = 3

func newCalls(t testing.TB, x scenario, restarts bool) *calls {
	s := newSubject[float64](t, x, small(x), 4)
	s.grow(mixed)
	return &calls{s, nil, restarts}
}

// at makes the subject that of one call.
func (c *calls) at(k int, mask uint8) {
	if k == 1 {
		mask = all(c.s.x.levels)
	}
	c.s.open(mask)
	c.s.tokens(c.s.steps, fmt.Sprint(" call ", k))
}

// forward runs all calls and returns what the adjoints of their results weigh.
func (c *calls) forward() (sum float64) {
	mask := c.s.x.mask
	defer func() { c.s.open(mask) }()
	m := c.s.mem.Clone()
	c.mem = nil
	for k := range severalCalls {
		c.at(k, mask)
		if k == severalCalls-1 && c.restarts {
			m.Reset(1)
		}
		c.mem = append(c.mem, m.Clone())
		sum += c.s.value(c.s.call(m, false))
	}
	return sum
}

// backward runs all calls again, from the last to the first.
func (c *calls) backward() map[string][]float64 {
	s, mask := c.s, c.s.x.mask
	defer func() { s.open(mask) }()
	grads := map[string][]float64{}
	bars := s.model.NewMemory(batch)
	for k := range slices.Backward(c.mem) {
		c.at(k, mask)
		m := c.mem[k].Clone()
		err := tape.With(&s.arena, s.pulse, func(r *tape.Run[float64]) error {
			call := block.Call[float64]{Run: r, Pulse: s.pulse, Batch: s.batch, Tokens: s.steps, Across: true}
			loss, logits, err := s.model.Step(call, block.Bind(r, s.set.View()), m, s.ids, s.next)
			if err != nil {
				return err
			}
			r.Tape.Seed(loss, s.lossBar)
			r.Tape.Seed(logits, s.logitsBar)
			m.SeedNext(r.Tape, bars)
			own := map[string][]float64{}
			s.reverse(r, own)
			m.TakeInitial(r.Tape, bars)
			addAll(grads, own)
			return nil
		})
		if err != nil {
			s.t.Fatalf("%v: %v", s.x, err)
		}
	}
	return grads
}

func addAll(to, from map[string][]float64) {
	for name, g := range from {
		if to[name] == nil {
			to[name] = make([]float64, len(g))
		}
		for i, x := range g {
			to[name][i] += x
		}
	}
}

// oracle chains the interpreter's adjoints.
func (c *calls) oracle() map[string][]float64 {
	s, mask := c.s, c.s.x.mask
	live := s.mem
	defer func() { s.mem = live; s.open(mask) }()
	grads := map[string][]float64{}
	bars := tensors{}
	for k := range slices.Backward(c.mem) {
		c.at(k, mask)
		s.mem = c.mem[k]
		o := newOracle(s)
		o.program = withAdjoints(o.f, func(ir.Result) bool { return true })
		in := o.inputs(s)
		args := o.begin(in)
		args[ir.AdjointName("loss")] = &interp.Tensor{Shape: []int{s.batch}, Data: s.lossBar}
		args[ir.AdjointName(o.logits())] = &interp.Tensor{Shape: []int{s.batch, s.steps, s.model.Vocabulary()}, Data: s.logitsBar}
		written := map[string]bool{}
		for _, r := range o.f.Results {
			if r.State {
				written[r.Name] = true
				args[ir.AdjointName(r.Name)] = orZeroTensor(bars[r.Name], in[r.Name])
			}
		}
		out := o.program.Run(o.sizes, args)
		next := tensors{}
		s.mem.Each("", func(name string, _ []int, _ []float64) {
			bar := orZeroTensor(out[ir.AdjointName(name)], in[name])
			if old := bars[name]; old != nil && !written[name] { // it stays what it was
				for i, x := range old.Data {
					bar.Data[i] += x
				}
			}
			out[ir.AdjointName(name)], next[name] = bar, bar.Clone()
		})
		o.learn(in, out)
		addAll(grads, o.named(s, out).grads)
		for name, bar := range next { // a context that begins has nothing before it
			for l, pos := range posOf(in, name) {
				if pos == 0 {
					clear(row(bar, l))
				}
			}
		}
		bars = next
	}
	return grads
}

func orZeroTensor(t, like *interp.Tensor) *interp.Tensor {
	if t == nil {
		return interp.NewTensor(like.Shape...)
	}
	return t.Clone()
}

// TestSeveralCalls compares the gradient with the interpreter's in every scenario, or in each
// fourth.
func TestSeveralCalls(t *testing.T) {
	t.Parallel()
	crossed := 0
	for i, x := range scenarios() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		c := newCalls(t, x, i%2 == 1)
		c.forward()
		got, want := c.backward(), c.oracle()
		for _, what := range allNear("gradient of ", got, want, severalTol) {
			t.Errorf("%v in %d calls: %s", x, severalCalls, what)
		}
		if !slices.Equal(got["E"], c.apart()["E"]) {
			crossed++
		}
	}
	t.Logf("in %d models a gradient crosses calls", crossed)
}

// severalTol is the largest tolerance of one call: three of them amplify each other's rounding.
const severalTol = mostTol

// apart is the gradient that ends at the edges of each call.
func (c *calls) apart() map[string][]float64 {
	s, mask := c.s, c.s.x.mask
	defer func() { s.open(mask) }()
	grads := map[string][]float64{}
	for k, m := range c.mem {
		c.at(k, mask)
		addAll(grads, s.call(m.Clone(), true).grads)
	}
	return grads
}

// TestSeveralDifferences compares the derivative in one direction, of all parameters
// together, with differences.
func TestSeveralDifferences(t *testing.T) {
	t.Parallel()
	for i, x := range every(9, scenarios()) {
		if x.schedule == gated { // the gradient of a gate is not its derivative
			continue
		}
		c := newCalls(t, x, i%2 == 1)
		c.forward()
		grads := c.backward()
		const h = 1e-5
		slope, scale := 0.0, 0.0
		step := func(by float64) float64 {
			c.s.write(func(_ int, p context.Param, data []float64) {
				r := num.NewStream(p.Name+" direction", 7)
				for j := range data {
					d := r.Uniform(-1, 1)
					if p.Fixed {
						d = 0
					}
					data[j] += by * d
					if g := grads[p.Name]; g != nil {
						slope += g[j] * by * d / 2
						scale += math.Abs(g[j]) * h / 2
					}
				}
			})
			return c.forward()
		}
		up := step(h)
		slope = 0
		down := step(-2 * h)
		if d := up - down; !(math.Abs(d+2*slope) <= 1e-3*scale+1e-9) {
			t.Errorf("%v: a step of all parameters changes the loss by %.9g, the gradient says %.9g", x, d, -2*slope)
		}
	}
}

// posOf returns the positions that belong to a tensor of a memory: those of the memory that it
// is in; a site borrows those of its part.
func posOf(in tensors, name string) []float64 {
	name = strings.ReplaceAll(name, block.SiteName("")+".", ".")
	for at := strings.LastIndex(name, "."); at >= 0; at = strings.LastIndex(name[:at], ".") {
		if pos := in[name[:at+1]+"pos"]; pos != nil {
			return pos.Data
		}
	}
	return in["pos"].Data
}
