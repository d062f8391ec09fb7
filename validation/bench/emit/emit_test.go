package emit_test

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/validation/bench/emit"
)

// TestProved proves the pages: their claims, the statements of their headers, and
// the counts that shares of the peak are of.
func TestProved(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	s, own, err := emit.Load("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var reports []*proof.Report
	for _, u := range own {
		r, ds := prove.Block(s.Tree, u, proof.Options{})
		reports = append(reports, r)
		if ds.HasErrors() {
			t.Error(diag.Render(ds.Sorted()))
		}
	}
	for i, p := range s.Pages {
		if p.Header == nil || !slices.ContainsFunc(own, func(u *notation.Unit) bool { return u.Span.File == p.File }) {
			continue
		}
		if _, ds := prove.Page(s.Files[i], statements(p), reports); ds.HasErrors() {
			t.Error(diag.Render(ds.Sorted()))
		}
	}
}

// statements are the tagged parts of a header.
func statements(p *spec.Page) (out []prove.Statement) {
	for _, name := range []spec.FieldName{"Expects", "Guarantees", "Cost"} {
		for _, part := range p.Header.Field(name).Parts {
			st := prove.Statement{Field: string(name), Text: part.Text, Span: part.Span}
			for _, tag := range part.Tags {
				st.Tags = append(st.Tags, prove.StatementTag{Text: tag.Text, Span: tag.Span})
			}
			out = append(out, st)
		}
	}
	return out
}
