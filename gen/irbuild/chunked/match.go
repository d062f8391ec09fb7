package chunked

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/form"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The inputs of a strategy are found by comparing coefficients (package form). The
// equation of the rule and the form are expanded into monomials of the state; each
// monomial of the rule has to be one of the form with values in the place of the
// inputs. Two monomials are comparable where they read the state at the same
// indices. The other factors of a monomial of the rule fall into components by the
// indices at which they are read, and each component goes to an input that has these
// indices: so θ M k kᵀ is M b wᵀ with b = θ k and w = k. Several monomials of the rule
// may go to one of the form if they differ in one input, which then is their sum.

// matchForms finds the inputs of the strategy at all tokens of the chunk.
func (s *chunk) matchForms() {
	for d := range notation.Of[*notation.Define](s.e.Block.Strategy.Unit.Body) {
		if d.Match {
			s.match(d)
		}
	}
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
		if terms, ok := substituteOpen(mul, m, gs, rest); ok && len(ms)+len(terms) <= form.MaxMonomials {
			ms = slices.Insert(ms, i+1, terms...)
			continue
		}
		refuse("a term of %s, the product %s, is not one of the form", target, spell(m))
		return
	}
	s.resolveInputs(d, patterns, inputs, shared, refuse)
}

// resolveInputs determines the value of each input from the terms that were assigned to
// it, and builds the inputs. Terms of one pattern may differ in one input, which then is
// their sum; a shared input must have the same value in all terms.
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
				refuse("the value of %s differs between the terms that it occurs in; equal values need one name", q.Input)
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

// buildInput is an input as the sum of its values, at all tokens of the chunk.
func (s *chunk) buildInput(d *notation.Define, sym *check.Symbol, terms []form.Fit, k int) *tensor.Tensor {
	e := s.e
	defer e.SaveOrigin()()
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
