package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// trial refuses a trial line that cannot try its page.
func (in *instancer) trial(u *notation.Unit, s *notation.Trial) {
	knob := slices.Contains(units.Knobs, u.Kind)
	if !knob && len(units.PartsOf(u)) == 0 {
		in.ds.Errorf(diag.NotHere, s.Span, "%s stands alone and needs no trial", u.Name.Text).Hint("take the line away")
		return
	}
	names := func(a *notation.Apply) bool { return a.Name.Text == u.Name.Text }
	if !slices.ContainsFunc(s.Formula.Parts, names) || !knob && len(s.Formula.Parts) != 1 {
		in.ds.Errorf(diag.NotHere, s.Formula.Span, "a trial of %s is a formula with %s", u.Name.Text, u.Name.Text).Hint("%s", map[bool]string{
			true: "write a structure, a bias, a retention and an algorithm, one of them this, over a front", false: "write " + u.Name.Text + "(…) with a page for each part"}[knob])
	}
}
