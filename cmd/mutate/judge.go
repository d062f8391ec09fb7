package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
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
// path contains a text, or both.
type choice struct{ unit, page string }

func (c choice) all() bool { return c == choice{} }

// judgePages breaks the chosen units and returns the fates in order. Only what
// the breaks can reach is proved first.
func (w *world) judgePages(c choice, workers int) ([]fate, error) {
	type job struct {
		page int
		m    prove.Mutant
	}
	var jobs []job
	var reached []string
	for i, f := range w.files {
		if !strings.Contains(w.pages[i].File.Path, c.page) {
			continue
		}
		for _, m := range prove.Mutants(f) {
			if c.unit != "" && m.Unit != c.unit {
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
	spread(len(jobs), workers, func(k int) {
		out[k] = w.judge(jobs[k].page, jobs[k].m)
		out[k].Page = w.pages[jobs[k].page].File.Path
	})
	return out, nil
}

// judge decides the fate of one break.
func (w *world) judge(page int, m prove.Mutant) (f fate) {
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
	units := w.readers[m.Unit]
	if m.Defines && w.sameForms(tree, units) {
		f.By = equal
		return f
	}
	for _, name := range units {
		u := tree.Units[name]
		if u == nil {
			continue
		}
		if _, ds := prove.Block(tree, u, prove.Options{Facts: true}); ds.HasErrors() {
			f.By, f.Detail = byProof, first(ds)
			if !slices.ContainsFunc(ds.Sorted(), func(d diag.Diagnostic) bool { return d.Code >= diag.InnerGradientDiffers }) {
				f.By = byMessage
			}
			return f
		}
		for _, x := range w.witnesses[name] {
			if text := w.witnessed(tree, x); text != "" {
				f.By, f.Detail = byWitness, text
				return f
			}
		}
	}
	if w.sameNumbers(tree, units, m) {
		f.By = equal
	}
	return f
}

func first(ds diag.List) string {
	for _, d := range ds.Sorted() {
		if d.Severity == diag.Error {
			return fmt.Sprintf("%v %s", d.Code, d.Text)
		}
	}
	return ""
}

// sameForms reports whether no program has changed its normal form.
func (w *world) sameForms(tree *check.Tree, units []string) bool {
	for _, name := range units {
		u := tree.Units[name]
		if u == nil {
			return false
		}
		if _, ok := programs(tree, name); !ok {
			return false
		}
		now := w.hashesOf(tree, u)
		for key, h := range now {
			if w.hashes[key] != h {
				return false
			}
		}
		if len(now) != len(w.hashesOf(w.tree, w.tree.Units[name])) {
			return false
		}
	}
	return true
}

// sameNumbers reports whether a break that nothing has caught is none: the
// programs that it reaches give the same numbers, or, where it speaks of
// something, the two sides of what it says do.
func (w *world) sameNumbers(tree *check.Tree, units []string, m prove.Mutant) bool {
	for _, name := range units {
		u, v := w.tree.Units[name], tree.Units[name]
		if u == nil || v == nil {
			return false
		}
		a, _ := prove.Resolve(w.tree, u)
		b, _ := prove.Resolve(tree, v)
		switch {
		case a == nil && b == nil:
		case a == nil || b == nil:
			return false
		case m.Defines && !prove.Same(a, b):
			return false
		case !m.Defines && name == m.Unit:
			return (m.Line == "claim" || m.Line == "eval" || m.Line == "adjoint") && prove.SameClaims(a, b)
		}
	}
	return m.Defines
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
			} else if !prove.HasDerivative(op) {
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
	if t := prove.Primitive(op); t != "" {
		return t
	}
	for _, u := range w.tree.Order {
		if u.Kind == notation.ModelUnit {
			continue
		}
		if _, ds := prove.Block(w.tree, u, prove.Options{}); ds.HasErrors() {
			return first(ds)
		}
	}
	return ""
}
