// Package mutation makes mutants of pages for mutation testing of the proofs (DeMillo, Lipton
// and Sayward 1978): pages with one token changed, such as a sign, a factor, an axis, an
// index, the token at which a state is read, a name, a transposition, an operator or a side of
// a claim. It also recognises equivalent mutants, which no proof can detect. Whether a mutant
// is detected is for the caller to decide, who can load a page.
package mutation

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// A Mutant replaces the text of a span.
type Mutant struct {
	Span    source.Span
	New     string
	Kind    string // sign, factor, …
	Unit    string // that contains the span
	Line    string // the kind of line: equation, claim, cost, …
	Defines bool   // the line computes something; other lines are statements about it
}

func (m Mutant) String() string {
	line, col := m.Span.File.Pos(m.Span.Start)
	return fmt.Sprintf("%s:%d:%d %s: %s → %s", m.Span.File.Path, line, col, m.Kind, short(m.Span.Text()), short(m.New))
}

// short prints a replacement, which may be empty.
func short(s string) string {
	if s == "" {
		return "(nothing)"
	}
	return s
}

// Text is the mutated page.
func (m Mutant) Text() string {
	t := m.Span.File.Text
	return t[:m.Span.Start] + m.New + t[m.Span.End:]
}

// Mutants lists the mutants of a page's units without duplicates, in the order of the page.
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
