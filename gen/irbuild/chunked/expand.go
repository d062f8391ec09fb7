package chunked

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/form"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Expansion of the equation of a rule, and of the form of a strategy, into monomials.

// inputNames serves the names in a form.
type inputNames struct {
	e      *expr.Builder
	values map[string]*ir.Value
}

// Resolve finds the value of a name in a form: a state, or an input of the strategy.
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

// expandForm expands a form into patterns and lists its inputs.
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
	bad := func(what string) ([]form.Pattern, map[string]*check.Symbol) {
		e.Diags.Errorf(diag.NotSupported, d.Value.Where(), "%s", what).Hint("a form is a sum of products, each of which has the state at most once, and each input once")
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
				return bad("an input occurs twice in a product of this form")
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

// substituteOpen substitutes the definition of a factor that is read at two open indices,
// by itself or through an index that it shares with others: it may be a sum or a product
// of values that are read at one.
func substituteOpen(m *form.Expander, p form.Monomial, gs []form.Component, rest []tensor.Factor) ([]form.Monomial, bool) {
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

// A matchNames serves the names of a rule while its equation is built for all tokens of a
// chunk, with its states as unknowns.
type matchNames struct {
	c      *chunk
	rule   *check.Block
	vals   map[string]*tensor.Tensor
	states map[string]*ir.Value // unknowns: M before the token, and M_t after it
}

// Resolve finds the value of a name of the rule, with its states as unknowns.
func (n *matchNames) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	eq := n.rule.Equation(sym.Name)
	switch {
	case sym.Kind == check.State && !sym.PerChunk() && (when.Before || when.Now):
		return n.state(sym, when)
	case eq != nil && eq.Class == check.Recurrent && sym.Kind == check.Defined && when.Now:
		return n.equation(eq)
	case eq != nil && eq.Class == check.Recurrent, sym.Kind == check.Anchor, sym.Kind == check.Snap, sym.Kind == check.State:
		e.Diags.Errorf(diag.NotSupported, span, "%s is read here, and an equation that is matched reads states only before a token and after it", sym.Name)
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

// matrix builds an equation of a matrix for all tokens of the chunk, though it depends on
// no state, so that it can be expanded into inputs of the form. Where that fails it is
// nil, and the name is read as a series.
func (n *matchNames) matrix(eq *check.Equation, when expr.Time) *tensor.Tensor {
	if eq == nil || eq.Class != check.Parallel || !when.Now {
		return nil
	}
	if t := n.c.series.Values[eq.Name]; t == nil || len(t.Axes) < 2 {
		return nil
	}
	return n.c.e.Quietly(func() *tensor.Tensor { return n.equation(eq) })
}

// expandRule expands the equation of the rule that a form matches.
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
