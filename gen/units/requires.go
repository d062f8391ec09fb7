package units

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// A knob may require a property that another knob of the formula provides:
//
//	requires ProbabilitySimplex(Z) "a divergence needs rows that sum to one"
//
// What is provided is what the pages say; whether the equations bear it out is
// for package prove. A requirement is met by another knob of the formula, never
// by the one that requires. A structure meets it when it provides the property
// for all its weights, since a knob speaks of any weight under a name of its
// own; another knob meets it with the property's name alone.

// A Violation is a requirement of one knob that no other knob of the formula
// meets.
type Violation struct {
	By   *notation.Unit // whose page requires
	Line *notation.Provides
	Mark *notation.Mark
}

// Reason is what the page says to the reader.
func (v Violation) Reason() string {
	if v.Line.Reason == nil {
		return ""
	}
	return v.Line.Reason.Value
}

// Requirements are the requirements of one knob, in the order of its page.
func Requirements(u *notation.Unit) []Violation {
	var out []Violation
	for p := range notation.Of[*notation.Provides](u.Body) {
		if p.Needs {
			for _, m := range p.Marks {
				out = append(out, Violation{By: u, Line: p, Mark: m})
			}
		}
	}
	return out
}

// Violations lists what the knobs of a formula require of one another and do
// not get, in the order of the knobs.
func Violations(knobs []*notation.Unit) []Violation {
	var out []Violation
	for _, u := range knobs {
		for _, v := range Requirements(u) {
			met := func(p *notation.Unit) bool { return p != u && Meets(p, v.Mark.Name.Text) }
			if !slices.ContainsFunc(knobs, met) {
				out = append(out, v)
			}
		}
	}
	return out
}

// Meets reports whether a knob provides a property to the others, whatever its options.
func Meets(u *notation.Unit, mark string) bool {
	said := map[string]bool{}
	for p := range notation.Of[*notation.Provides](u.Body) {
		if p.Needs || p.When != nil {
			continue
		}
		for _, m := range p.Marks {
			if m.Name.Text != mark {
				continue
			}
			if len(m.Args) == 0 || u.Kind != notation.StructUnit {
				return true
			}
			for _, a := range m.Args {
				said[a.Text] = true
			}
		}
	}
	return len(said) > 0 && !slices.ContainsFunc(weights(u), func(w string) bool { return !said[w] })
}

// weights are the states of a structure that the law writes.
func weights(u *notation.Unit) []string {
	var out []string
	for f := range notation.Of[*notation.Fit](u.Body) {
		for _, w := range f.Weights {
			out = append(out, w.Text)
		}
	}
	return out
}

// OfFunctions reports whether a claim on the page of a knob speaks of the
// page's functions alone: nothing in it has a time or an adjoint. Such a claim
// is proved of the page, by itself; any other of the rules that use the knob.
func OfFunctions(c *notation.Claim) bool {
	if c.Left == nil || c.Right == nil {
		return false
	}
	alone := true
	notation.Inspect(c, func(n any) bool {
		if id, ok := n.(*notation.Ident); ok {
			alone = alone && id.Time == nil && !id.Bar && !strings.HasSuffix(id.Name.Text, "_t")
		}
		return true
	})
	return alone
}
