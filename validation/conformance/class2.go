package conformance

import (
	"slices"
	"testing"
)

// class2 holds the tape's gradients of every parameter and input to
// differences of the forward.
func class2(t *testing.T, u unit) {
	var s tally
	eachSize(t, u.sizes, u.tokens, func(t *testing.T, z Sizes, seed uint64) {
		p := tameDraw(seed, func(seed uint64) *setup[float64] {
			return newSetup(u.f64(t, z), newArgs[float64](t, z, seed))
		}, func(p *setup[float64]) float64 {
			after := p.forward()
			return largest(after.outs, after.memory)
		})
		grads := p.backward().grads
		names := p.params()
		for _, n := range p.inputs {
			if p.a.In[n] != nil {
				names = append(names, n)
			}
		}
		m := p.mem.Clone()
		f := func() float64 {
			p.a.Must(p.try(m, false))
			restore(m, p.mem)
			return dot(p.a.Outs, p.a.Bars)
		}
		for _, n := range names {
			if slices.Contains(u.declared, n) {
				continue // the compiler held it to differences with the stopped values held
			}
			check(t, &s, label(z)+" "+n, f, p.a.In[n], grads[n])
		}
	})
	s.report(t)
}

// alive wants a nonzero gradient in every parameter, one call after a start
// with the page's own first values. After a gate that begins closed nothing is
// alive, so gates are opened first, and a second call sees what the first left.
func alive(t *testing.T, u unit) {
	z := longest(u.sizes, u.tokens)
	p := newSetup(u.f64(t, z), newArgs[float64](t, z, 1))
	p.set.Fill(1)
	for l := range batch {
		p.mem.Reset(l)
	}
	for _, n := range u.declared {
		for i := range p.a.In[n] {
			p.a.In[n][i] = wideOpen
		}
	}
	p.forward()
	if p.a.Bars["loss"] != nil {
		clear(p.a.Bars["logits"]) // of a model the loss alone counts
	}
	grads := []map[string][]float64{p.backward().grads}
	if len(u.declared) > 0 {
		grads = append(grads, p.run(p.mem, true).grads, p.run(p.mem, true).grads)
	}
	for _, n := range p.params() {
		if !slices.ContainsFunc(grads, func(g map[string][]float64) bool { return nonzero(g[n]) }) {
			t.Errorf("%v: parameter %s has no gradient", z, n)
		}
	}
}

// wideOpen is what gates are set to.
const wideOpen = 3
