// Package proof is the data that the kinds of proof share: the report with its items and
// verdicts, the context in which a unit is proved, which statements a unit must prove, and
// the formulas in which a knob is proved that no rule uses.
package proof

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// A Kind says what is decided; the zero value is invalid.
type Kind int

const (
	_             Kind = iota
	Shape              // the unit has types and its programs can be built
	InnerGradient      // a ∇ inside an equation is the gradient of its function
	OuterGradient      // the adjoint of a program is its gradient
	Claim              // an equality that the page states
	Kink               // the smoothness at a kink
	Invariant          // what holds after every token
	Domain             // a gate or a state stays in its declared set
	Cost               // the number of multiply-adds
	Marker             // a property of the recurrence that the page provides
	Special            // two formulas are the same function
	Requires           // a property that a knob requires of the others
	Erratum            // a correction to a paper, with the claim that shows it
	Eval               // the computation of a value against its definition
	Adjoint            // a declared adjoint
	Relax              // the value that gradients use in place of another
	Parameter          // a learned parameter has a gradient
	Init               // and a nonzero one at the values that it starts from
	Cut                // results depend on how the tokens are cut into calls
	Header             // a statement of a page's header, with the lines that back it
	Root               // an unknown has one simple root in its bracket
	Approximation      // the distance of a strategy from its rule
)

var kindNames = [...]string{"invalid", "shape", "inner-gradient", "outer-gradient", "claim", "kink", "invariant", "domain",
	"cost", "marker", "special", "requires", "erratum", "eval", "adjoint", "relax", "parameter-gradient", "init", "cut", "header", "root", "approximation"}

func (k Kind) String() string { return kindNames[k] }

// A Verdict says how much is known; the zero value is invalid. A larger one is worse.
type Verdict int

const (
	_         Verdict = iota
	Proved            // symbolically
	Tested            // at sampled points
	Declared          // stated with a reason, not decidable here
	ProseOnly         // stated in words only
	Failed            // refuted, or not decidable where it must be
)

func (v Verdict) String() string {
	return [...]string{"invalid", "proved", "tested", "declared", "prose only", "failed"}[v]
}

// Evidence is a verdict and what it rests on.
type Evidence struct {
	Verdict   Verdict
	Points    int     // entries compared
	Skipped   int     // entries that finite differences cannot test, such as at kinks
	Tolerance float64 // relative, where the verdict is Tested
	Worst     float64 // the largest error, on the scale of the tolerance
	Halvings  int     // the smallest scale of a point was 1/2^Halvings of the usual one; at larger scales the program overflows float32
	Elsewhere bool    // decided on another page: no evidence here
	Note      string
}

// DrawnAt notes that a point was drawn at 1/2^halvings of the usual size.
func (ev *Evidence) DrawnAt(halvings int) { ev.Halvings = max(ev.Halvings, halvings) }

// An Item is one statement about a unit.
type Item struct {
	ID   string // stable: name.claim.adj:k
	Kind Kind
	Name string
	Eq   string // the equation that the item is about
	Text string // the statement as the page writes it
	Span source.Span
	Evidence
}

// A Report lists what is known about one unit.
type Report struct {
	Unit  string
	ID    string
	Items []Item
}

// Worst is the worst verdict of the report.
func (r *Report) Worst() Verdict {
	worst := Proved
	for _, it := range r.Items {
		worst = max(worst, it.Verdict)
	}
	return worst
}

// Item returns the item of an id, or nil.
func (r *Report) Item(id string) *Item {
	for i := range r.Items {
		if r.Items[i].ID == id {
			return &r.Items[i]
		}
	}
	return nil
}

// Count returns the number of items with a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, it := range r.Items {
		if it.Verdict == v {
			n++
		}
	}
	return n
}

// String prints the report as a table, one item a line.
func (r *Report) String() string {
	var b strings.Builder
	for _, it := range r.Items {
		fmt.Fprintf(&b, "%-52s %-10s %s\n", it.ID, it.Verdict, it.Detail())
	}
	return b.String()
}

// Detail prints in a few words what a verdict rests on.
func (it Item) Detail() string {
	var parts []string
	if it.Points > 0 {
		parts = append(parts, fmt.Sprintf("%d points", it.Points))
	}
	if it.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d at kinks skipped", it.Skipped))
	}
	if it.Verdict == Tested && it.Tolerance > 0 {
		parts = append(parts, fmt.Sprintf("worst %.1e of %.0e", it.Worst, it.Tolerance))
	}
	if it.Halvings > 0 {
		parts = append(parts, fmt.Sprintf("at 1/%d of the usual size, beyond which numbers overflow float32", 1<<it.Halvings))
	}
	if it.Note != "" {
		parts = append(parts, it.Note)
	}
	return strings.Join(parts, ", ")
}
