package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A page that cannot stand alone, a knob or a page with parts, is proved and tested
// in formulas. `trial` lines name them.

// Trials are the formulas of a page's trial lines, in order.
func Trials(u *notation.Unit) []*notation.Formula {
	var out []*notation.Formula
	for _, st := range u.Body {
		if t, ok := st.(*notation.Trial); ok {
			out = append(out, t.Formula)
		}
	}
	return out
}

// trial refuses a trial line that cannot try its page.
func (in *instancer) trial(u *notation.Unit, s *notation.Trial) {
	knob := slices.Contains(slots, u.Kind)
	if !knob && len(PartsOf(u)) == 0 {
		in.ds.Errorf(diag.NotHere, s.Span, "%s stands alone and needs no trial", u.Name.Text).Hint("take the line away")
		return
	}
	names := func(a *notation.Apply) bool { return a.Name.Text == u.Name.Text }
	if !slices.ContainsFunc(s.Formula.Parts, names) || !knob && len(s.Formula.Parts) != 1 {
		in.ds.Errorf(diag.NotHere, s.Formula.Span, "a trial of %s is a formula with %s", u.Name.Text, u.Name.Text).Hint("%s", map[bool]string{
			true: "write a structure, a bias, a retention and an algorithm, one of them this, over a front", false: "write " + u.Name.Text + "(…) with a page for each part"}[knob])
	}
}

// UsedKnob reports whether some rule of the tree is a formula with this knob as its page
// configures it: only there its lines are settled.
func (t *Tree) UsedKnob(knob *notation.Unit) bool {
	return slices.ContainsFunc(t.Kinds(notation.RuleUnit), func(u *notation.Unit) bool {
		return !u.Example && u.Formula != nil && slices.ContainsFunc(u.Formula.Parts, func(a *notation.Apply) bool {
			return a.Name.Text == knob.Name.Text && !slices.ContainsFunc(a.Args, func(o *notation.Override) bool { return !byDefault(knob, o) })
		})
	})
}

// byDefault reports whether a formula sets an option to what its page starts it from.
func byDefault(u *notation.Unit, o *notation.Override) bool {
	for _, st := range u.Body {
		if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "option" {
			for _, n := range d.Names {
				if n.Name.Text == o.Name.Text {
					return n.Init != nil && notation.Equal(n.Init, o.Value)
				}
			}
		}
	}
	return false
}
