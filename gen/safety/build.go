package safety

import (
	"runtime"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/internal/parallel"
)

// Build builds a rule of each legal combination over some front of the tree, in parallel, and
// reports those of which no rule can be built, in the order of the combinations. The function
// hold, where it is not nil, may refuse a rule that was built.
func (t *Table) Build(tuples []Tuple, hold func(*check.Block) diag.List) diag.List {
	var ds diag.List
	all := slices.DeleteFunc(slices.Clone(tuples), func(u Tuple) bool { return !u.Legal() })
	fronts := t.Fronts()
	if len(fronts) == 0 || len(t.tree.Kinds(notation.LawUnit)) == 0 {
		return ds
	}
	wrong := make([]diag.List, len(all))
	parallel.Each(len(all), runtime.GOMAXPROCS(0), func(i int) { wrong[i] = t.over(all[i], fronts, hold) })
	for i, c := range all {
		if !wrong[i].HasErrors() {
			continue
		}
		d := ds.Errorf(diag.UnbuiltFormula, c.Knobs[len(c.Knobs)-1].Name.Span, "no rule can be made of %s", c)
		for _, e := range wrong[i].Sorted()[:1] {
			d.See(e.Span, "%s", e.Text)
		}
		d.Hint("if they do not belong together, let one of them say so: requires … \"reason\"")
	}
	return ds
}

// Fronts lists the fronts of the tree that are no examples.
func (t *Table) Fronts() []*notation.Unit {
	return slices.DeleteFunc(t.tree.Kinds(notation.FrontUnit), func(u *notation.Unit) bool { return u.Example })
}

// over builds a rule of a combination over the first front that allows it, and returns the
// errors of the first front where none does.
func (t *Table) over(c Tuple, fronts []*notation.Unit, hold func(*check.Block) diag.List) diag.List {
	var first diag.List
	for _, f := range fronts {
		bad := t.Instance(c, f, hold)
		if !bad.HasErrors() {
			return diag.List{}
		}
		if first.Len() == 0 {
			first = bad
		}
	}
	return first
}

// Instance builds the rule of a combination over a front.
func (t *Table) Instance(c Tuple, front *notation.Unit, hold func(*check.Block) diag.List) diag.List {
	b, ds := t.Block(c, applied(front))
	if ds.HasErrors() {
		return ds
	}
	irbuild.Rule(b, &ds)
	if !ds.HasErrors() && hold != nil {
		ds.Append(hold(b))
	}
	return ds
}

// Block instantiates a combination over a front with its options.
func (t *Table) Block(c Tuple, over *notation.Apply) (*check.Block, diag.List) {
	return check.InstantiateFormula(t.tree, strings.Join(c.Names(), ""), c.Formula(over), nil)
}

// Formula is the formula of a combination over a front.
func (t Tuple) Formula(over *notation.Apply) *notation.Formula {
	f := &notation.Formula{Span: t.Knobs[0].Name.Span, Over: over}
	for _, u := range t.Knobs {
		f.Parts = append(f.Parts, applied(u))
	}
	return f
}

func applied(u *notation.Unit) *notation.Apply {
	return &notation.Apply{Span: u.Name.Span, Name: u.Name}
}
