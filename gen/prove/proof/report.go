package proof

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// A Kind says what is proved; the zero value is invalid.
type Kind int

const (
	_             Kind = iota
	Shape              // the block has types and builds
	InnerGradient      // a ∇ inside an equation, against differences of its function
	OuterGradient      // the adjoint of a program, against differences of the program
	Claim              // an equality that the page states
	KinkKind           // continuity at a kink
	Invariant          // what holds after every step
	Domain             // a gate or a state stays in its declared set
	Cost               // the count of multiply-adds
	Marker             // a fact about the recurrence
	Special            // two formulas that are one
	Requires           // a knob's condition on the others
	Erratum            // a correction to a paper, with the claim behind it
	Eval               // how a value is computed against what it is
	Adjoint            // a declared adjoint
	Relax              // what stands for a value in gradients
	Parameter          // a learned parameter receives a gradient
	Init               // and does so at its actual start
	Cut                // results depend on how the tokens are cut into calls
	Tag                // a statement of the header and the line behind it
	Root               // an unknown has one root in its range, and a slope there
	Approximate        // how far a strategy is from the rule that it stands for
)

var kindNames = [...]string{"invalid", "shape", "inner-gradient", "outer-gradient", "claim", "kink", "invariant", "domain",
	"cost", "marker", "special", "requires", "erratum", "eval", "adjoint", "relax", "parameter-gradient", "init", "cut", "header", "root", "approximation"}

func (k Kind) String() string { return kindNames[k] }

// A Verdict says how much is known; the zero value is invalid. Later is worse.
type Verdict int

const (
	_         Verdict = iota
	Proved            // decided symbolically
	Tested            // sampled
	Declared          // said with a reason, not decidable here
	ProseOnly         // said in words only
	Failed            // refuted, or not decidable where it must be
)

func (v Verdict) String() string {
	return [...]string{"invalid", "proved", "tested", "declared", "prose only", "failed"}[v]
}

// Evidence is what a verdict rests on.
type Evidence struct {
	Verdict   Verdict
	Points    int     // entries compared
	Skipped   int     // entries at a kink, which no difference can test
	Tolerance float64 // relative, where Verdict is Tested
	Worst     float64 // the largest error found, in units of the tolerance's scale
	Halved    int     // some points were drawn at 1/2^Halved of the usual size: at larger ones the program overflows float32
	Elsewhere bool    // settled on another page: no evidence here
	Note      string
}

// DrawnAt notes that a point was drawn at 1/2^halved of the usual size.
func (ev *Evidence) DrawnAt(halved int) { ev.Halved = max(ev.Halved, halved) }

// An Item is one thing that is proved about a block.
type Item struct {
	ID   string // stable: name.claim.adj:k
	Kind Kind
	Name string
	Eq   string // the equation that it is about
	Text string // what is said, in the page's words
	Span source.Span
	Evidence
}

// A Report lists what is known about one block.
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

// Count returns how many items have a verdict.
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

// Detail says in a few words what a verdict rests on.
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
	if it.Halved > 0 {
		parts = append(parts, fmt.Sprintf("at 1/%d of the usual size, beyond which numbers overflow float32", 1<<it.Halved))
	}
	if it.Note != "" {
		parts = append(parts, it.Note)
	}
	return strings.Join(parts, ", ")
}
