package form

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// Assignment: the monomials of a form are patterns, and what is left of a monomial of
// the equation without its state is distributed over the inputs of the pattern by
// the indices at which it is read.

// A Place is an input in a monomial of a form, with one open index for each of its axes.
type Place struct {
	Input string
	Open  []int
}

// A Pattern is a monomial of a form.
type Pattern struct {
	Coef   float64
	Reads  string // how it reads the state
	Places []Place
	Terms  []Fit // of the rule
}

// A Fit is a monomial of the rule as one of a form, with the values of the inputs.
type Fit struct {
	Coef   float64
	Values [][]Component // by place, at the axes of the input
	Scalar int           // the place that the number is of
}

// SplitState takes the state out of a monomial: which it is and how it is read, spelled;
// the indices that it is summed over; and the other factors. skip is how many
// subscripts of the state are loops.
func (p Monomial) SplitState(states map[*ir.Value]string, skip int) (reads string, held []*tensor.LoopVar, rest []tensor.Factor, ok bool) {
	for _, f := range p.Factors {
		name := states[f.Val]
		if name == "" {
			rest = append(rest, f)
			continue
		}
		if reads != "" {
			return "", nil, nil, false
		}
		reads = name
		for _, s := range f.Sub[skip:] {
			v := s.Affine.Var()
			switch {
			case s.Visible >= 0:
				reads += fmt.Sprintf(" %d", s.Visible)
			case v != nil && slices.Contains(p.Sums, v) && !slices.Contains(held, v):
				held = append(held, v)
				reads += " Σ"
			default:
				return "", nil, nil, false
			}
		}
	}
	return reads, held, rest, true
}

// SharedInputs are the inputs that occur in several monomials of a form.
func SharedInputs(ps []Pattern) map[string]bool {
	n, out := map[string]int{}, map[string]bool{}
	for _, p := range ps {
		for _, at := range p.Places {
			n[at.Input]++
			out[at.Input] = n[at.Input] > 1
		}
	}
	return out
}

// Assign adds a monomial of the rule to the first pattern that it fits.
func Assign(ps []Pattern, reads string, coef float64, gs []Component, held []*tensor.LoopVar, shared map[string]bool) bool {
	for i := range ps {
		if p := &ps[i]; p.Reads == reads {
			if f, ok := p.fit(coef, gs, held, shared); ok {
				p.Terms = append(p.Terms, f)
				return true
			}
		}
	}
	return false
}

// fit assigns each component of a monomial to the input with the fewest indices that has
// all of its indices. Constants go to an input without indices, or to one that occurs in
// no other monomial of the form.
func (p *Pattern) fit(coef float64, gs []Component, held []*tensor.LoopVar, shared map[string]bool) (Fit, bool) {
	f := Fit{Coef: coef / p.Coef, Values: make([][]Component, len(p.Places)), Scalar: -1}
	for k, at := range p.Places {
		if f.Scalar < 0 || shared[p.Places[f.Scalar].Input] && !shared[at.Input] ||
			shared[p.Places[f.Scalar].Input] == shared[at.Input] && len(at.Open) < len(p.Places[f.Scalar].Open) {
			f.Scalar = k
		}
	}
	if f.Scalar < 0 {
		return f, len(gs) == 0 && f.Coef == 1
	}
	for _, g := range gs {
		to := -1
		for k, at := range p.Places {
			has := !slices.ContainsFunc(g.Open, func(i int) bool { return !slices.Contains(at.Open, i) })
			if has && (to < 0 || len(at.Open) < len(p.Places[to].Open)) {
				to = k
			}
		}
		if len(g.Open) == 0 {
			to = f.Scalar
		}
		if to < 0 {
			return f, false
		}
		f.Values[to] = append(f.Values[to], g.relabel(p.Places[to].Open, held))
	}
	return f, true
}

// relabel is a component with the axes of an input in the place of open indices.
func (g Component) relabel(open []int, held []*tensor.LoopVar) Component {
	out := Component{Sums: g.Sums, Open: g.Open}
	for _, f := range g.Factors {
		h := tensor.Factor{Val: f.Val}
		for _, s := range f.Sub {
			i := s.Visible
			if v := s.Affine.Var(); i < 0 && v != nil && slices.Contains(held, v) {
				i = -1 - slices.Index(held, v)
				s = tensor.Subscript{Visible: 0}
			}
			if s.Visible >= 0 {
				s = tensor.Subscript{Visible: slices.Index(open, i)}
			}
			h.Sub = append(h.Sub, s)
		}
		out.Factors = append(out.Factors, h)
	}
	return out
}

// MoveScalars moves the constants of terms that differ in one input to that input: M q + ½
// M k is M (q + ½ k).
func (p *Pattern) MoveScalars(shared map[string]bool) {
	number := func(g Component) bool { return len(g.Open) == 0 }
	arrays := func(gs []Component) []Component { return slices.DeleteFunc(slices.Clone(gs), number) }
	differs := -1
	for k := range p.Places {
		if slices.ContainsFunc(p.Terms, func(f Fit) bool { return Key(arrays(f.Values[k])) != Key(arrays(p.Terms[0].Values[k])) }) {
			if differs >= 0 {
				return
			}
			differs = k
		}
	}
	if differs < 0 || shared[p.Places[differs].Input] {
		return
	}
	for i := range p.Terms {
		f := &p.Terms[i]
		if s := f.Scalar; s != differs {
			numbers := slices.DeleteFunc(slices.Clone(f.Values[s]), func(g Component) bool { return !number(g) })
			f.Values[s], f.Values[differs], f.Scalar = arrays(f.Values[s]), append(f.Values[differs], numbers...), differs
		}
	}
}
