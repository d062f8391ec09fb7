package proof

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A knob is proved in the rules that use it, and in the formulas of its trial lines. A knob
// that has neither is tried in a formula made for it: with the simplest knobs of the other
// kinds, whose pages have the fewest lines, and the first front with which a rule can be
// built.

var knobKinds = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// TrialBlock makes a rule of a knob that no rule uses. Where no legal formula can be built it
// returns the errors of the first one; where no formula is legal, nothing.
func TrialBlock(tree *units.Tree, u *notation.Unit) (*check.Block, *notation.Formula, diag.List) {
	var why diag.List
	if !slices.Contains(knobKinds, u.Kind) {
		return nil, nil, why
	}
	tries := units.Trials(u)
	if len(tries) == 0 && tree.Whole().UsedKnob(u) {
		return nil, nil, why
	}
	if len(tries) == 0 {
		tries = Formulas(tree, u)
	}
	for _, f := range tries {
		blk, ds := check.InstantiateFormula(tree, u.Name.Text, f, nil)
		if blk != nil && !ds.HasErrors() && irbuild.Rule(blk, &ds) != nil && !ds.HasErrors() {
			return blk, f, diag.List{}
		}
		illegal := func(d diag.Diagnostic) bool { return d.Code == diag.IllegalFormula }
		if why.Len() == 0 && !slices.ContainsFunc(ds.Sorted(), illegal) {
			why = ds
		}
	}
	return nil, nil, why
}

// Resolve returns the block that a unit is proved as: the unit itself, or the rule in which
// an unused knob is tried. It is nil for a page that is proved only where it is used.
func Resolve(tree *units.Tree, u *notation.Unit) (*check.Block, diag.List) {
	switch u.Kind {
	case notation.FrontUnit, notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit, notation.LawUnit, notation.StrategyUnit:
		blk, _, ds := TrialBlock(tree, u)
		return blk, ds
	}
	return check.Instantiate(tree, u)
}

// Formulas are all formulas with a knob, over every front, the simplest first.
func Formulas(tree *units.Tree, knob *notation.Unit) []*notation.Formula {
	all := []*notation.Formula{{Span: knob.Span}}
	extend := func(kind notation.UnitKind, add func(f notation.Formula, a *notation.Apply) *notation.Formula) {
		var next []*notation.Formula
		for _, f := range all {
			for _, u := range simplestFirst(tree.Kinds(kind)) {
				if u.Example || u.Kind == knob.Kind && u != knob {
					continue
				}
				next = append(next, add(*f, &notation.Apply{Span: knob.Span, Name: notation.Word{Span: knob.Name.Span, Text: u.Name.Text}}))
			}
		}
		all = next
	}
	for _, k := range knobKinds {
		extend(k, func(f notation.Formula, a *notation.Apply) *notation.Formula {
			f.Parts = append(slices.Clone(f.Parts), a)
			return &f
		})
	}
	simplestFormulasFirst(tree, all)
	extend(notation.FrontUnit, func(f notation.Formula, a *notation.Apply) *notation.Formula {
		f.Over = a
		return &f
	})
	return all
}

// simplestFirst sorts units by their number of lines, and then by their text, so that the
// order of pages does not matter.
func simplestFirst(units []*notation.Unit) []*notation.Unit {
	text := map[*notation.Unit]string{}
	for _, u := range units {
		for _, st := range u.Body {
			text[u] += notation.Print(st, notation.ASCII) + "\n"
		}
	}
	slices.SortStableFunc(units, func(u, v *notation.Unit) int {
		return cmp.Or(cmp.Compare(len(u.Body), len(v.Body)), strings.Compare(text[u], text[v]))
	})
	return units
}

// simplestFormulasFirst sorts formulas by the number of lines of their knobs.
func simplestFormulasFirst(tree *units.Tree, all []*notation.Formula) {
	lines := func(f *notation.Formula) (n int) {
		for _, a := range f.Parts {
			n += len(tree.Units[a.Name.Text].Body)
		}
		return n
	}
	slices.SortStableFunc(all, func(f, g *notation.Formula) int { return lines(f) - lines(g) })
}

// FormulaText prints a formula: A + B + C + D over Front.
func FormulaText(f *notation.Formula) string {
	var names []string
	for _, a := range f.Parts {
		names = append(names, a.Name.Text)
	}
	return fmt.Sprintf("%s over %s", strings.Join(names, " + "), f.Over.Name.Text)
}

// FunctionClaims returns the claims of a knob's page about its own functions, and the page
// without the equations that only mean something inside a formula.
func FunctionClaims(u *notation.Unit) (*notation.Unit, []*notation.Claim) {
	var all []*notation.Claim
	for c := range notation.Of[*notation.Claim](u.Body) {
		if units.OfFunctions(c) {
			all = append(all, c)
		}
	}
	alone := *u
	alone.Body = slices.DeleteFunc(slices.Clone(alone.Body), func(st notation.Stmt) bool {
		d, ok := st.(*notation.Define)
		return ok && !d.Target.IsFunc
	})
	return &alone, all
}

// Complete reports whether all parts of a block are given.
func Complete(blk *check.Block) bool {
	for _, s := range blk.Parts {
		if s.Block == nil || !Complete(s.Block) {
			return false
		}
	}
	return true
}
