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
)

// A fate is what became of one break.
type fate struct {
	What   string // page or row, place, what was done
	Page   string // "" for a row of the table
	Kind   string // sign, factor, …
	Where  string // equation, claim, …, or row
	By     string // diagnostic, proof, witness; equal; or "" for a survivor
	Detail string
}

// What catches a break.
const (
	byMessage = "message"
	byProof   = "proof"
	byWitness = "witness"
	equal     = "equal"
)

// A choice says which breaks are made: those of one unit, of the pages whose
// path contains a text, or both; and of these every n-th.
type choice struct {
	unit, page string
	every      int
}

func (c choice) all() bool { return c.unit == "" && c.page == "" && c.every <= 1 }

// judgePages breaks the chosen units and returns the fates in order. Only what
// the breaks can reach is proved first.
// Tell, where it is not nil, is told each as it comes.
func (w *world) judgePages(c choice, workers int, tell func(fate)) ([]fate, error) {
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
		return nil, fmt.Errorf("nothing to break: no unit %q on a page whose path contains %q", c.unit, c.page)
	}
	if err := w.sound(reached, workers); err != nil {
		return nil, err
	}
	out := make([]fate, len(jobs))
	var one sync.Mutex
	spread(len(jobs), workers, func(k int) {
		out[k] = w.judge(jobs[k].page, jobs[k].m)
		out[k].Page = w.pages[jobs[k].page].File.Path
		if tell != nil {
			one.Lock()
			defer one.Unlock()
			tell(out[k])
		}
	})
	return out, nil
}

// judge decides the fate of one break. The unit that it stands in is proved
// first, then what reads that, the nearest first; a unit whose programs are what
// they were, and which compares itself with no other, cannot have noticed.
func (w *world) judge(page int, m mutation.Mutant) (f fate) {
	f = fate{What: m.String(), Kind: m.Kind, Where: m.Line}
	defer func() {
		if r := recover(); r != nil {
			f.By, f.Detail = byMessage, fmt.Sprint("internal: ", r)
		}
	}()
	tree, _, ds := w.broken(page, m.Text())
	if ds.HasErrors() {
		f.By, f.Detail = byMessage, first(ds)
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
		if f.By, f.Detail = w.noticed(tree, name); f.By != "" {
			return f
		}
	}
	if w.nothing(tree, changed, m) {
		f.By = equal
	}
	return f
}

// noticed says what refuses a unit of a broken tree, or "".
func (w *world) noticed(tree *units.Tree, name string) (by, detail string) {
	if _, ds := prove.Block(tree, tree.Units[name], proof.Options{Facts: true}); ds.HasErrors() {
		if slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code >= diag.InnerGradientDiffers }) {
			return byProof, first(ds)
		}
		return byMessage, first(ds)
	}
	for _, x := range w.witnesses[name] {
		if text := w.witnessed(tree, x); text != "" {
			return byWitness, text
		}
	}
	return "", ""
}

// compares reports whether a unit is held to another one.
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
func (w *world) sameForms(tree *units.Tree, name string) bool {
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

// nothing reports whether a break that nothing has caught is none: the programs
// that it reaches give the same numbers, those in which its unit is tried with
// every choice of its options among them, and the two sides of what its unit
// says are what they were.
func (w *world) nothing(tree *units.Tree, changed []string, m mutation.Mutant) bool {
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

// judgeTable breaks the rows of the table of local derivatives, one after
// another: the table is shared.
func (w *world) judgeTable() []fate {
	var out []fate
	for _, op := range ir.Ops() {
		for _, how := range []struct {
			kind   string
			factor float64
		}{{"sign", -1}, {"factor", 2}, {"dropped", 0}} {
			restore, ok := autodiff.Break(op, how.factor)
			if !ok {
				break
			}
			f := fate{What: fmt.Sprintf("row %v: %s", op, how.kind), Kind: how.kind, Where: "row"}
			if text := w.tableCaught(op); text != "" {
				f.By, f.Detail = byProof, text
			} else if !gradient.HasDerivative(op) {
				f.By = equal
			}
			restore()
			out = append(out, f)
		}
	}
	return out
}

// tableCaught says what notices a broken row, or "".
func (w *world) tableCaught(op ir.Op) (text string) {
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
