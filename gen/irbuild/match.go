package irbuild

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The inputs of a strategy are found by comparing coefficients. The rule's
// equation and the form are both multiplied out into monomials of the state; each
// monomial of the rule has to be one of the form with values in the place of the
// inputs. Two monomials are comparable where they read the state at the same
// indices. What the rule has beside the state falls into components by the indices at
// which it is read, and each component goes to an input that has these indices: so
// θ M k kᵀ is M b wᵀ with b = θ k and w = k. Several monomials of the rule may go
// to one of the form if they differ in one input, which then is their sum.

// matchNames serves the names of a rule while its equation is built for all tokens
// of a chunk, with its states as unknowns.
type matchNames struct {
	c      *chunkNames
	rule   *check.Block
	vals   map[string]*ten
	states map[string]*ir.Value // unknowns: M before the token, and M_t after it
}

func (n *matchNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	eq := n.rule.Equation(sym.Name)
	switch {
	case sym.Kind == check.State && !sym.PerChunk() && (when.before || when.now):
		return n.state(sym, when)
	case eq != nil && eq.Class == check.Recurrent && sym.Kind == check.Defined && when.now:
		return n.equation(eq)
	case eq != nil && eq.Class == check.Recurrent, sym.Kind == check.Anchor, sym.Kind == check.Snap, sym.Kind == check.State:
		e.ds.Errorf(diag.NotSupported, span, "%s is read here, and what is matched reads states before a token and after it alone", sym.Name)
		return nil
	}
	if t := n.matrix(eq, when); t != nil {
		return t
	}
	outer := n.c.outer
	old := outer.blk
	outer.blk = n.rule
	defer func() { outer.blk = old }()
	return n.c.fromOutside(sym, when, span)
}

// state is a state as an unknown.
func (n *matchNames) state(sym *check.Symbol, when moment) *ten {
	e := n.c.e
	axes, _, ok := e.declared(sym)
	if !ok {
		return nil
	}
	name := sym.Name
	if when.now {
		name += "_t"
	}
	if n.states[name] == nil {
		n.states[name] = e.f.AddParam(ident.ASCII(name)+".unknown", ir.Token, ir.Real, append([]*ir.Axis{e.token.axis}, axes...)...)
	}
	return e.ofValue(n.states[name], []*loopVar{e.token}, axes)
}

// equation is an equation of the rule for all tokens of the chunk.
func (n *matchNames) equation(eq *check.Equation) *ten {
	if t, ok := n.vals[eq.Name]; ok {
		return t
	}
	n.vals[eq.Name] = nil
	n.vals[eq.Name] = n.c.build(eq, func() *ten { return n.c.e.equationValue(eq) })
	return n.vals[eq.Name]
}

// matrix is an equation of a matrix for all tokens of the chunk, though no state is
// behind it: what it is made of may be what the pattern has. nil leaves it a series.
func (n *matchNames) matrix(eq *check.Equation, when moment) *ten {
	if eq == nil || eq.Class != check.Parallel || !when.now {
		return nil
	}
	if t := n.c.series.vals[eq.Name]; t == nil || len(t.axes) < 2 {
		return nil
	}
	e := n.c.e
	said := e.ds
	defer func() { e.ds = said }()
	e.ds = &diag.List{}
	return n.equation(eq)
}

// matches finds the inputs of the strategy at all tokens of the chunk.
func (s *chunkNames) matches() {
	for _, st := range s.e.blk.Strategy.Unit.Body {
		if d, ok := st.(*notation.Define); ok && d.Match {
			s.match(d)
		}
	}
}

// ofRule multiplies out the rule's equation whose form this is.
func (s *chunkNames) ofRule(target string) (*matchNames, []monomial, *multiplier) {
	e, whole := s.e, s.e.blk
	n := &matchNames{c: s, rule: whole.Strategy.Rule, vals: map[string]*ten{}, states: map[string]*ir.Value{}}
	eq := n.rule.Equation(target)
	if eq == nil {
		return nil, nil, nil // said
	}
	names, trace, now := e.names, e.trace, s.now
	e.blk, e.names, e.trace, s.now = n.rule, n, nil, varAff(e.token)
	defer func() { e.blk, e.names, e.trace, s.now = whole, names, trace, now }()
	t := n.c.build(eq, func() *ten { return e.equationValue(eq) })
	if t == nil {
		return nil, nil, nil
	}
	var unknowns []*ir.Value
	for _, v := range n.states {
		unknowns = append(unknowns, v)
		s.unknowns = append(s.unknowns, v)
	}
	m := newMultiplier(e, unknowns...)
	return n, m.out(t), m
}

// inputNames serves the names in a form.
type inputNames struct {
	e      *builder
	values map[string]*ir.Value
}

func (n *inputNames) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	axes, _, ok := e.declared(sym)
	if !ok {
		return nil
	}
	name := sym.Name
	switch eq := e.blk.Equation(sym.Name); {
	case sym.Kind == check.State && !sym.PerChunk() && when.before:
	case sym.Kind == check.State && !sym.PerChunk() && when.now:
		name += "_t"
	case eq == nil || !eq.Matched || !when.now:
		e.ds.Errorf(diag.NotSupported, span, "a form is made of the state and of inputs, and %s is neither", sym.Name).
			Hint("declare it: input %s ∈ …", sym.Name)
		return nil
	}
	if n.values[name] == nil {
		n.values[name] = e.f.AddParam(ident.ASCII(name), ir.Token, ir.Real, axes...)
	}
	return e.ofValue(n.values[name], nil, axes)
}

// patterns multiplies out a form.
func (s *chunkNames) patterns(d *notation.Define) ([]pattern, map[string]*check.Symbol) {
	e := newBuilder(s.e.blk, "form", s.e.ds)
	e.axes, e.sized = s.e.axes, s.e.sized
	n := &inputNames{e: e, values: map[string]*ir.Value{}}
	e.names = n
	said := e.ds
	e.ds = &diag.List{} // a form on another page is right, and the rule has other axes
	t := e.value(d.Value)
	if wrong := e.ds.Sorted(); len(wrong) > 0 && wrong[0].Code == diag.ShapeMismatch && d.Span.File != s.e.blk.Unit.Span.File {
		if !s.misfit { // the matches of a page have one cause then
			st := s.e.blk.Strategy
			said.Errorf(diag.StrategyDiffers, s.e.blk.Unit.Name.Span, "%s does not have the form that %s computes: there %s", st.Rule.Unit.Name.Text, st.Unit.Name.Text, wrong[0].Text).
				See(wrong[0].Span, "the form").Hint("a strategy names the axes of its inputs: give the rule those axes, or the state transposed")
		}
		s.misfit = true
		return nil, nil
	}
	said.Append(*e.ds)
	e.ds = said
	if t == nil {
		return nil, nil
	}
	var unknowns []*ir.Value
	symbols, states := map[*ir.Value]*check.Symbol{}, map[*ir.Value]string{}
	for name, v := range n.values {
		unknowns = append(unknowns, v)
		if sym := e.blk.Symbols[name]; sym != nil && sym.Kind == check.Defined {
			symbols[v] = sym
		} else {
			states[v] = name
		}
	}
	ms := newMultiplier(e, unknowns...).out(t)
	bad := func(format string, args ...any) ([]pattern, map[string]*check.Symbol) {
		e.ds.Errorf(diag.NotSupported, d.Value.Where(), format, args...).Hint("a form is a sum of products, in each of which the state stands at most once, and each input once")
		return nil, nil
	}
	if ms == nil {
		return bad("this form is more than sums of products")
	}
	var out []pattern
	inputs := map[string]*check.Symbol{}
	for _, m := range ms {
		reads, held, rest, ok := m.state(states, 0)
		if !ok {
			return bad("this form is not linear in its state")
		}
		p := pattern{coef: m.coef, reads: reads}
		for _, f := range rest {
			sym := symbols[f.val]
			if sym == nil || slices.ContainsFunc(p.places, func(q place) bool { return q.input == sym.Name }) {
				return bad("an input stands twice in a product of this form")
			}
			at := place{input: sym.Name}
			for _, x := range f.sub {
				i := x.slot
				if i < 0 {
					i = -1 - slices.Index(held, x.aff.single())
				}
				if i < -len(held) || i == 0 && x.slot < 0 || slices.Contains(at.open, i) {
					return bad("an input is summed here with another one")
				}
				at.open = append(at.open, i)
			}
			inputs[sym.Name] = sym
			p.places = append(p.places, at)
		}
		out = append(out, p)
	}
	return out, inputs
}

// match finds the inputs of a form.
func (s *chunkNames) match(d *notation.Define) {
	target := strings.TrimSuffix(d.Target.Name.Name.Text, "_t")
	patterns, inputs := s.patterns(d)
	if patterns == nil {
		return
	}
	n, ms, mul := s.ofRule(target)
	if n == nil {
		return
	}
	whole := s.e.blk
	refuse := func(format string, args ...any) {
		s.e.ds.Errorf(diag.StrategyDiffers, whole.Unit.Name.Span, "%s does not have the form that %s computes: %s", n.rule.Unit.Name.Text, whole.Strategy.Unit.Name.Text, fmt.Sprintf(format, args...)).
			See(n.rule.Equation(target).Span(), "the equation of %s", target).See(d.Span, "the form")
	}
	if ms == nil {
		refuse("%s depends on a state by more than products and sums", target)
		return
	}
	states := map[*ir.Value]string{}
	for name, v := range n.states {
		states[v] = name
	}
	shared := sharedInputs(patterns)
	for i := 0; i < len(ms); i++ {
		m := ms[i]
		reads, held, rest, ok := m.state(states, 1)
		if !ok {
			refuse("%s is not linear in one state", target)
			return
		}
		gs, ok := monomial{fs: rest, sums: m.sums}.components(held)
		if !ok {
			refuse("a term of %s is a sum over an axis of nothing that changes along it", target)
			return
		}
		if fits(patterns, reads, m.coef, gs, held, shared) {
			continue
		}
		// what is read at two open indices may be a sum or a product of others
		if terms, ok := mul.apart(m, gs, rest); ok && len(ms)+len(terms) <= maxMonomials {
			ms = slices.Insert(ms, i+1, terms...)
			continue
		}
		refuse("a term of %s, the product %s, is none of the form's", target, spelled(m))
		return
	}
	s.settle(d, patterns, inputs, shared, refuse)
}

// apart puts the definition of a factor in its place that is read, by itself or through an
// index that it shares with others, at two open indices.
func (m *multiplier) apart(p monomial, gs []component, rest []factor) ([]monomial, bool) {
	for _, f := range rest {
		in := slices.IndexFunc(gs, func(g component) bool {
			return len(g.open) > 1 && slices.ContainsFunc(g.fs, func(h factor) bool { return h.val == f.val })
		})
		if in < 0 || len(f.sub) < 2 {
			continue
		}
		k := slices.IndexFunc(p.fs, func(g factor) bool { return g.val == f.val })
		if terms, ok := m.substitute(p, k); ok {
			return terms, true
		}
	}
	return nil, false
}

// settle builds the inputs from what stands for them.
func (s *chunkNames) settle(d *notation.Define, ps []pattern, inputs map[string]*check.Symbol, shared map[string]bool, refuse func(string, ...any)) {
	keys := map[string]string{} // of shared inputs
	sums := map[string][]fitted{}
	at := map[string]int{}
	for _, p := range ps {
		p.gather(shared)
		if len(p.terms) == 0 {
			if !slices.ContainsFunc(p.places, func(q place) bool { return !shared[q.input] }) {
				refuse("it lacks a term of the form that has no input of its own")
				return
			}
			continue
		}
		differs := -1
		for k, q := range p.places {
			first := key(p.terms[0].values[k])
			same := !slices.ContainsFunc(p.terms, func(f fitted) bool {
				return key(f.values[k]) != first || f.scalar == k && f.coef != p.terms[0].coef
			})
			switch {
			case same:
			case differs >= 0 || shared[q.input]:
				refuse("%d of its terms are one in the form, and they differ by more than one factor; equal factors need one name", len(p.terms))
				return
			default:
				differs = k
			}
			if shared[q.input] && keys[q.input] != "" && keys[q.input] != first+"." {
				refuse("what would be %s is not the same in all its terms; where it is, give it one name", q.input)
				return
			}
			keys[q.input] = first + "."
		}
		if differs < 0 && len(p.terms) > 1 {
			differs = p.terms[0].scalar
		}
		for k, q := range p.places {
			if sums[q.input] != nil {
				continue
			}
			at[q.input] = k
			sums[q.input] = p.terms[:1]
			if k == differs {
				sums[q.input] = p.terms
			}
		}
	}
	for _, eq := range s.e.blk.Eqs {
		if sym := inputs[eq.Name]; sym != nil {
			s.vals[eq.Name] = s.found(d, sym, sums[eq.Name], at[eq.Name])
		}
	}
}

// found is an input as the sum of what stands for it, at all tokens of the chunk.
func (s *chunkNames) found(d *notation.Define, sym *check.Symbol, terms []fitted, k int) *ten {
	e := s.e
	id, at := e.eq, e.span
	defer func() { e.eq, e.span = id, at }()
	eq := e.blk.Equation(sym.Name)
	e.eq, e.span = eq.ID, d.Span
	axes, _, ok := e.declared(sym)
	if !ok {
		return nil
	}
	token := []*loopVar{e.token}
	out := &ten{axes: axes, elem: ir.Real}
	for i, f := range terms {
		t := &ten{axes: axes, elem: ir.Real, coef: 1}
		if f.scalar == k {
			t.coef = f.coef
		}
		var sums []*loopVar
		for _, g := range f.values[k] {
			t.fs, sums = append(t.fs, g.fs...), append(sums, g.sums...)
		}
		if len(sums) > 0 {
			t = e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: axes, out: len(axes), args: t.place(upTo(len(axes))), sum: sums, keep: token})
		}
		if i == 0 {
			out = t
			continue
		}
		out = e.sum(nil, out, t, 1)
	}
	if len(out.fs) == 0 {
		return out // zero, or one
	}
	return e.ofValue(e.named(e.pack(out, token), sym.Name), token, axes)
}

// spelled is a monomial for a message: the names of its factors.
func spelled(m monomial) string {
	var names []string
	for _, f := range m.fs {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.val.Name, "%"), ".")
		if name == "" {
			name = "…"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("the number %g", m.coef)
	}
	return strings.Join(names, "·")
}
