package conformance

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
)

// restore makes the values of m those of from.
func restore[F num.Float](m, from *block.Memory[F]) {
	copy(m.Pos, from.Pos)
	for i := range m.Slots {
		copy(m.Slots[i].Data, from.Slots[i].Data)
	}
	for i := range m.Parts {
		restore(m.Parts[i].Memory, from.Parts[i].Memory)
	}
}

// withAndWithout compares a call on a tape with one without.
func withAndWithout(t *testing.T, u unit) {
	eachSize(t, u.sizes, u.tokens, func(t *testing.T, z Sizes, seed uint64) {
		p := newSetup(u.f64(t, z), newArgs[float64](t, z, seed))
		hash := p.set.View().Hash()
		off, on := p.forward(), p.backward()
		sameBits(t, label(z)+" with and without a tape", on.outs, off.outs)
		sameBits(t, label(z)+" with and without a tape, memory", on.memory, off.memory)
		again := p.backward()
		sameBits(t, label(z)+" the same call again", again.grads, on.grads)
		if p.set.View().Hash() != hash {
			t.Errorf("%v: a call changed the parameters", z)
		}
	})
}

// oneByOne compares sequences side by side with each sequence alone: outputs, memory
// and the gradients of inputs bit for bit, those of parameters as a sum.
func oneByOne(t *testing.T, u unit) {
	eachSize(t, u.sizes, u.tokens, func(t *testing.T, z Sizes, seed uint64) {
		const batch = 3
		z = z.with(Sizes{"L": batch})
		all := newSetup(u.f64(t, z), newArgs[float64](t, z, seed))
		want := all.backward()
		sums := map[string][]float64{}
		for l := range batch {
			of := func(x []float64) []float64 { return cut(x, batch, 1, [2]int{l, l + 1}, [2]int{0, 1}) }
			got := sequence(u, all, l).backward()
			for name, y := range got.outs {
				bits(t, label(z)+" sequence alone: "+name, y, of(want.outs[name]))
			}
			for name, d := range got.memory {
				bits(t, label(z)+" sequence alone: "+name, d, of(want.memory[name]))
			}
			for name, g := range got.grads {
				if slices.Contains(all.inputs, name) {
					bits(t, label(z)+" sequence alone, gradient of "+name, g, of(want.grads[name]))
				} else {
					sums[name] = add(sums[name], g)
				}
			}
		}
		for _, name := range all.inputs {
			delete(want.grads, name)
		}
		allNear(t, label(z)+" gradients as a sum over sequences", sums, want.grads, sumTol)
	})
}

func add(a, b []float64) []float64 {
	if a == nil {
		return slices.Clone(b)
	}
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// sequence is a setup of one sequence of p, with the same parameters.
func sequence(u unit, p *setup[float64], l int) *setup[float64] {
	n := p.a.Size("L")
	a := newArgs[float64](p.t, p.a.Sizes.with(Sizes{"L": 1}), p.a.seed)
	of := func(x []float64) []float64 { return cut(x, n, 1, [2]int{l, l + 1}, [2]int{0, 1}) }
	for name, x := range p.a.In {
		if _, err := p.set.View().Index(name); err == nil {
			a.In[name] = x
		} else {
			a.In[name] = of(x)
		}
	}
	for name, x := range p.a.Ints {
		a.Ints[name] = cut(x, n, 1, [2]int{l, l + 1}, [2]int{0, 1})
	}
	for name, x := range p.a.Bars {
		a.Bars[name] = of(x)
	}
	return newSetup(u.f64(p.t, a.Sizes), a)
}

// chunks compares one call with the same tokens in several calls, the memory
// carried along: down to one token a call.
func chunks(t *testing.T, u unit, output string) {
	for i := range u.sizes {
		z := longest(u.sizes[i:], u.tokens[i:])
		steps := z["T"]
		p := newSetup(u.f64(t, z), newArgs[float64](t, z, uint64(i)))
		want := p.forward()
		for _, parts := range [][]int{{1, steps - 1}, {steps - 1, 1}, slices.Repeat([]int{1}, steps)} {
			got, last := pieces(u, p, parts, output)
			bits(t, label(z)+" in pieces: "+output, got, want.outs[output])
			sameBits(t, label(z)+" in pieces, memory", last.memory, want.memory)
			for name, pos := range want.pos {
				if !slices.Equal(last.pos[name], pos) {
					t.Errorf("%v in pieces: %s is %v, in one call %v", z, name, last.pos[name], pos)
				}
			}
		}
	}
}

// cuts wants the opposite of a program of which the compiler says that its
// results depend on the cut: one token a call gives something else somewhere.
func cuts(t *testing.T, u unit, output string) {
	for i := range u.sizes {
		z := longest(u.sizes[i:], u.tokens[i:])
		p := newSetup(u.f64(t, z), newArgs[float64](t, z, uint64(i)))
		got, _ := pieces(u, p, slices.Repeat([]int{1}, z["T"]), output)
		if !slices.Equal(got, p.forward().outs[output]) {
			return
		}
	}
	t.Errorf("no cut of the tokens into calls changes %s", output)
}

// pieces runs the tokens of p in several calls and puts together what comes
// out.
func pieces(u unit, p *setup[float64], parts []int, output string) ([]float64, result[float64]) {
	n, steps := p.a.Size("L"), p.a.Size("T")
	m := p.mem.Clone()
	room := make([][]float64, n)
	var last result[float64]
	at := 0
	for _, k := range parts {
		a := newArgs[float64](p.t, p.a.Sizes.with(Sizes{"T": k}), p.a.seed)
		for name, x := range p.a.In {
			a.In[name] = x
		}
		for _, name := range p.inputs {
			now := [2]int{at, at + k}
			if x := p.a.In[name]; x != nil {
				a.In[name] = cut(x, n, steps, [2]int{0, n}, now)
			} else {
				a.Ints[name] = cut(p.a.Ints[name], n, steps, [2]int{0, n}, now)
			}
		}
		last = newSetup(u.f64(p.t, a.Sizes), a).run(m, false)
		for l := range n {
			room[l] = append(room[l], cut(last.outs[output], n, k, [2]int{l, l + 1}, [2]int{0, k})...)
		}
		at += k
	}
	return slices.Concat(room...), last
}
