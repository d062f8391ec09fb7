package prove

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// A page's header makes statements too. A statement with a tag must be backed by a line with
// that tag in a block of the same page, and has the worst verdict of these lines. A statement
// without a tag is prose.

// A Statement is one statement of a page's header: a part of a field.
type Statement struct {
	Field string // Guarantees
	Text  string // without the tags
	Span  source.Span
	Tags  []StatementTag
}

// A StatementTag is a {tag} of a statement.
type StatementTag struct {
	Text string
	Span source.Span
}

// Page proves the statements of a page's header, given the reports of its units. The caller
// decides which fields are statements.
func Page(file *notation.File, header []Statement, reports []*proof.Report) (*proof.Report, diag.List) {
	var ds diag.List
	rep := &proof.Report{Unit: file.Source.Path, ID: "page:" + pageID(file.Source.Path)}
	lines := taggedLines(file)
	nth := map[string]int{}
	for _, st := range header {
		nth[st.Field]++
		it := proof.Item{ID: fmt.Sprintf("%s.%s.%s%d", rep.ID, proof.Header, ident.ID(st.Field), nth[st.Field]), Kind: proof.Header, Name: st.Field, Text: st.Text, Span: st.Span}
		if len(st.Tags) == 0 {
			it.Evidence = proof.Evidence{Verdict: proof.ProseOnly}
			rep.Items = append(rep.Items, it)
		}
		id := it.ID
		for _, tag := range st.Tags {
			it.ID, it.Name, it.Evidence = id+":"+tag.Text, tag.Text, backed(lines[tag.Text], reports)
			if len(lines[tag.Text]) == 0 {
				ds.Errorf(diag.TagUnbacked, tag.Span, "no line of this page has the tag {%s}", tag.Text).
					Hint("write {%s} after the claim, invariant or cost that says this, or remove the tag", tag.Text)
			}
			rep.Items = append(rep.Items, it)
		}
	}
	return rep, ds
}

// pageID is the base name of a page without its extension.
func pageID(path string) string {
	path = path[strings.LastIndexByte(path, '/')+1:]
	return strings.TrimSuffix(path, ".md")
}

// taggedLines lists the lines of a page by tag.
func taggedLines(file *notation.File) map[string][]source.Span {
	out := map[string][]source.Span{}
	add := func(tag *notation.Word, at source.Span) {
		if tag != nil {
			out[tag.Text] = append(out[tag.Text], at)
		}
	}
	for _, u := range file.Units {
		for _, st := range u.Body {
			switch st := st.(type) {
			case *notation.Claim:
				add(st.Tag, st.Span)
			case *notation.Invariant:
				add(st.Tag, st.Span)
			case *notation.Cost:
				add(st.Tag, st.Span)
			}
		}
	}
	return out
}

// backed is the worst verdict of the lines with a tag, over all units that
// they were proved in.
func backed(lines []source.Span, reports []*proof.Report) proof.Evidence {
	ev := proof.Evidence{Verdict: proof.Proved}
	found := false
	for _, r := range reports {
		for _, it := range r.Items {
			for _, at := range lines {
				if it.Span == at && !it.Elsewhere {
					found = true
					ev.Verdict = max(ev.Verdict, it.Verdict)
				}
			}
		}
	}
	switch {
	case len(lines) == 0:
		return proof.Failure("no line has this tag")
	case !found:
		return proof.Evidence{Verdict: proof.Declared, Note: "in no formula that is proved here"}
	}
	if ev.Note = fmt.Sprintf("%d lines", len(lines)); len(lines) == 1 {
		ev.Note = "1 line"
	}
	return ev
}
