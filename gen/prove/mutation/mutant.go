package mutation

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// How good is the proof? That is measured by breaking the pages one token at a
// time, as a tired hand would, and looking whether anything notices: a sign, a
// factor, an axis, an index, the moment at which a state is read, the name
// beside the right one, a transposition, an operator, a side of a claim. This
// file only says what is broken and how; judging is for the caller, who can
// load a page.

// A Mutant is one break: the text of a span is replaced.
type Mutant struct {
	Span source.Span
	New  string
	Kind string // sign, factor, …
	Unit string // in which it stands
	Line string // what kind of line: equation, claim, cost, …
	// Defines says that the line computes something; any other line only
	// speaks of what is computed.
	Defines bool
}

func (m Mutant) String() string {
	line, col := m.Span.File.Pos(m.Span.Start)
	return fmt.Sprintf("%s:%d:%d %s: %s → %s", m.Span.File.Path, line, col, m.Kind, short(m.Span.Text()), short(m.New))
}

func short(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// Text is the page with the break in it.
func (m Mutant) Text() string {
	t := m.Span.File.Text
	return t[:m.Span.Start] + m.New + t[m.Span.End:]
}

// Mutants lists the breaks of a page's units, without duplicates, in the order
// of the page.
func Mutants(f *notation.File) []Mutant {
	var out []Mutant
	for _, u := range f.Units {
		b := &mutator{unit: u, line: "equation", defines: true}
		b.names, b.axes = namesOf(u)
		if u.Result != nil {
			b.define(u.Result)
		}
		for _, p := range u.Params {
			b.shape(p.Type)
		}
		b.formula(u.Formula, u.With)
		for _, st := range u.Body {
			b.statement(st)
		}
		out = append(out, b.out...)
	}
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(m Mutant) bool {
		key := fmt.Sprint(m.Span.Start, m.Span.End, m.New)
		old := seen[key]
		seen[key] = true
		return old || m.New == m.Span.Text()
	})
	slices.SortStableFunc(out, func(a, b Mutant) int { return a.Span.Start - b.Span.Start })
	return out
}
