package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy may say which form a rule must have instead of reading the rule's names:
//
//	input a ∈ ℝ^{d_k}, v ∈ ℝ^{d_v}, k ∈ ℝ^{d_k}
//	match M_t = M_{t−1} diag(a_t) + v_t k_tᵀ
//
// The inputs of such a strategy are coefficients. They are found in the rule's equation of
// M, multiplied out, by the builder of programs, because gradients are derived there. Here
// each input becomes an equation that reads what the rule's equation reads. The renaming of
// the strategy's names is in package expand.

// matchOf is the match of a strategy that reads an input, or nil.
func matchOf(st *notation.Unit, input string) *notation.Define {
	for d := range notation.Of[*notation.Define](st.Body) {
		if d.Match && notation.Mentions(d.Value, func(id *notation.Ident) bool { return notation.Base(id.Name.Text) == input && id.Name.Text != input }) {
			return d
		}
	}
	return nil
}

// checkMatchedStates refuses a rule without a state whose equation its strategy matches.
func (r *resolver) checkMatchedStates(at notation.Span) bool {
	rule := r.b.Strategy.Rule
	for d := range notation.Of[*notation.Define](r.b.Strategy.Unit.Body) {
		if !d.Match {
			continue
		}
		name := notation.Base(d.Target.Name.Name.Text)
		if s := rule.Symbols[name]; rule.Equation(name) == nil || name != "y" && s.Kind != State {
			r.ds.Errorf(diag.StrategyDiffers, at, "%s has no state %s, whose equation is matched", rule.Unit.Name.Text, name).
				See(d.Span, "matched here").Hint("%s", stateHint(rule))
			return false
		}
	}
	return true
}

// checkMatch refuses a match outside of a strategy, and one with local definitions or
// indices.
func (r *resolver) checkMatch(u *notation.Unit, d *notation.Define) {
	if u.Kind != notation.StrategyUnit {
		r.ds.Errorf(diag.NotHere, d.Span, "only a strategy matches the equations of a rule").Hint("take match away: an equation of the page's own needs no word before it")
		return
	}
	if len(d.With) > 0 || len(d.Target.Index) > 0 || d.Target.IsFunc || d.InLog || d.Family != nil || !strings.HasSuffix(d.Target.Name.Name.Text, "_"+notation.TokenTime) {
		r.ds.Errorf(diag.NotSupported, d.Span, "a match is one equation of a state or of y at %s, without indices and local definitions", notation.TokenTime).
			Hint("write match M_t = …")
	}
}

// stateHint is a hint with the states of a rule.
func stateHint(rule *Block) string {
	var names []string
	for _, s := range rule.SymSeq {
		if s.Kind == State {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "it has no state"
	}
	return "its states are " + strings.Join(names, ", ") + "; where there is one, that is matched"
}

// coefficients declares the inputs of a strategy.
func (r *resolver) coefficients(u *notation.Unit, s *notation.Declare) {
	for _, n := range s.Names {
		d := matchOf(u, n.Name.Text)
		if d == nil {
			r.ds.Errorf(diag.MissingEquation, n.Span, "no match of %s reads %s_%s", u.Name.Text, n.Name.Text, notation.TokenTime).
				Hint("an input of a strategy is found by a match: match M_t = …")
			continue
		}
		r.symbol(&Symbol{Name: n.Name.Text, Kind: Defined, Decl: n, Type: n.Type, Span: n.Name.Span, Unit: u})
		r.defs = append(r.defs, &Equation{Name: n.Name.Text, ID: r.b.ID + "." + ident.ASCII(n.Name.Text), Def: d, Matched: true, Timed: true, Unit: u})
	}
}

// matched lists what a coefficient depends on: all that the matched equation reads.
func (rd reader) matched(e *Equation) []read {
	if rd.b.Strategy == nil {
		return nil // a strategy without a rule
	}
	if eq := rd.b.Strategy.Rule.Equation(notation.Base(e.Def.Target.Name.Name.Text)); eq != nil {
		return rd.reads(eq)
	}
	return nil
}
