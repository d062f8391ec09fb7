package check

import (
	"math"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// heads finds the option that says how often the rule stands side by side, option
// heads ≥ 1 = 1 replicate. Where nobody sets it the rule is as its page has it; what a
// rule sets is the default of a size of the model.
func (in *instancer) heads() {
	var found *notation.DeclName
	for _, s := range in.srcs {
		for _, st := range s.Body {
			d, ok := st.(*notation.Declare)
			if !ok || d.Keyword.Text != "option" {
				continue
			}
			for _, n := range d.Names {
				a := attribute(n, "replicate")
				switch {
				case a == nil:
				case s.Unit.Kind != notation.FrontUnit && s.Unit.Kind != notation.RuleUnit:
					in.ds.Errorf(diag.NotHere, a.Span, "an option replicates rules alone, and %s is %s", s.Unit.Name.Text, units.KindName(s.Unit.Kind)).Hint("put it on a front or a rule")
				case found != nil:
					in.ds.Errorf(diag.DuplicateName, a.Span, "%s and %s both replicate the rule", found.Name.Text, n.Name.Text).See(found.Span, "the first one")
				default:
					found = n
				}
			}
		}
	}
	if found == nil {
		return
	}
	set := in.b.Options[found.Name.Text].Value
	n, ok := notation.Constant(set)
	if !ok || n != math.Trunc(n) || n < 1 || n > MaxSize {
		in.ds.Errorf(diag.BadOption, set.Where(), "%s = %s is no number of copies", found.Name.Text, notation.Print(set, notation.Unicode)).
			See(found.Span, "the option is declared here").Hint("write a whole number, 1 or more")
	} else if set != found.Init || n != 1 {
		in.b.Heads = in.b.AxisOf(found.Name.Text)
	}
	if in.b.Strategy != nil {
		in.b.Strategy.Rule.Heads = in.b.Heads // the same rule, token by token
	}
}
