package proof

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// Every statement of a page has a verdict: one that is proved elsewhere is listed as such, and
// one that is proved nowhere is refused.

// DeferStatements lists the statements of a unit that means something only where it is used.
func (p *Context) DeferStatements() {
	deferred := Evidence{Verdict: Declared, Elsewhere: true, Note: "means something only where it is used, and is proved there"}
	p.Add(Item{Kind: Shape, Name: "types", Span: p.Unit.Span, Evidence: deferred})
	for i, st := range p.Unit.Body {
		it := Item{Span: st.Where(), Evidence: deferred}
		switch s := st.(type) {
		case *notation.Claim:
			if units.OfFunctions(s) {
				continue
			}
			it.Kind, it.Name = ClaimKinds[s.Keyword.Text], ClaimName(s)
		case *notation.Kink:
			it.Kind, it.Name = Kink, notation.Print(s.Left, notation.ASCII)
		case *notation.Invariant:
			it.Kind, it.Name = Invariant, InvariantName(s, i)
		case *notation.Cost:
			it.Kind, it.Name = Cost, s.Name.Text
		case *notation.Provides:
			for _, m := range s.Marks {
				it.Kind, it.Name, it.Text = Marker, MarkID(m.Name.Text, MarkText(m)), MarkText(m)
				if s.Needs {
					it.Kind = Requires
				}
				p.Add(it)
			}
			continue
		default:
			continue
		}
		it.Text = notation.Print(st, notation.Unicode)
		p.Add(it)
	}
}

// RefuseStatements refuses the lines of a unit whose kinds are not proved of such units.
func (p *Context) RefuseStatements(kinds ...Kind) {
	for _, st := range p.Block.Unit.Body {
		kind, at := Kind(0), st.Where()
		switch s := st.(type) {
		case *notation.Kink:
			kind = Kink
		case *notation.Invariant:
			kind = Invariant
		case *notation.Cost:
			kind = Cost
		case *notation.Provides:
			if kind = Marker; s.Needs {
				kind = Requires
			}
		case *notation.Special:
			kind = Special
		}
		if !slices.Contains(kinds, kind) {
			continue
		}
		p.Add(Item{Kind: kind, Name: "line", Text: notation.Print(st, notation.Unicode), Span: at, Evidence: Failure("not proved here")})
		p.Diags.Errorf(diag.NotProvable, at, "a %s is not proved of %s", kind, units.KindName(p.Block.Unit.Kind)).
			Hint("say it on the page of an operation or of a rule, or in words")
	}
}

// OwnStatements selects the statements that the unit must prove: its own, and those of knobs,
// which are proved inside formulas only.
func OwnStatements[S interface {
	comparable
	Where() source.Span
}](p *Context, all []S) []S {
	var out []S
	for _, s := range all {
		if p.states(s.Where()) {
			out = append(out, s)
		}
	}
	return out
}

// states reports whether a line belongs to the unit, to the unit that it is an instance of,
// or to a page that can only be proved inside a formula.
func (p *Context) states(at source.Span) bool {
	for _, u := range p.Tree.Order {
		if u != p.Unit && u != p.Block.Unit && (u.Kind == notation.BiasUnit || p.Block.Unit.Kind != notation.RuleUnit) {
			for _, s := range u.Body {
				if s.Where() == at {
					return false
				}
			}
		}
	}
	return true
}
