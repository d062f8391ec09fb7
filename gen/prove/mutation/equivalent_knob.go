package mutation

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/units"
)

// A knob or a front has no program of its own. Its mutants are compared in rules that use it: the
// simplest that can be built, with the options of the page and with each value of one option
// that the page distinguishes.

// knobsAndFronts are the kinds of units that mean nothing outside of a rule.
var knobsAndFronts = []notation.UnitKind{notation.FrontUnit, notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// mostFormulas is the number of formulas that are tried for one setting of the options.
const mostFormulas = 60

// SameTrials reports whether a knob or front and its mutant are equivalent in all of these rules.
// It is true of any other unit.
func SameTrials(was *units.Tree, u *notation.Unit, is *units.Tree, v *notation.Unit) bool {
	if !slices.Contains(knobsAndFronts, u.Kind) {
		return true
	}
	for _, with := range optionSettings(u) {
		for i, f := range proof.Formulas(was, u) {
			if i == mostFormulas {
				break
			}
			a := withOptions(was, u, f, with)
			if a == nil {
				continue
			}
			if b := withOptions(is, v, f, with); b == nil || !SamePrograms(a, b) {
				return false
			}
			break
		}
	}
	return true
}

// withOptions is the rule of a formula with options of a unit, or nil where it cannot be built.
func withOptions(tree *units.Tree, u *notation.Unit, f *notation.Formula, with []*notation.Override) *check.Block {
	g := *f
	apply := func(a *notation.Apply) *notation.Apply {
		if a.Name.Text != u.Name.Text {
			return a
		}
		set := *a
		set.Args = with
		return &set
	}
	g.Parts = nil
	for _, a := range f.Parts {
		g.Parts = append(g.Parts, apply(a))
	}
	g.Over = apply(f.Over)
	blk, ds := check.InstantiateFormula(tree, u.Name.Text, &g, nil)
	if blk == nil || ds.HasErrors() || irbuild.Rule(blk, &ds) == nil || ds.HasErrors() {
		return nil
	}
	return blk
}

// optionSettings are the options of a unit as they are, and with one of them at each of its
// members, or at and above each number that a case compares it with.
func optionSettings(u *notation.Unit) [][]*notation.Override {
	out := [][]*notation.Override{nil}
	add := func(name string, x notation.Expr) {
		out = append(out, []*notation.Override{{Name: notation.Word{Span: u.Name.Span, Text: name}, Value: x}})
	}
	numbers := map[string][]float64{}
	for c := range notation.All[*notation.Case](u) {
		id, ok := c.On.(*notation.Ident)
		if !ok {
			continue
		}
		for _, a := range c.Arms {
			for x := range notation.All[*notation.Number](a.Cond) {
				if !slices.Contains(numbers[id.Name.Text], x.Value) {
					numbers[id.Name.Text] = append(numbers[id.Name.Text], x.Value, x.Value+2)
				}
			}
		}
	}
	for n := range notation.Declared(u.Body, "option") {
		if n.Type != nil {
			for _, m := range n.Type.Members {
				add(n.Name.Text, m)
			}
		}
		for _, x := range numbers[n.Name.Text] {
			add(n.Name.Text, &notation.Number{Span: u.Name.Span, Value: x})
		}
	}
	return out
}
