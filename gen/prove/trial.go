package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A knob that no rule of the tree uses would be proved nowhere. So it is tried
// in a formula made for the purpose: the plainest knobs of the other kinds, those
// whose pages say least, and the first front with which a rule can be built.

var knobKinds = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// trial proves an unused knob in a formula, and reports whether it did.
func (p *prover) trial() bool {
	blk, f, ds := trialBlock(p.tree, p.unit)
	if blk == nil {
		if ds.HasErrors() {
			p.ds.Append(ds)
			p.refuse(ds.Len())
		}
		return ds.HasErrors()
	}
	p.blk = blk
	p.rule()
	p.rep.Items[0].Note = "in " + formulaText(f)
	return true
}

// trialBlock makes a rule of a knob that none uses. Where no legal formula can
// be built it returns what is wrong with the first one; where none is legal,
// nothing.
func trialBlock(tree *check.Tree, u *notation.Unit) (*check.Block, *notation.Formula, diag.List) {
	var why diag.List
	if !slices.Contains(knobKinds, u.Kind) || used(tree, u) {
		return nil, nil, why
	}
	for _, f := range formulas(tree, u) {
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

// Resolve returns the block that a unit is proved as: itself, or the rule that
// is made to try an unused knob. It is nil for a page that is proved only
// where it is used.
func Resolve(tree *check.Tree, u *notation.Unit) (*check.Block, diag.List) {
	switch u.Kind {
	case notation.FrontUnit, notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit, notation.LawUnit, notation.StrategyUnit:
		blk, _, ds := trialBlock(tree, u)
		return blk, ds
	}
	return check.Instantiate(tree, u)
}

// used reports whether some rule's formula has this knob as its page configures it:
// only there its lines are settled.
func used(tree *check.Tree, knob *notation.Unit) bool {
	return slices.ContainsFunc(tree.Kinds(notation.RuleUnit), func(u *notation.Unit) bool {
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

// formulas are the formulas with this knob, over every front.
func formulas(tree *check.Tree, knob *notation.Unit) []*notation.Formula {
	all := []*notation.Formula{{Span: knob.Span}}
	extend := func(kind notation.UnitKind, add func(f notation.Formula, a *notation.Apply) *notation.Formula) {
		var next []*notation.Formula
		for _, f := range all {
			for _, u := range plainFirst(tree.Kinds(kind)) {
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
	plainestFirst(tree, all)
	extend(notation.FrontUnit, func(f notation.Formula, a *notation.Apply) *notation.Formula {
		f.Over = a
		return &f
	})
	return all
}

// plainFirst sorts units by how many lines they have, and by what these say: the
// order of pages decides nothing.
func plainFirst(units []*notation.Unit) []*notation.Unit {
	said := map[*notation.Unit]string{}
	for _, u := range units {
		for _, st := range u.Body {
			said[u] += notation.Print(st, notation.ASCII) + "\n"
		}
	}
	slices.SortStableFunc(units, func(u, v *notation.Unit) int {
		return cmp.Or(cmp.Compare(len(u.Body), len(v.Body)), strings.Compare(said[u], said[v]))
	})
	return units
}

// plainestFirst sorts formulas by how many lines the pages of their knobs have.
func plainestFirst(tree *check.Tree, all []*notation.Formula) {
	lines := func(f *notation.Formula) (n int) {
		for _, a := range f.Parts {
			n += len(tree.Units[a.Name.Text].Body)
		}
		return n
	}
	slices.SortStableFunc(all, func(f, g *notation.Formula) int { return lines(f) - lines(g) })
}

func formulaText(f *notation.Formula) string {
	var names []string
	for _, a := range f.Parts {
		names = append(names, a.Name.Text)
	}
	return fmt.Sprintf("%s over %s", strings.Join(names, " + "), f.Over.Name.Text)
}
