package proof

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Options say how hard to look.
type Options struct {
	// Deep adds awkward sizes, more points and trajectories of 10,000 steps.
	Deep bool
	// Facts leaves out what the compiler derives by itself, the gradients, and
	// proves only what the page says.
	Facts bool
	// Entries is how many entries of a parameter are perturbed at most, spread
	// over it; 0 for what the depth gives.
	Entries int
}

// Of a larger parameter so many entries are perturbed, spread over it.
const (
	quickEntries = 48
	deepEntries  = 200
)

func (o Options) EntryLimit() int {
	if o.Entries > 0 {
		return o.Entries
	}
	if o.Deep {
		return deepEntries
	}
	return quickEntries
}

// A Context settles the items of one unit.
type Context struct {
	Tree    *units.Tree
	Unit    *notation.Unit
	Block   *check.Block
	Options Options
	Diags   diag.List
	Report  *Report
	ids     map[string]int
}

// NewContext starts the proof of a unit with an empty report.
func NewContext(tree *units.Tree, u *notation.Unit, opt Options) *Context {
	return &Context{Tree: tree, Unit: u, Options: opt, Report: &Report{Unit: u.Name.Text, ID: units.ID(u)}, ids: map[string]int{}}
}

// Typed records whether the block has types; ok means that it does.
func (p *Context) Typed(ds diag.List) bool {
	p.Diags.Append(ds)
	if ds.HasErrors() {
		p.FailTypes(ds.Len())
		return false
	}
	p.Add(Item{Kind: Shape, Name: "types", Span: p.Unit.Span, Evidence: Evidence{Verdict: Proved}})
	return true
}

func (p *Context) FailTypes(n int) {
	p.Add(Item{Kind: Shape, Name: "types", Span: p.Unit.Span,
		Evidence: Evidence{Verdict: Failed, Note: fmt.Sprintf("%d messages", n)}})
}

// Add files an item under its stable id.
func (p *Context) Add(it Item) {
	it.ID = fmt.Sprintf("%s.%s.%s", p.Report.ID, it.Kind, it.Name)
	if p.ids[it.ID]++; p.ids[it.ID] > 1 {
		it.ID = fmt.Sprintf("%s.%d", it.ID, p.ids[it.ID])
	}
	p.Report.Items = append(p.Report.Items, it)
}

// Decide files an item with what decide finds; decide reports what fails.
func (p *Context) Decide(it Item, decide func() Evidence) Evidence {
	it.Evidence = decide()
	p.Add(it)
	return it.Evidence
}

// Failure is the evidence behind a diagnostic.
func Failure(note string) Evidence { return Evidence{Verdict: Failed, Note: note} }
