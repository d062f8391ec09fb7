package blocktest

import "testing"

// class2 holds the tape's gradients of every parameter and input to
// differences of the forward.
func class2(t *testing.T, u unit) {
	var s tally
	trials(t, u.sizes, u.tokens, func(t *testing.T, z Sizes, seed uint64) {
		p := tameDraw(seed, func(seed uint64) *setup[float64] {
			p := newSetup(u.f64(t, z), newArgs[float64](t, z, seed))
			if u.old {
				p.grow()
			}
			return p
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
			check(t, &s, label(z)+" "+n, f, p.a.In[n], grads[n])
		}
	})
	s.report(t)
}

// alive wants a nonzero gradient in every parameter, one call after a start
// with the page's own first values.
func alive(t *testing.T, u unit) {
	z := longest(u.sizes, u.tokens)
	p := newSetup(u.f64(t, z), newArgs[float64](t, z, 1))
	p.set.Fill(1)
	for l := range lanes {
		p.mem.Reset(l)
	}
	p.forward()
	if p.a.Bars["loss"] != nil {
		clear(p.a.Bars["logits"]) // of a model the loss alone counts
	}
	grads := p.backward().grads
	for _, n := range p.params() {
		if !nonzero(grads[n]) {
			t.Errorf("%v: parameter %s has no gradient", z, n)
		}
	}
}
