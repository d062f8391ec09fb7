package chunked

import (
	"fmt"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/form"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
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
	c      *chunk
	rule   *check.Block
	vals   map[string]*tensor.Tensor
	states map[string]*ir.Value // unknowns: M before the token, and M_t after it
}

func (n *matchNames) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := n.rule.Equation(sym.Name)
	switch {
	case sym.Kind == check.State && !sym.PerChunk() && (when.Before || when.Now):
		return n.state(sym, when)
	case eq != nil && eq.Class == check.Recurrent && sym.Kind == check.Defined && when.Now:
		return n.equation(eq)
	case eq != nil && eq.Class == check.Recurrent, sym.Kind == check.Anchor, sym.Kind == check.Snap, sym.Kind == check.State:
		e.Diags.Errorf(diag.NotSupported, span, "%s is read here, and what is matched reads states before a token and after it alone", sym.Name)
		return nil
	}
	if t := n.matrix(eq, when); t != nil {
		return t
	}
	outer := n.c.outer
	old := outer.Block
	outer.Block = n.rule
	defer func() { outer.Block = old }()
	return n.c.input(sym, when, span)
}

// state is a state as an unknown.
func (n *matchNames) state(sym *check.Symbol, when expr.Time) *tensor.Tensor {
	e := n.c.e
	axes, _, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	name := sym.Name
	if when.Now {
		name += "_t"
	}
	if n.states[name] == nil {
		n.states[name] = e.Func.AddParam(ident.ASCII(name)+".unknown", ir.Token, ir.Real, append([]*ir.Axis{e.Token.Axis}, axes...)...)
	}
	return e.FromValue(n.states[name], []*tensor.LoopVar{e.Token}, axes)
}

// equation is an equation of the rule for all tokens of the chunk.
func (n *matchNames) equation(eq *check.Equation) *tensor.Tensor {
	if t, ok := n.vals[eq.Name]; ok {
		return t
	}
	n.vals[eq.Name] = nil
	n.vals[eq.Name] = n.c.build(eq, func() *tensor.Tensor { return n.c.e.Equation(eq) })
	return n.vals[eq.Name]
}

// matrix is an equation of a matrix for all tokens of the chunk, though no state is
// behind it: what it is made of may be what the pattern has. nil leaves it a series.
func (n *matchNames) matrix(eq *check.Equation, when expr.Time) *tensor.Tensor {
	if eq == nil || eq.Class != check.Parallel || !when.Now {
		return nil
	}
	if t := n.c.series.Values[eq.Name]; t == nil || len(t.Axes) < 2 {
		return nil
	}
	e := n.c.e
	said := e.Diags
	defer func() { e.Diags = said }()
	e.Diags = &diag.List{}
	return n.equation(eq)
}

// matchForms finds the inputs of the strategy at all tokens of the chunk.
func (s *chunk) matchForms() {
	for _, st := range s.e.Block.Strategy.Unit.Body {
		if d, ok := st.(*notation.Define); ok && d.Match {
			s.match(d)
		}
	}
}

// expandRule multiplies out the rule's equation whose form this is.
func (s *chunk) expandRule(target string) (*matchNames, []form.Monomial, *form.Expander) {
	e, whole := s.e, s.e.Block
	n := &matchNames{c: s, rule: whole.Strategy.Rule, vals: map[string]*tensor.Tensor{}, states: map[string]*ir.Value{}}
	eq := n.rule.Equation(target)
	if eq == nil {
		return nil, nil, nil // said
	}
	names, now := e.Names, s.now
	e.Block, e.Names, s.now = n.rule, n, tensor.AffineOf(e.Token)
	defer func() { e.Block, e.Names, s.now = whole, names, now }()
	t := n.c.build(eq, func() *tensor.Tensor { return e.Equation(eq) })
	if t == nil {
		return nil, nil, nil
	}
	var unknowns []*ir.Value
	for _, v := range n.states {
		unknowns = append(unknowns, v)
		s.unknowns = append(s.unknowns, v)
	}
	m := form.NewExpander(e.Emitter, unknowns...)
	return n, m.Expand(t), m
}

// inputNames serves the names in a form.
type inputNames struct {
	e      *expr.Builder
	values map[string]*ir.Value
}

func (n *inputNames) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	axes, _, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	name := sym.Name
	switch eq := e.Block.Equation(sym.Name); {
	case sym.Kind == check.State && !sym.PerChunk() && when.Before:
	case sym.Kind == check.State && !sym.PerChunk() && when.Now:
		name += "_t"
	case eq == nil || !eq.Matched || !when.Now:
		e.Diags.Errorf(diag.NotSupported, span, "a form is made of the state and of inputs, and %s is neither", sym.Name).
			Hint("declare it: input %s ∈ …", sym.Name)
		return nil
	}
	if n.values[name] == nil {
		n.values[name] = e.Func.AddParam(ident.ASCII(name), ir.Token, ir.Real, axes...)
	}
	return e.FromValue(n.values[name], nil, axes)
}

// expandForm multiplies out a form.
func (s *chunk) expandForm(d *notation.Define) ([]form.Pattern, map[string]*check.Symbol) {
	e := expr.New(s.e.Block, "form", s.e.Diags)
	e.Axes, e.Sized = s.e.Axes, s.e.Sized
	n := &inputNames{e: e, values: map[string]*ir.Value{}}
	e.Names = n
	said := e.Diags
	e.Diags = &diag.List{} // a form on another page is right, and the rule has other axes
	t := e.Value(d.Value)
	if wrong := e.Diags.Sorted(); len(wrong) > 0 && wrong[0].Code == diag.ShapeMismatch && d.Span.File != s.e.Block.Unit.Span.File {
		if !s.formMismatch { // the matches of a page have one cause then
			st := s.e.Block.Strategy
			said.Errorf(diag.StrategyDiffers, s.e.Block.Unit.Name.Span, "%s does not have the form that %s computes: there %s", st.Rule.Unit.Name.Text, st.Unit.Name.Text, wrong[0].Text).
				See(wrong[0].Span, "the form").Hint("a strategy names the axes of its inputs: give the rule those axes, or the state transposed")
		}
		s.formMismatch = true
		return nil, nil
	}
	said.Append(*e.Diags)
	e.Diags = said
	if t == nil {
		return nil, nil
	}
	var unknowns []*ir.Value
	symbols, states := map[*ir.Value]*check.Symbol{}, map[*ir.Value]string{}
	for name, v := range n.values {
		unknowns = append(unknowns, v)
		if sym := e.Block.Symbols[name]; sym != nil && sym.Kind == check.Defined {
			symbols[v] = sym
		} else {
			states[v] = name
		}
	}
	ms := form.NewExpander(e.Emitter, unknowns...).Expand(t)
	bad := func(format string, args ...any) ([]form.Pattern, map[string]*check.Symbol) {
		e.Diags.Errorf(diag.NotSupported, d.Value.Where(), format, args...).Hint("a form is a sum of products, in each of which the state stands at most once, and each input once")
		return nil, nil
	}
	if ms == nil {
		return bad("this form is more than sums of products")
	}
	var out []form.Pattern
	inputs := map[string]*check.Symbol{}
	for _, m := range ms {
		reads, held, rest, ok := m.SplitState(states, 0)
		if !ok {
			return bad("this form is not linear in its state")
		}
		p := form.Pattern{Coef: m.Coef, Reads: reads}
		for _, f := range rest {
			sym := symbols[f.Val]
			if sym == nil || slices.ContainsFunc(p.Places, func(q form.Place) bool { return q.Input == sym.Name }) {
				return bad("an input stands twice in a product of this form")
			}
			at := form.Place{Input: sym.Name}
			for _, x := range f.Sub {
				i := x.Visible
				if i < 0 {
					i = -1 - slices.Index(held, x.Affine.Var())
				}
				if i < -len(held) || i == 0 && x.Visible < 0 || slices.Contains(at.Open, i) {
					return bad("an input is summed here with another one")
				}
				at.Open = append(at.Open, i)
			}
			inputs[sym.Name] = sym
			p.Places = append(p.Places, at)
		}
		out = append(out, p)
	}
	return out, inputs
}

// match finds the inputs of a form.
func (s *chunk) match(d *notation.Define) {
	target := strings.TrimSuffix(d.Target.Name.Name.Text, "_t")
	patterns, inputs := s.expandForm(d)
	if patterns == nil {
		return
	}
	n, ms, mul := s.expandRule(target)
	if n == nil {
		return
	}
	whole := s.e.Block
	refuse := func(format string, args ...any) {
		s.e.Diags.Errorf(diag.StrategyDiffers, whole.Unit.Name.Span, "%s does not have the form that %s computes: %s", n.rule.Unit.Name.Text, whole.Strategy.Unit.Name.Text, fmt.Sprintf(format, args...)).
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
	shared := form.SharedInputs(patterns)
	for i := 0; i < len(ms); i++ {
		m := ms[i]
		reads, held, rest, ok := m.SplitState(states, 1)
		if !ok {
			refuse("%s is not linear in one state", target)
			return
		}
		gs, ok := form.Monomial{Factors: rest, Sums: m.Sums}.Components(held)
		if !ok {
			refuse("a term of %s is a sum over an axis of nothing that changes along it", target)
			return
		}
		if form.Assign(patterns, reads, m.Coef, gs, held, shared) {
			continue
		}
		// what is read at two open indices may be a sum or a product of others
		if terms, ok := apart(mul, m, gs, rest); ok && len(ms)+len(terms) <= form.MaxMonomials {
			ms = slices.Insert(ms, i+1, terms...)
			continue
		}
		refuse("a term of %s, the product %s, is none of the form's", target, spell(m))
		return
	}
	s.resolveInputs(d, patterns, inputs, shared, refuse)
}

// apart puts the definition of a factor in its place that is read, by itself or through an
// index that it shares with others, at two open indices.
func apart(m *form.Expander, p form.Monomial, gs []form.Component, rest []tensor.Factor) ([]form.Monomial, bool) {
	for _, f := range rest {
		in := slices.IndexFunc(gs, func(g form.Component) bool {
			return len(g.Open) > 1 && slices.ContainsFunc(g.Factors, func(h tensor.Factor) bool { return h.Val == f.Val })
		})
		if in < 0 || len(f.Sub) < 2 {
			continue
		}
		k := slices.IndexFunc(p.Factors, func(g tensor.Factor) bool { return g.Val == f.Val })
		if terms, ok := m.Substitute(p, k); ok {
			return terms, true
		}
	}
	return nil, false
}

// resolveInputs builds the inputs from what stands for them.
func (s *chunk) resolveInputs(d *notation.Define, ps []form.Pattern, inputs map[string]*check.Symbol, shared map[string]bool, refuse func(string, ...any)) {
	keys := map[string]string{} // of shared inputs
	sums := map[string][]form.Fit{}
	at := map[string]int{}
	for _, p := range ps {
		p.MoveScalars(shared)
		if len(p.Terms) == 0 {
			if !slices.ContainsFunc(p.Places, func(q form.Place) bool { return !shared[q.Input] }) {
				refuse("it lacks a term of the form that has no input of its own")
				return
			}
			continue
		}
		differs := -1
		for k, q := range p.Places {
			first := form.Key(p.Terms[0].Values[k])
			same := !slices.ContainsFunc(p.Terms, func(f form.Fit) bool {
				return form.Key(f.Values[k]) != first || f.Scalar == k && f.Coef != p.Terms[0].Coef
			})
			switch {
			case same:
			case differs >= 0 || shared[q.Input]:
				refuse("%d of its terms are one in the form, and they differ by more than one factor; equal factors need one name", len(p.Terms))
				return
			default:
				differs = k
			}
			if shared[q.Input] && keys[q.Input] != "" && keys[q.Input] != first+"." {
				refuse("what would be %s is not the same in all its terms; where it is, give it one name", q.Input)
				return
			}
			keys[q.Input] = first + "."
		}
		if differs < 0 && len(p.Terms) > 1 {
			differs = p.Terms[0].Scalar
		}
		for k, q := range p.Places {
			if sums[q.Input] != nil {
				continue
			}
			at[q.Input] = k
			sums[q.Input] = p.Terms[:1]
			if k == differs {
				sums[q.Input] = p.Terms
			}
		}
	}
	for _, eq := range s.e.Block.Eqs {
		if sym := inputs[eq.Name]; sym != nil {
			s.vals[eq.Name] = s.buildInput(d, sym, sums[eq.Name], at[eq.Name])
		}
	}
}

// buildInput is an input as the sum of what stands for it, at all tokens of the chunk.
func (s *chunk) buildInput(d *notation.Define, sym *check.Symbol, terms []form.Fit, k int) *tensor.Tensor {
	e := s.e
	id, at := e.Eq, e.Span
	defer func() { e.Eq, e.Span = id, at }()
	eq := e.Block.Equation(sym.Name)
	e.Eq, e.Span = eq.ID, d.Span
	axes, _, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	token := []*tensor.LoopVar{e.Token}
	out := tensor.Number(0).Over(axes)
	for i, f := range terms {
		t := tensor.Number(1).Over(axes)
		if f.Scalar == k {
			t.Coef = f.Coef
		}
		var sums []*tensor.LoopVar
		for _, g := range f.Values[k] {
			t.Factors, sums = append(t.Factors, g.Factors...), append(sums, g.Sums...)
		}
		if len(sums) > 0 {
			m := tensor.Product(t)
			m.Sum, m.Keep = sums, token
			t = e.Emit(m)
		}
		if i == 0 {
			out = t
			continue
		}
		out = e.Add(out, t, 1)
	}
	if len(out.Factors) == 0 {
		return out // zero, or one
	}
	return e.FromValue(e.Named(e.ValueOver(out, token), sym.Name), token, axes)
}

// spell is a monomial for a message: the names of its factors.
func spell(m form.Monomial) string {
	var names []string
	for _, f := range m.Factors {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Val.Name, "%"), ".")
		if name == "" {
			name = "…"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("the number %g", m.Coef)
	}
	return strings.Join(names, "·")
}
