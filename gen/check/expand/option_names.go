package expand

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Two knobs of a formula may each have an option of one name: the parentheses after the
// name of a knob say whose is set, `One(λ = 0.1) + Two(λ = 1e-3)`. In the rule that is
// written out the name of the page is a suffix, λ_One and λ_Two, and so are the fields of
// the emitted code. An option of a structure, a front or the rule itself keeps its name;
// these three read each other's names, so a name is used once among them.

// renamed returns what a formula sets of a knob, with the names of the options in the
// rule.
func (e *expander) renamed(s Source) []*notation.Override {
	var out []*notation.Override
	for _, o := range s.Set {
		if m := (qualified{s.Unit, o.Name.Text}); e.needsPageSuffix(m) {
			c := *o
			c.Name = (&substitution{e: e, unit: s.Unit}).word(o.Name)
			o = &c
		}
		out = append(out, o)
	}
	return out
}

// renameSizes is a type with the names of the rule for its sizes.
func (s *substitution) renameSizes(t *notation.Type) *notation.Type {
	renames := func(x notation.Expr) bool {
		return notation.Mentions(x, func(id *notation.Ident) bool { return s.renamesOption(id.Name.Text) })
	}
	if t == nil || !slices.ContainsFunc(t.Shape, renames) {
		return t // the same node: names that share a type go on sharing it
	}
	return notation.Copy(t, func(x notation.Expr) notation.Expr {
		return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
			if id, ok := n.(*notation.Ident); ok && s.renamesOption(id.Name.Text) {
				d := *id
				d.Name = s.word(id.Name)
				return &d
			}
			return nil
		})
	})
}

// renamesOption reports whether a name is an option of the page with another name in the
// rule.
func (s *substitution) renamesOption(name string) bool {
	return units.HasOption(s.unit, name) && s.e.needsPageSuffix(qualified{s.unit, name})
}
