// Package form compares equations by their coefficients. An equation that is linear
// in a state is expanded into a sum of monomials; a form, such as ρ M + v kᵀ, is
// expanded the same way; and each monomial of the equation is assigned to a
// monomial of the form that reads the state at the same indices.
package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// Expansion: a value is multiplied out into monomials by substituting definitions,
// that of every factor that depends on an unknown, and of other factors on request.
// The result is an array as a sum of products of values, each read at the array's
// visible axes, at indices that the product sums over, or at loop variables.

// A Monomial is a product of factors; the subscripts of a factor are visible axes
// of the value that it is of, or affine.
type Monomial struct {
	Coef    float64
	Factors []tensor.Factor
	Sums    []*tensor.LoopVar
}

// MaxMonomials bounds the number of monomials of an equation.
const MaxMonomials = 64

// A Expander multiplies out in one program.
type Expander struct {
	e          *tensor.Emitter
	unknowns   map[*ir.Value]bool // the unknowns
	dependents map[*ir.Value]bool // what depends on them

	inverses map[*ir.Value]*ir.Value
}

// NewExpander returns an expander of values that depend on the unknowns.
func NewExpander(e *tensor.Emitter, unknowns ...*ir.Value) *Expander {
	m := &Expander{e: e, unknowns: map[*ir.Value]bool{}, dependents: map[*ir.Value]bool{}, inverses: map[*ir.Value]*ir.Value{}}
	for _, v := range unknowns {
		m.unknowns[v] = true
		for w := range e.Func.DependsOn(v) {
			m.dependents[w] = true
		}
	}
	return m
}

// Expand multiplies a value out; nil means that it depends on an unknown by more than
// products and sums.
func (m *Expander) Expand(t *tensor.Tensor) []Monomial {
	todo := []Monomial{{Coef: t.Coef, Factors: slices.Clone(t.Factors)}}
	var done []Monomial
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i := slices.IndexFunc(p.Factors, func(f tensor.Factor) bool { return m.dependents[f.Val] && !m.unknowns[f.Val] })
		if i < 0 {
			done = append(done, p)
			continue
		}
		terms, ok := m.Substitute(p, i)
		if !ok || len(todo)+len(terms) > MaxMonomials {
			return nil
		}
		todo = append(todo, terms...)
	}
	slices.Reverse(done)
	return done
}

// Substitute puts the definition of factor i in its place.
func (m *Expander) Substitute(p Monomial, i int) ([]Monomial, bool) {
	f := p.Factors[i]
	in := f.Val.Def
	if in == nil || in.Op != ir.Prod && in.Op != ir.Lin && in.Op != ir.Div || len(in.Guard) > 0 {
		return nil, false
	}
	rest := Monomial{Coef: p.Coef, Factors: slices.Delete(slices.Clone(p.Factors), i, i+1), Sums: slices.Clone(p.Sums)}
	at := map[int]tensor.Subscript{}
	for d, to := range in.To {
		l, ok := to.Loop()
		if !ok {
			return nil, false
		}
		if have, twice := at[l]; twice && !rest.unify(have, f.Sub[d], at) {
			return nil, false
		}
		if _, twice := at[l]; !twice {
			at[l] = f.Sub[d]
		}
	}
	for l, axis := range in.Loops {
		if _, ok := at[l]; !ok {
			v := m.e.NewVar("", axis)
			at[l] = tensor.Subscript{Visible: -1, Affine: tensor.AffineOf(v)}
			rest.Sums = append(rest.Sums, v)
		}
	}
	var out []Monomial
	switch in.Op {
	case ir.Prod:
		rest.Coef *= in.Coef[0]
		for _, a := range in.Args {
			g, ok := argumentAt(a, at)
			if !ok {
				return nil, false
			}
			rest.Factors = append(rest.Factors, g)
		}
		out = []Monomial{rest}
	case ir.Div:
		if m.dependents[in.Args[1].Val] {
			return nil, false
		}
		a, ok := argumentAt(in.Args[0], at)
		b, fine := argumentAt(in.Args[1], at)
		b.Val = m.inverse(b.Val)
		rest.Factors = append(rest.Factors, a, b)
		return []Monomial{rest}, ok && fine
	case ir.Lin:
		for k, a := range in.Args {
			g, ok := argumentAt(a, at)
			if !ok {
				return nil, false
			}
			t := Monomial{Coef: rest.Coef * in.Coef[k], Factors: append(slices.Clone(rest.Factors), g), Sums: rest.Sums}
			out = append(out, t)
		}
		if c := in.Coef[len(in.Args)]; c != 0 {
			out = append(out, Monomial{Coef: rest.Coef * c, Factors: rest.Factors, Sums: rest.Sums})
		}
	}
	return out, true
}

// inverse is one over a value, entry by entry, made once.
func (m *Expander) inverse(v *ir.Value) *ir.Value {
	if m.inverses[v] == nil {
		m.inverses[v] = m.e.Entrywise(ir.Div, tensor.Number(1), m.e.FromValue(v, nil, v.Axes)).Factors[0].Val
	}
	return m.inverses[v]
}

// unify makes two subscripts of a diagonal the same, by putting one in the place of
// the other where that is summed over.
func (p *Monomial) unify(a, b tensor.Subscript, at map[int]tensor.Subscript) bool {
	if a.Visible >= 0 && a.Visible == b.Visible {
		return true
	}
	for _, s := range [][2]tensor.Subscript{{a, b}, {b, a}} {
		if s[0].Visible >= 0 {
			continue
		}
		v := s[0].Affine.Var()
		k := slices.Index(p.Sums, v)
		if v == nil || k < 0 {
			continue
		}
		p.Sums = slices.Delete(p.Sums, k, k+1)
		put := func(x tensor.Subscript) tensor.Subscript {
			if x.Visible < 0 && x.Affine.Var() == v {
				return s[1]
			}
			return x
		}
		for i, f := range p.Factors {
			p.Factors[i].Sub = slices.Clone(f.Sub)
			for d, x := range f.Sub {
				p.Factors[i].Sub[d] = put(x)
			}
		}
		for l, x := range at {
			at[l] = put(x)
		}
		return true
	}
	return false
}

// argumentAt is an argument of an instruction at subscripts for its loops.
func argumentAt(a ir.Arg, at map[int]tensor.Subscript) (tensor.Factor, bool) {
	f := tensor.Factor{Val: a.Val}
	for _, s := range a.Sub {
		if l, ok := s.Loop(); ok {
			f.Sub = append(f.Sub, at[l])
			continue
		}
		x := tensor.Affine{Const: s.Const}
		for _, t := range s.Terms {
			y := at[t.Loop]
			if y.Visible >= 0 || y.Affine.Via != nil {
				return f, false
			}
			for _, u := range y.Affine.Terms {
				x.AddTerm(u.Var, t.Coef*u.Coef)
			}
			for range max(t.Coef, -t.Coef) {
				if t.Coef > 0 {
					x.Const = x.Const.Add(y.Affine.Const)
				} else {
					x.Const = x.Const.Sub(y.Affine.Const)
				}
			}
		}
		if s.Indirect != nil {
			return f, false
		}
		f.Sub = append(f.Sub, tensor.Subscript{Visible: -1, Affine: x})
	}
	return f, true
}

// A Component is a part of a monomial: factors that share indices they sum over, and
// the open indices at which they are read, which are axes of the whole, 0 and up,
// and indices that the unknown is summed over, −1 and down.
type Component struct {
	Factors []tensor.Factor
	Sums    []*tensor.LoopVar
	Open    []int
}

// Components divides the factors of a monomial without its state into connected
// components: two factors are connected if they share an index that is summed over. The
// indices in held are open.
func (p Monomial) Components(held []*tensor.LoopVar) ([]Component, bool) {
	var out []Component
	for _, f := range p.Factors {
		g := Component{Factors: []tensor.Factor{f}}
		note := func(i int) {
			if !slices.Contains(g.Open, i) {
				g.Open = append(g.Open, i)
			}
		}
		for _, s := range f.Sub {
			if s.Visible >= 0 {
				note(s.Visible)
				continue
			}
			s.Affine.EachVar(func(v *tensor.LoopVar) {
				if k := slices.Index(held, v); k >= 0 {
					note(-1 - k)
				} else if slices.Contains(p.Sums, v) && !slices.Contains(g.Sums, v) {
					g.Sums = append(g.Sums, v)
				}
			})
		}
		out = slices.DeleteFunc(out, func(h Component) bool {
			shares := slices.ContainsFunc(h.Sums, func(v *tensor.LoopVar) bool { return slices.Contains(g.Sums, v) })
			if shares {
				g.Factors = append(h.Factors, g.Factors...)
				for _, v := range h.Sums {
					if !slices.Contains(g.Sums, v) {
						g.Sums = append(g.Sums, v)
					}
				}
				for _, i := range h.Open {
					note(i)
				}
			}
			return shares
		})
		slices.Sort(g.Open)
		out = append(out, g)
	}
	for _, v := range p.Sums {
		if !slices.Contains(held, v) && !slices.ContainsFunc(out, func(g Component) bool { return slices.Contains(g.Sums, v) }) {
			return nil, false // a sum of the same number, which is a size
		}
	}
	return out, true
}

// Key spells factors so that equal products are spelled alike.
func Key(gs []Component) string {
	var out []string
	for _, g := range gs {
		var fs []string
		for _, f := range g.Factors {
			var b strings.Builder
			fmt.Fprintf(&b, "%p", f.Val)
			for _, s := range f.Sub {
				if s.Visible >= 0 {
					fmt.Fprintf(&b, " #%d", s.Visible)
					continue
				}
				b.WriteString(" " + s.Affine.Const.String())
				ts := slices.Clone(s.Affine.Terms)
				slices.SortFunc(ts, func(x, y tensor.Term) int { return cmp.Compare(x.Var.Seq, y.Var.Seq) })
				for _, t := range ts {
					if k := slices.Index(g.Sums, t.Var); k >= 0 {
						fmt.Fprintf(&b, "+%d?%s", t.Coef, t.Var.Axis.Name)
					} else {
						fmt.Fprintf(&b, "+%d@%d", t.Coef, t.Var.Seq)
					}
				}
			}
			fs = append(fs, b.String())
		}
		slices.Sort(fs)
		out = append(out, strings.Join(fs, ","))
	}
	slices.Sort(out)
	return strings.Join(out, ";")
}
