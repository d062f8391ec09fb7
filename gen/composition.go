package gen

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/safety"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Combinations is the table of the knobs of a source. So many legal combinations
// have been built that all knobs have met, and each keeps its states in the sets
// that their pages declare for them.
func Combinations(s *Source) (*safety.Table, diag.List) {
	t, ds := safety.New(s.Tree)
	if !ds.HasErrors() {
		ds.Append(t.Build(t.Covering(), marker.KeepsRows))
	}
	return t, ds
}

// choices is the table for the emitters, each value with the purpose of its page.
func choices(s *Source, t *safety.Table) *abi.Choices {
	c := t.Choices()
	for _, slot := range c.Slots {
		for i := range slot.Values {
			v := &slot.Values[i]
			u := s.Tree.Units[v.Name]
			v.Page, v.Doc = s.Path(u.Span.File.Path), purpose(s, u)
		}
	}
	return c
}

// purpose is the purpose in the contract of a unit's page, where the page is about this
// unit alone.
func purpose(s *Source, u *notation.Unit) string {
	for i, p := range s.Pages {
		if p.File == u.Span.File && p.Header != nil && len(s.Files[i].Units) == 1 {
			return strings.Join(strings.Fields(p.Header.Value(spec.Purpose)), " ")
		}
	}
	return ""
}
