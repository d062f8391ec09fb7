package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Proof has one report for each unit, and one for each page about the statements of its
// header.
type Proof struct {
	Units, Pages []*proof.Report
}

// Totals counts the verdicts, such as "229 proved, 120 tested, 0 failed".
func (p *Proof) Totals() string {
	var parts []string
	for v := proof.Proved; v <= proof.Failed; v++ {
		n := 0
		for _, r := range slices.Concat(p.Units, p.Pages) {
			n += r.Count(v)
		}
		parts = append(parts, fmt.Sprintf("%d %v", n, v))
	}
	return strings.Join(parts, ", ")
}

// statements are the parts of a header that make claims about the blocks.
func statements(p *spec.Page) []prove.Statement {
	var out []prove.Statement
	for _, name := range []spec.FieldName{"Expects", "Guarantees", "Cost"} {
		f := p.Header.Field(name)
		if f == nil {
			continue
		}
		for _, part := range f.Parts {
			st := prove.Statement{Field: string(name), Text: part.Text, Span: part.Span}
			for _, t := range part.Tags {
				st.Tags = append(st.Tags, prove.StatementTag{Text: t.Text, Span: t.Span})
			}
			out = append(out, st)
		}
	}
	return out
}
