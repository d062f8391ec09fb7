package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Two knobs of a formula may each have an option of one name. Neither knows of
// the other, and the parentheses behind a knob's name say whose option is meant,
// `One(λ = 0.1) + Two(λ = 1e-3)`. In the rule that is written out each is called
// after its page, λ_One and λ_Two, and so are the fields of what is emitted. An
// option of a structure, a front or the rule itself keeps its name; those three
// read each other's names, so between them a name can be used once.

// renamed is what a formula sets of a knob, with the names that its options have
// in the rule.
func (e *expander) renamed(s source) []*notation.Override {
	var out []*notation.Override
	for _, o := range s.set {
		if m := (meant{s.unit, o.Name.Text}); e.private(m) {
			c := *o
			c.Name = (&substitution{e: e, unit: s.unit}).word(o.Name)
			o = &c
		}
		out = append(out, o)
	}
	return out
}

// sized is a type whose sizes are called as the rule calls them.
func (s *substitution) sized(t *notation.Type) *notation.Type {
	if t == nil || !slices.ContainsFunc(t.Shape, s.own) {
		return t
	}
	c := *t
	c.Shape = nil
	for _, x := range t.Shape {
		c.Shape = append(c.Shape, notation.Rewrite(x, func(n notation.Expr) notation.Expr {
			if id, ok := n.(*notation.Ident); ok && s.own(id) {
				d := *id
				d.Name = s.word(id.Name)
				return &d
			}
			return nil
		}))
	}
	return &c
}

// owns reports whether a name is an option of the page that is called otherwise
// in the rule.
func (s *substitution) owns(name string) bool {
	return units.HasOption(s.unit, name) && s.e.private(meant{s.unit, name})
}

// own reports whether an option of the page with a name of its own stands in an
// expression.
func (s *substitution) own(x notation.Expr) bool {
	found := false
	notation.Inspect(x, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			found = found || s.owns(id.Name.Text)
		}
		return !found
	})
	return found
}

// PageName is what an option is called on the page that declares it.
func (o *Option) PageName() string {
	name := o.Name
	for !units.HasOption(o.Unit, name) {
		short, cut := strings.CutSuffix(name, "_"+o.Unit.Name.Text)
		if !cut {
			break
		}
		name = short
	}
	return name
}

// whose tells who set an option by a name that two knobs use how to say which
// of them is meant.
func (in *instancer) whose(d *diag.Diagnostic, name string) *diag.Diagnostic {
	var say []string
	for _, at := range slices.Sorted(maps.Keys(in.b.Options)) {
		if o := in.b.Options[at]; at != name && o.PageName() == name {
			say = append(say, o.Unit.Name.Text+"("+name+" = …)")
			d.See(o.Decl.Span, "%s has an option %s", o.Unit.Name.Text, name)
		}
	}
	if len(say) > 0 {
		d.Hint("say whose: %s", strings.Join(say, " or "))
	}
	return d
}
