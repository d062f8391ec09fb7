package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/gradient"
	"github.com/nl-hecate/hecate/gen/prove/mutation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/internal/parallel"
)

// An outcome is the result for one mutant.
type outcome struct {
	What     string // page or row, place, change
	Page     string // "" for a row of the table
	Kind     string // sign, factor, …
	Where    string // equation, claim, …, or row
	KilledBy string // message, proof, witness; equivalent; or "" for a survivor
	Detail   string
}

// What kills a mutant, or shows that it is equivalent.
const (
	byMessage  = "message"
	byProof    = "proof"
	byWitness  = "witness"
	equivalent = "equivalent"
)

// A selection names the mutants that are run: those of one unit, of the pages whose
// path contains a text, or both; and of these every n-th.
type selection struct {
	unit, page string
	every      int
}

func (c selection) all() bool { return c.unit == "" && c.page == "" && c.every <= 1 }

// runPages runs the mutants of the selected units and returns the outcomes in order. Only
// the units that they can reach are proved first. Tell, where it is not nil, gets each
// outcome as it comes.
func (w *baseline) runPages(c selection, workers int, tell func(outcome)) ([]outcome, error) {
	type job struct {
		page int
		m    mutation.Mutant
	}
	var jobs []job
	var reached []string
	for i, f := range w.files {
		if !strings.Contains(w.pages[i].File.Path, c.page) {
			continue
		}
		for n, m := range mutation.Mutants(f) {
			if c.unit != "" && m.Unit != c.unit || c.every > 1 && n%c.every != 0 {
				continue
			}
			jobs = append(jobs, job{i, m})
			for _, name := range w.readers[m.Unit] {
				if !slices.Contains(reached, name) {
					reached = append(reached, name)
				}
			}
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("no mutants: no unit %q on a page whose path contains %q", c.unit, c.page)
	}
	if err := w.verify(reached, workers); err != nil {
		return nil, err
	}
	out := make([]outcome, len(jobs))
	var one sync.Mutex
	parallel.Each(len(jobs), workers, func(k int) {
		out[k] = w.run(jobs[k].page, jobs[k].m)
		out[k].Page = w.pages[jobs[k].page].File.Path
		if tell != nil {
			one.Lock()
			defer one.Unlock()
			tell(out[k])
		}
	})
	return out, nil
}

// run runs one mutant. The changed unit is proved first, then its users, the nearest
// first. A unit whose programs are unchanged, and which is compared with no other,
// cannot kill the mutant.
func (w *baseline) run(page int, m mutation.Mutant) (f outcome) {
	f = outcome{What: m.String(), Kind: m.Kind, Where: m.Line}
	defer func() {
		if r := recover(); r != nil {
			f.KilledBy, f.Detail = byMessage, fmt.Sprint("internal: ", r)
		}
	}()
	tree, _, ds := w.mutated(page, m.Text())
	if ds.HasErrors() {
		f.KilledBy, f.Detail = byMessage, first(ds)
		return f
	}
	var changed []string
	for _, name := range w.readers[m.Unit] {
		if tree.Units[name] == nil {
			continue
		}
		if !w.sameForms(tree, name) {
			changed = append(changed, name)
		} else if name != m.Unit && !compares(tree.Units[name]) {
			continue
		}
		if f.KilledBy, f.Detail = w.killer(tree, name); f.KilledBy != "" {
			return f
		}
	}
	if w.isEquivalent(tree, changed, m) {
		f.KilledBy = equivalent
	}
	return f
}

// killer returns what refuses a unit of a mutated tree, or "".
func (w *baseline) killer(tree *units.Tree, name string) (by, detail string) {
	if _, ds := prove.Block(tree, tree.Units[name], proof.Options{Facts: true}); ds.HasErrors() {
		if slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code >= diag.InnerGradientDiffers }) {
			return byProof, first(ds)
		}
		return byMessage, first(ds)
	}
	for _, x := range w.witnesses[name] {
		if text := w.witnessDifference(tree, x); text != "" {
			return byWitness, text
		}
	}
	return "", ""
}

// compares reports whether a unit claims to equal another one.
func compares(u *notation.Unit) bool {
	return slices.ContainsFunc(u.Body, func(st notation.Stmt) bool { _, ok := st.(*notation.Special); return ok })
}

func first(ds diag.List) string {
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			return fmt.Sprintf("%v %s", d.Code, d.Text)
		}
	}
	return ""
}

// sameForms reports whether no program of a unit has changed its normal form.
// A unit without programs of its own may have changed.
func (w *baseline) sameForms(tree *units.Tree, name string) bool {
	if _, ok := programs(tree, name); !ok {
		return false
	}
	now := w.hashesOf(tree, tree.Units[name])
	for key, h := range now {
		if w.hashes[key] != h {
			return false
		}
	}
	return len(now) > 0 && len(now) == len(w.hashesOf(w.tree, w.tree.Units[name]))
}

// isEquivalent reports whether a surviving mutant is equivalent: the programs that it
// reaches compute the same numbers, also with every choice of the options of its unit,
// and neither side of a statement of the unit changes.
func (w *baseline) isEquivalent(tree *units.Tree, changed []string, m mutation.Mutant) bool {
	u, v := w.tree.Units[m.Unit], tree.Units[m.Unit]
	if u == nil || v == nil {
		return false
	}
	if !mutation.SameDeclarations(u, v) {
		return false
	}
	if !m.Defines {
		return (m.Line == "claim" || m.Line == "eval" || m.Line == "adjoint") && mutation.SameClaims(w.tree, u, tree, v)
	}
	for _, name := range changed {
		a, _ := proof.Resolve(w.tree, w.tree.Units[name])
		b, _ := proof.Resolve(tree, tree.Units[name])
		if a == nil && b == nil {
			continue
		}
		if a == nil || b == nil || !mutation.SamePrograms(a, b) {
			return false
		}
	}
	return mutation.SameTrials(w.tree, u, tree, v) && mutation.SameClaims(w.tree, u, tree, v)
}

// runTable changes the rows of the table of local derivatives, one after another: the
// table is shared.
func (w *baseline) runTable() []outcome {
	var out []outcome
	for _, op := range ir.Ops() {
		for _, how := range []struct {
			kind   string
			factor float64
		}{{"sign", -1}, {"factor", 2}, {"dropped", 0}} {
			restore, ok := autodiff.Break(op, how.factor)
			if !ok {
				break
			}
			f := outcome{What: fmt.Sprintf("row %v: %s", op, how.kind), Kind: how.kind, Where: "row"}
			if text := w.tableKiller(op); text != "" {
				f.KilledBy, f.Detail = byProof, text
			} else if !gradient.HasDerivative(op) {
				f.KilledBy = equivalent
			}
			restore()
			out = append(out, f)
		}
	}
	return out
}

// tableKiller returns what notices a changed row, or "".
func (w *baseline) tableKiller(op ir.Op) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint("internal: ", r)
		}
	}()
	if t := gradient.Primitive(op); t != "" {
		return t
	}
	for _, u := range w.tree.Order {
		if u.Kind == notation.ModelUnit {
			continue
		}
		if _, ds := prove.Block(w.tree, u, proof.Options{}); ds.HasErrors() {
			return first(ds)
		}
	}
	return ""
}
