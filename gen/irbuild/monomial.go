package irbuild

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// A value is multiplied out into monomials by substituting definitions: that of
// every factor that depends on an unknown, and of other factors where asked. The
// result is an array as a sum of products of values, each read at the value's own
// axes, at indices that the product sums over, or at loop variables.

// A monomial is a product of factors; the subscripts of a factor are visible axes
// of the value that it is of, or affine.
type monomial struct {
	coef float64
	fs   []factor
	sums []*loopVar
}

// maxMonomials bounds what multiplying out may make of an equation.
const maxMonomials = 64

// A multiplier multiplies out in one program.
type multiplier struct {
	e     *builder
	leaf  map[*ir.Value]bool // the unknowns
	reach map[*ir.Value]bool // what depends on them

	inverses map[*ir.Value]*ir.Value
}

func newMultiplier(e *builder, unknowns ...*ir.Value) *multiplier {
	m := &multiplier{e: e, leaf: map[*ir.Value]bool{}, reach: map[*ir.Value]bool{}, inverses: map[*ir.Value]*ir.Value{}}
	for _, v := range unknowns {
		m.leaf[v] = true
		for w := range e.f.DependsOn(v) {
			m.reach[w] = true
		}
	}
	return m
}

// out multiplies a value out; nil says that it depends on an unknown by more than
// products and sums.
func (m *multiplier) out(t *ten) []monomial {
	todo := []monomial{{coef: t.coef, fs: slices.Clone(t.fs)}}
	var done []monomial
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		i := slices.IndexFunc(p.fs, func(f factor) bool { return m.reach[f.val] && !m.leaf[f.val] })
		if i < 0 {
			done = append(done, p)
			continue
		}
		terms, ok := m.substitute(p, i)
		if !ok || len(todo)+len(terms) > maxMonomials {
			return nil
		}
		todo = append(todo, terms...)
	}
	slices.Reverse(done)
	return done
}

// substitute puts the definition of factor i in its place.
func (m *multiplier) substitute(p monomial, i int) ([]monomial, bool) {
	f := p.fs[i]
	in := f.val.Def
	if in == nil || in.Op != ir.Prod && in.Op != ir.Lin && in.Op != ir.Div || len(in.Guard) > 0 {
		return nil, false
	}
	rest := monomial{coef: p.coef, fs: slices.Delete(slices.Clone(p.fs), i, i+1), sums: slices.Clone(p.sums)}
	at := map[int]vsub{}
	for d, to := range in.To {
		l, ok := to.Loop()
		if !ok {
			return nil, false
		}
		if have, twice := at[l]; twice && !rest.equate(have, f.sub[d], at) {
			return nil, false
		}
		if _, twice := at[l]; !twice {
			at[l] = f.sub[d]
		}
	}
	for l, axis := range in.Loops {
		if _, ok := at[l]; !ok {
			v := m.e.newVar("", axis)
			at[l] = vsub{-1, varAff(v)}
			rest.sums = append(rest.sums, v)
		}
	}
	var out []monomial
	switch in.Op {
	case ir.Prod:
		rest.coef *= in.Coef[0]
		for _, a := range in.Args {
			g, ok := placed(a, at)
			if !ok {
				return nil, false
			}
			rest.fs = append(rest.fs, g)
		}
		out = []monomial{rest}
	case ir.Div:
		if m.reach[in.Args[1].Val] {
			return nil, false
		}
		a, ok := placed(in.Args[0], at)
		b, fine := placed(in.Args[1], at)
		b.val = m.inverse(b.val)
		rest.fs = append(rest.fs, a, b)
		return []monomial{rest}, ok && fine
	case ir.Lin:
		for k, a := range in.Args {
			g, ok := placed(a, at)
			if !ok {
				return nil, false
			}
			t := monomial{coef: rest.coef * in.Coef[k], fs: append(slices.Clone(rest.fs), g), sums: rest.sums}
			out = append(out, t)
		}
		if c := in.Coef[len(in.Args)]; c != 0 {
			out = append(out, monomial{coef: rest.coef * c, fs: rest.fs, sums: rest.sums})
		}
	}
	return out, true
}

// inverse is one over a value, entry by entry, made once.
func (m *multiplier) inverse(v *ir.Value) *ir.Value {
	if m.inverses[v] == nil {
		m.inverses[v] = m.e.scalar2(ir.Div, literal(1), m.e.ofValue(v, nil, v.Axes)).fs[0].val
	}
	return m.inverses[v]
}

// equate makes two subscripts of a diagonal the same, by putting one in the place of
// the other where that is summed over.
func (p *monomial) equate(a, b vsub, at map[int]vsub) bool {
	if a.slot >= 0 && a.slot == b.slot {
		return true
	}
	for _, s := range [][2]vsub{{a, b}, {b, a}} {
		if s[0].slot >= 0 {
			continue
		}
		v := s[0].aff.single()
		k := slices.Index(p.sums, v)
		if v == nil || k < 0 {
			continue
		}
		p.sums = slices.Delete(p.sums, k, k+1)
		put := func(x vsub) vsub {
			if x.slot < 0 && x.aff.single() == v {
				return s[1]
			}
			return x
		}
		for i, f := range p.fs {
			p.fs[i].sub = slices.Clone(f.sub)
			for d, x := range f.sub {
				p.fs[i].sub[d] = put(x)
			}
		}
		for l, x := range at {
			at[l] = put(x)
		}
		return true
	}
	return false
}

// placed is an argument of an instruction at subscripts for its loops.
func placed(a ir.Arg, at map[int]vsub) (factor, bool) {
	f := factor{val: a.Val}
	for _, s := range a.Sub {
		if l, ok := s.Loop(); ok {
			f.sub = append(f.sub, at[l])
			continue
		}
		x := affine{c: s.Const}
		for _, t := range s.Terms {
			y := at[t.Loop]
			if y.slot >= 0 || y.aff.via != nil {
				return f, false
			}
			for _, u := range y.aff.terms {
				x.addTerm(u.v, t.Coef*u.c)
			}
			for range max(t.Coef, -t.Coef) {
				if t.Coef > 0 {
					x.c = x.c.Add(y.aff.c)
				} else {
					x.c = x.c.Sub(y.aff.c)
				}
			}
		}
		if s.Indirect != nil {
			return f, false
		}
		f.sub = append(f.sub, vsub{-1, x})
	}
	return f, true
}

// A component is a part of a monomial: factors that share indices they sum over, and
// the open indices at which they are read, which are axes of the whole, 0 and up,
// and indices that the unknown is summed over, −1 and down.
type component struct {
	fs   []factor
	sums []*loopVar
	open []int
}

// components divides the factors of a monomial, without the unknown, so that no index
// that is summed over stands in two of them; those in held are open.
func (p monomial) components(held []*loopVar) ([]component, bool) {
	var out []component
	for _, f := range p.fs {
		g := component{fs: []factor{f}}
		note := func(i int) {
			if !slices.Contains(g.open, i) {
				g.open = append(g.open, i)
			}
		}
		for _, s := range f.sub {
			if s.slot >= 0 {
				note(s.slot)
				continue
			}
			s.aff.vars(func(v *loopVar) {
				if k := slices.Index(held, v); k >= 0 {
					note(-1 - k)
				} else if slices.Contains(p.sums, v) && !slices.Contains(g.sums, v) {
					g.sums = append(g.sums, v)
				}
			})
		}
		out = slices.DeleteFunc(out, func(h component) bool {
			shares := slices.ContainsFunc(h.sums, func(v *loopVar) bool { return slices.Contains(g.sums, v) })
			if shares {
				g.fs = append(h.fs, g.fs...)
				for _, v := range h.sums {
					if !slices.Contains(g.sums, v) {
						g.sums = append(g.sums, v)
					}
				}
				for _, i := range h.open {
					note(i)
				}
			}
			return shares
		})
		slices.Sort(g.open)
		out = append(out, g)
	}
	for _, v := range p.sums {
		if !slices.Contains(held, v) && !slices.ContainsFunc(out, func(g component) bool { return slices.Contains(g.sums, v) }) {
			return nil, false // a sum of the same number, which is a size
		}
	}
	return out, true
}

// key spells factors so that equal products are spelled alike.
func key(gs []component) string {
	var out []string
	for _, g := range gs {
		var fs []string
		for _, f := range g.fs {
			var b strings.Builder
			fmt.Fprintf(&b, "%p", f.val)
			for _, s := range f.sub {
				if s.slot >= 0 {
					fmt.Fprintf(&b, " #%d", s.slot)
					continue
				}
				b.WriteString(" " + s.aff.c.String())
				ts := slices.Clone(s.aff.terms)
				slices.SortFunc(ts, func(x, y aterm) int { return cmp.Compare(x.v.seq, y.v.seq) })
				for _, t := range ts {
					if k := slices.Index(g.sums, t.v); k >= 0 {
						fmt.Fprintf(&b, "+%d?%s", t.c, t.v.axis.Name)
					} else {
						fmt.Fprintf(&b, "+%d@%d", t.c, t.v.seq)
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
