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

// Saying is not enough: a rule is made of combinations that the table allows.
// Their number is the product of the numbers of pages, so a compiler that made
// all of them at every run would soon do nothing else. What knobs do to one
// another they do two at a time, or three: names and options collide between
// two pages, and what one gives has or has not the shape that another wants,
// because every function of a knob has its types from its own page and from the
// structure's weights. Only whether a state stays in the set that a structure
// declares for it takes three: that structure, the retention that joins, and
// the algorithm whose step is joined. Cover chooses combinations in which each
// of these meets each other one that it may stand beside. BuildAll makes every
// combination; tests and the sweep do, and so hold that Cover is enough.

// Build makes a rule of enough combinations that every two knobs that may stand
// together do so in one of them, over some front of the tree, and reports those
// of which none can be made. Hold, where it is not nil, looks at each rule and
// may refuse it too.
func (t *Table) Build(hold func(*check.Block) diag.List) diag.List { return t.build(t.Cover(), hold) }

// BuildAll is Build for every legal combination.
func (t *Table) BuildAll(hold func(*check.Block) diag.List) diag.List {
	return t.build(slices.DeleteFunc(t.Tuples(), func(u Tuple) bool { return !u.Legal() }), hold)
}

// Cover lists legal combinations in which all interactions of knobs happen, in
// the order of Tuples.
func (t *Table) Cover() []Tuple {
	seen := map[string]bool{}
	var out []Tuple
	for _, u := range t.Tuples() {
		if !u.Legal() {
			continue
		}
		fresh := false
		for _, k := range interactions(u) {
			fresh = fresh || !seen[k]
			seen[k] = true
		}
		if fresh {
			out = append(out, u)
		}
	}
	return out
}

// interactions name the groups of knobs that a combination lets meet.
func interactions(u Tuple) []string {
	var out []string
	names := u.Names()
	for i := range names {
		for j := range i {
			out = append(out, names[j]+" "+names[i])
		}
	}
	if confined(u.Knobs[0]) {
		out = append(out, names[0]+" "+strings.Join(names[2:], " "))
	}
	return out
}

// confined reports whether a structure declares a set for a weight.
func confined(u *notation.Unit) bool {
	for _, st := range u.Body {
		d, ok := st.(*notation.Declare)
		if ok && slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool {
			return n.Type != nil && (n.Type.Kind == notation.SphereType || n.Type.Kind == notation.SimplexType)
		}) {
			return true
		}
	}
	return false
}

// build makes rules of combinations, side by side; the order of messages is
// that of the combinations.
func (t *Table) build(all []Tuple, hold func(*check.Block) diag.List) diag.List {
	var ds diag.List
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
