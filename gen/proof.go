package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
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

// Prove proves the units of the project and the headers of its pages, side by side. The order
// of reports and messages is that of the pages.
func (p *Project) Prove(deep bool) (*Proof, diag.List) {
	return p.proved(deep, func(string) bool { return true })
}

// proved proves the units and the headers of the pages for which chosen is true.
func (p *Project) proved(deep bool, chosen func(page string) bool) (*Proof, diag.List) {
	out := &Proof{}
	var ds diag.List
	out.Units, ds = sideBySide(p.jobs, func(j *unitJob) (*proof.Report, diag.List) { return j.prove(deep) })
	for i, page := range p.Pages {
		if page.Header == nil || !page.Emits() || p.library[page.File.Path] || !chosen(page.File.Path) {
			continue
		}
		r, l := prove.Page(p.Files[i], statements(page), out.Units)
		out.Pages = append(out.Pages, r)
		ds.Append(l)
	}
	return out, ds
}

// ProveOnly proves the units of the pages for which chosen is true, and tells seen of
// each that is done.
func (p *Project) ProveOnly(deep bool, chosen func(page string) bool, seen func(Event)) (*Proof, diag.List) {
	q := *p
	q.conf.Seen = seen
	q.jobs = slices.DeleteFunc(slices.Clone(p.jobs), func(j *unitJob) bool { return !chosen(j.unit.Span.File.Path) })
	q.count(len(q.jobs))
	return q.proved(deep, chosen)
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
