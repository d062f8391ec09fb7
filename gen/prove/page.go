package prove

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A page's header makes statements too. One with a tag must be backed by a
// line with that tag in a block of the same page, and is as good as the worst
// of these lines; one without is prose, listed as such and never counted as
// checked.

// proseFields are the fields whose statements are listed.
var proseFields = []spec.FieldName{spec.Expects, spec.Guarantees, spec.Cost}

// Page proves the header of a page, given the reports of its units.
func Page(page *spec.Page, file *notation.File, reports []*Report) (*Report, diag.List) {
	var ds diag.List
	rep := &Report{Unit: page.File.Path, ID: "page:" + pageID(page.File.Path)}
	lines := taggedLines(file)
	for _, name := range proseFields {
		f := page.Header.Field(name)
		if f == nil {
			continue
		}
		for i, part := range f.Parts {
			id := fmt.Sprintf("%s.%s.%s%d", rep.ID, Tag, check.ID(string(name)), i+1)
			if len(part.Tags) == 0 {
				rep.Items = append(rep.Items, Item{ID: id, Kind: Tag, Name: string(name), Text: part.Text, Span: part.Span, Evidence: Evidence{Verdict: ProseOnly}})
			}
			for _, tag := range part.Tags {
				it := Item{ID: id + ":" + tag.Text, Kind: Tag, Name: tag.Text, Text: part.Text, Span: part.Span}
				it.Evidence = backed(tag, lines[tag.Text], reports)
				if len(lines[tag.Text]) == 0 {
					ds.Errorf(diag.TagUnbacked, tag.Span, "no line of this page has the tag {%s}", tag.Text).
						Hint("write {%s} behind the claim, invariant or cost that says this, or take the tag away", tag.Text)
				}
				rep.Items = append(rep.Items, it)
			}
		}
	}
	return rep, ds
}

// pageID is a page's name without its folders and its ending.
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
func backed(tag spec.Tag, lines []source.Span, reports []*Report) Evidence {
	ev := Evidence{Verdict: Proved}
	found := false
	for _, r := range reports {
		for _, it := range r.Items {
			for _, at := range lines {
				if it.Span == at {
					found = true
					ev.Verdict = max(ev.Verdict, it.Verdict)
				}
			}
		}
	}
	switch {
	case len(lines) == 0:
		return failed("no line has this tag")
	case !found:
		return Evidence{Verdict: Declared, Note: "in no formula that is proved here"}
	}
	ev.Note = fmt.Sprintf("%d lines", len(lines))
	return ev
}
