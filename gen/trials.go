package gen

import (
	"cmp"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A page with parts is tested with pages in their places: as its trial lines say, or,
// where it has none, with the plainest pages of each kind. Those are the library's for
// a project that stands on it, so that a page more in a project changes no test of
// another page.

// listed is how many pages a list of parts gets.
const listed = 3

// trials are the formulas with which a page is tested as a whole.
func (s *Source) trials(u *notation.Unit) []*notation.Apply {
	var out []*notation.Apply
	for _, f := range units.Trials(u) {
		if len(f.Parts) == 1 {
			out = append(out, f.Parts[0])
		}
	}
	if len(out) > 0 || u.Formula != nil || len(units.PartsOf(u)) == 0 {
		return out
	}
	a := &notation.Apply{Span: u.Name.Span, Name: u.Name}
	for _, p := range units.PartsOf(u) {
		pages := s.plainest(p.Type.Page.Text)
		if len(pages) == 0 {
			return nil
		}
		o := &notation.Override{Span: p.Span, Apply: named(pages[0])}
		if p.List != nil {
			o.Apply = nil
			for i := range listed {
				o.List = append(o.List, named(pages[i%len(pages)]))
			}
		}
		a.Args = append(a.Args, o)
	}
	return []*notation.Apply{a}
}

func named(u *notation.Unit) *notation.Apply {
	return &notation.Apply{Span: u.Name.Span, Name: u.Name}
}

// partKinds are the kinds of pages that stand in the place of a kind of part.
var partKinds = map[string]notation.UnitKind{"Rule": notation.RuleUnit, "Composition": notation.ComposeUnit, "Block": notation.RuleUnit}

// plainest lists the pages without parts that fit a kind of part, those that are made
// of the fewest lines first.
func (s *Source) plainest(kind string) []*notation.Unit {
	whole := s.Tree.Whole()
	lines := map[*notation.Unit]int{}
	var out []*notation.Unit
	for _, u := range whole.Kinds(partKinds[kind]) {
		if u.Example || len(units.PartsOf(u)) > 0 || len(s.library) > 0 && s.Own(u) || instanceOf(u) {
			continue
		}
		for _, v := range whole.Closure(u).Order {
			lines[u] += len(v.Body)
		}
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b *notation.Unit) int {
		return cmp.Or(lines[a]-lines[b], cmp.Compare(a.Name.Text, b.Name.Text))
	})
	return out
}
