package safety

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Build makes a rule of each legal one of these combinations, over some front of
// the tree, and reports those of which none can be made. Hold, where it is not
// nil, looks at each rule and may refuse it too; it is called side by side. The
// order of messages is that of the combinations.
func (t *Table) Build(tuples []Tuple, hold func(*check.Block) diag.List) diag.List {
	var ds diag.List
	all := slices.DeleteFunc(slices.Clone(tuples), func(u Tuple) bool { return !u.Legal() })
	fronts := t.Fronts()
	if len(fronts) == 0 || len(t.tree.Kinds(notation.LawUnit)) == 0 {
		return ds
	}
	wrong := make([]diag.List, len(all))
	parallel(len(all), func(i int) { wrong[i] = t.over(all[i], fronts, hold) })
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

// parallel calls f for 0 … n−1 on all cores.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// Fronts are the fronts of the tree.
func (t *Table) Fronts() []*notation.Unit {
	return slices.DeleteFunc(t.tree.Kinds(notation.FrontUnit), func(u *notation.Unit) bool { return u.Example })
}

// over makes a rule of a combination over the first front with which one can be
// made, and returns what is wrong with the first front where there is none.
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

// Instance makes a rule of a combination over a front.
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

// Block resolves a combination over a front with its options.
func (t *Table) Block(c Tuple, over *notation.Apply) (*check.Block, diag.List) {
	return check.InstantiateFormula(t.tree, strings.Join(c.Names(), ""), c.Formula(over), nil)
}

// Formula is a combination over a front as a page would write it.
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
