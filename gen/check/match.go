package check

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A strategy may say which form a rule must have instead of reading the rule's
// own names:
//
//	input a ∈ ℝ^{d_k}, v ∈ ℝ^{d_v}, k ∈ ℝ^{d_k}
//	match M_t = M_{t−1} diag(a_t) + v_t k_tᵀ
//
// The inputs of such a strategy are coefficients. They are found in the rule's
// equation of M, multiplied out; the builder of programs does that, because
// gradients are derived there. Here the names are resolved: each input becomes
// an equation that reads what the rule's equation reads, M means the rule's one
// state whatever the rule calls it, and a name of the strategy that the rule
// has too is renamed, so that the rule's own stays what it is.

// matchOf is the form of a strategy in which an input occurs, or nil.
func matchOf(st *notation.Unit, input string) *notation.Define {
	for _, s := range st.Body {
		if d, ok := s.(*notation.Define); ok && d.Match && readsAt(d.Value, input) {
			return d
		}
	}
	return nil
}

// readsAt reports whether an expression reads a name at t.
func readsAt(x notation.Expr, name string) bool {
	found := false
	notation.Inspect(x, func(n any) bool {
		id, ok := n.(*notation.Ident)
		found = found || ok && id.Name.Text == name+"_"+notation.TokenTime
		return true
	})
	return found
}

// matched refuses a rule that lacks a state whose equation its strategy matches.
func (in *instancer) matched(at notation.Span) bool {
	rule := in.b.Strategy.Rule
	for _, st := range in.b.Strategy.Unit.Body {
		d, ok := st.(*notation.Define)
		if !ok || !d.Match {
			continue
		}
		name := notation.Base(d.Target.Name.Name.Text)
		if s := rule.Symbols[name]; rule.Equation(name) == nil || name != "y" && s.Kind != State {
			in.ds.Errorf(diag.StrategyDiffers, at, "%s has no state %s, whose equation is matched", rule.Unit.Name.Text, name).
				See(d.Span, "matched here").Hint("%s", stateHint(rule))
			return false
		}
	}
	return true
}

// match refuses what no match can say.
func (in *instancer) match(u *notation.Unit, d *notation.Define) {
	if u.Kind != notation.StrategyUnit {
		in.ds.Errorf(diag.NotHere, d.Span, "only a strategy matches the equations of a rule").Hint("take match away: an equation of the page's own needs no word before it")
		return
	}
	if len(d.With) > 0 || len(d.Target.Index) > 0 || d.Target.IsFunc || d.InLog || d.Family != nil || !strings.HasSuffix(d.Target.Name.Name.Text, "_"+notation.TokenTime) {
		in.ds.Errorf(diag.NotSupported, d.Span, "a match is one equation of a state or of y at %s, without indices and local definitions", notation.TokenTime).
			Hint("write match M_t = …")
	}
}

// stateHint names the states of a rule.
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
func (in *instancer) coefficients(u *notation.Unit, s *notation.Declare) {
	for _, n := range s.Names {
		d := matchOf(u, n.Name.Text)
		if d == nil {
			in.ds.Errorf(diag.MissingEquation, n.Span, "no match of %s reads %s_%s", u.Name.Text, n.Name.Text, notation.TokenTime).
				Hint("an input of a strategy is found by a match: match M_t = …")
			continue
		}
		in.symbol(&Symbol{Name: n.Name.Text, Kind: Defined, Decl: n, Type: n.Type, Span: n.Name.Span, Unit: u})
		in.defs = append(in.defs, &Equation{Name: n.Name.Text, ID: in.b.ID + "." + ident.ASCII(n.Name.Text), Def: d, Matched: true, Timed: true, Unit: u})
	}
}

// found lists what a coefficient is found in: all that the rule's equation reads.
func (o *orderer) found(e *Equation) []read {
	if o.b.Strategy == nil {
		return nil // a strategy without a rule
	}
	if eq := o.b.Strategy.Rule.Equation(notation.Base(e.Def.Target.Name.Name.Text)); eq != nil {
		return o.reads(eq)
	}
	return nil
}
