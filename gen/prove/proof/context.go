package proof

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Options say how thorough a proof is.
type Options struct {
	// Deep adds edge cases of sizes, more points and trajectories of 10,000 steps.
	Deep bool
	// Facts proves only what the page states, and not the gradients that the compiler
	// derives.
	Facts bool
	// Entries is the largest number of entries of a parameter that are perturbed; 0 for
	// that of the depth.
	Entries int
}

// EntryLimit is the largest number of entries of a parameter that are perturbed.
func (o Options) EntryLimit() int {
	const quick, deep = 48, 200
	switch {
	case o.Entries > 0:
		return o.Entries
	case o.Deep:
		return deep
	}
	return quick
}

// A Context is the proof of one unit: what is proved, and what was found. Every kind of proof
// is a function of one.
type Context struct {
	Tree    *units.Tree
	Unit    *notation.Unit
	Block   *check.Block // the unit, or a formula that it is proved in
	Options Options
	Diags   diag.List
	Report  *Report
	ids     map[string]int
}

// NewContext starts the proof of a unit with an empty report.
func NewContext(tree *units.Tree, u *notation.Unit, opt Options) *Context {
	return &Context{Tree: tree, Unit: u, Options: opt, Report: &Report{Unit: u.Name.Text, ID: units.ID(u)}, ids: map[string]int{}}
}

// RecordShape records whether the block has types and reports it.
func (p *Context) RecordShape(ds diag.List) bool {
	p.Diags.Append(ds)
	if ds.HasErrors() {
		p.FailShape(ds.Len())
		return false
	}
	p.Add(Item{Kind: Shape, Name: "types", Span: p.Unit.Span, Evidence: Evidence{Verdict: Proved}})
	return true
}

// FailShape records that the block cannot be built, after n messages.
func (p *Context) FailShape(n int) {
	p.Add(Item{Kind: Shape, Name: "types", Span: p.Unit.Span,
		Evidence: Evidence{Verdict: Failed, Note: fmt.Sprintf("%d messages", n)}})
}

// Add appends an item to the report under its stable id.
func (p *Context) Add(it Item) {
	it.ID = fmt.Sprintf("%s.%s.%s", p.Report.ID, it.Kind, it.Name)
	if p.ids[it.ID]++; p.ids[it.ID] > 1 {
		it.ID = fmt.Sprintf("%s.%d", it.ID, p.ids[it.ID])
	}
	p.Report.Items = append(p.Report.Items, it)
}

// Decide appends an item with the evidence that decide returns; decide reports failures.
func (p *Context) Decide(it Item, decide func() Evidence) Evidence {
	it.Evidence = decide()
	p.Add(it)
	return it.Evidence
}

// Fail appends an item that failed.
func (p *Context) Fail(it Item, note string) {
	it.Evidence = Failure(note)
	p.Add(it)
}

// Build returns what build makes for an item. Where that has errors they are reported, the item
// fails, and the result is nil.
func Build[T any](p *Context, it Item, build func(ds *diag.List) *T) *T {
	var ds diag.List
	out := build(&ds)
	if p.Diags.Append(ds); out == nil || ds.HasErrors() {
		p.Fail(it, "cannot be built")
		return nil
	}
	return out
}

// Failure is the evidence of what a diagnostic reports.
func Failure(note string) Evidence { return Evidence{Verdict: Failed, Note: note} }
