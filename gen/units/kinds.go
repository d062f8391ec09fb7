package units

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// KindName is a unit kind with its article, as a sentence has it.
func KindName(k notation.UnitKind) string {
	name := k.String()
	switch k {
	case notation.OpUnit:
		name = "operation"
	case notation.ComposeUnit:
		name = "composition"
	}
	return Article(name)
}

// Article puts a or an before a word.
func Article(word string) string {
	if strings.ContainsRune("aio", rune(word[0])) || word == "update" {
		return "an " + word
	}
	return "a " + word
}

// Knobs are the kinds of units that a formula of knobs combines, one of each.
var Knobs = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// IsKnob reports whether a unit is a knob.
func IsKnob(u *notation.Unit) bool { return u != nil && slices.Contains(Knobs, u.Kind) }

// A page that is not complete, a knob or a page with parts, is proved and tested in formulas.
// Lines `trial` name them.

// Trials are the formulas of a page's trial lines, in order.
func Trials(u *notation.Unit) []*notation.Formula {
	var out []*notation.Formula
	for t := range notation.Of[*notation.Trial](u.Body) {
		out = append(out, t.Formula)
	}
	return out
}

// UsedKnob reports whether some rule of the tree is a formula with this knob as its page
// configures it: only there are its lines proved.
func (t *Tree) UsedKnob(knob *notation.Unit) bool {
	return slices.ContainsFunc(t.Kinds(notation.RuleUnit), func(u *notation.Unit) bool {
		return !u.Example && u.Formula != nil && slices.ContainsFunc(u.Formula.Parts, func(a *notation.Apply) bool {
			return a.Name.Text == knob.Name.Text && !slices.ContainsFunc(a.Args, func(o *notation.Override) bool { return !byDefault(knob, o) })
		})
	})
}

// byDefault reports whether a formula sets an option to its default.
func byDefault(u *notation.Unit, o *notation.Override) bool {
	n := optionOf(u, o.Name.Text)
	return n != nil && n.Init != nil && notation.Equal(n.Init, o.Value)
}
