package irbuild

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Patterns: the monomials of a form, and how those of a rule are given to the inputs
// that stand in them (match.go).

// A place is where an input stands in a monomial of a form: open indices, one for
// each of its axes.
type place struct {
	input string
	open  []int
}

// A pattern is a monomial of a form.
type pattern struct {
	coef   float64
	reads  string // how it reads the state
	places []place
	terms  []fitted // of the rule
}

// fitted is a monomial of the rule as one of a form: what stands for each input.
type fitted struct {
	coef   float64
	values [][]component // by place, at the axes of the input
	scalar int           // the place that the number is of
}

// state takes the state out of a monomial: which it is and how it is read, spelled;
// the indices that it is summed over; and the other factors. skip is how many
// subscripts of the state are loops.
func (p monomial) state(states map[*ir.Value]string, skip int) (reads string, held []*loopVar, rest []factor, ok bool) {
	for _, f := range p.fs {
		name := states[f.val]
		if name == "" {
			rest = append(rest, f)
			continue
		}
		if reads != "" {
			return "", nil, nil, false
		}
		reads = name
		for _, s := range f.sub[skip:] {
			v := s.aff.single()
			switch {
			case s.slot >= 0:
				reads += fmt.Sprintf(" %d", s.slot)
			case v != nil && slices.Contains(p.sums, v) && !slices.Contains(held, v):
				held = append(held, v)
				reads += " Σ"
			default:
				return "", nil, nil, false
			}
		}
	}
	return reads, held, rest, true
}

// sharedInputs are the inputs that stand in several monomials of a form.
func sharedInputs(ps []pattern) map[string]bool {
	n, out := map[string]int{}, map[string]bool{}
	for _, p := range ps {
		for _, at := range p.places {
			n[at.input]++
			out[at.input] = n[at.input] > 1
		}
	}
	return out
}

// fits gives a monomial of the rule to the first of the form that it is.
func fits(ps []pattern, reads string, coef float64, gs []component, held []*loopVar, shared map[string]bool) bool {
	for i := range ps {
		if p := &ps[i]; p.reads == reads {
			if f, ok := p.fit(coef, gs, held, shared); ok {
				p.terms = append(p.terms, f)
				return true
			}
		}
	}
	return false
}

// fit gives each component of a monomial to the input with the fewest indices that has
// all of its; numbers go to an input of their own, or to one that stands in
// no other monomial of the form.
func (p *pattern) fit(coef float64, gs []component, held []*loopVar, shared map[string]bool) (fitted, bool) {
	f := fitted{coef: coef / p.coef, values: make([][]component, len(p.places)), scalar: -1}
	for k, at := range p.places {
		if f.scalar < 0 || shared[p.places[f.scalar].input] && !shared[at.input] ||
			shared[p.places[f.scalar].input] == shared[at.input] && len(at.open) < len(p.places[f.scalar].open) {
			f.scalar = k
		}
	}
	if f.scalar < 0 {
		return f, len(gs) == 0 && f.coef == 1
	}
	for _, g := range gs {
		to := -1
		for k, at := range p.places {
			has := !slices.ContainsFunc(g.open, func(i int) bool { return !slices.Contains(at.open, i) })
			if has && (to < 0 || len(at.open) < len(p.places[to].open)) {
				to = k
			}
		}
		if len(g.open) == 0 {
			to = f.scalar
		}
		if to < 0 {
			return f, false
		}
		f.values[to] = append(f.values[to], g.at(p.places[to].open, held))
	}
	return f, true
}

// at is a component with the axes of an input in the place of open indices.
func (g component) at(open []int, held []*loopVar) component {
	out := component{sums: g.sums, open: g.open}
	for _, f := range g.fs {
		h := factor{val: f.val}
		for _, s := range f.sub {
			i := s.slot
			if v := s.aff.single(); i < 0 && v != nil && slices.Contains(held, v) {
				i = -1 - slices.Index(held, v)
				s = vsub{slot: 0}
			}
			if s.slot >= 0 {
				s = vsub{slot: slices.Index(open, i)}
			}
			h.sub = append(h.sub, s)
		}
		out.fs = append(out.fs, h)
	}
	return out
}

// gather gives the numbers of terms that differ in one input to that input: M q + ½ M k
// is M (q + ½ k).
func (p *pattern) gather(shared map[string]bool) {
	number := func(g component) bool { return len(g.open) == 0 }
	arrays := func(gs []component) []component { return slices.DeleteFunc(slices.Clone(gs), number) }
	differs := -1
	for k := range p.places {
		if slices.ContainsFunc(p.terms, func(f fitted) bool { return key(arrays(f.values[k])) != key(arrays(p.terms[0].values[k])) }) {
			if differs >= 0 {
				return
			}
			differs = k
		}
	}
	if differs < 0 || shared[p.places[differs].input] {
		return
	}
	for i := range p.terms {
		f := &p.terms[i]
		if s := f.scalar; s != differs {
			numbers := slices.DeleteFunc(slices.Clone(f.values[s]), func(g component) bool { return !number(g) })
			f.values[s], f.values[differs], f.scalar = arrays(f.values[s]), append(f.values[differs], numbers...), differs
		}
	}
}
