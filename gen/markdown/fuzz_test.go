package markdown_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// FuzzParse checks that no page makes the parser panic, and that every span
// is in the page.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.txtar", "testdata/*.md"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, s := range []string{"", "\uFEFF", "---\nCONTRACT\n---", "```", "~~~\n\t", "- ```\n\tx", "> ```hecate\n>x\n", "CONTRACT\nPurpose:", "\x00\xff", "Eqs 1, 2", "a#?", "```\nfn a<b\n>()\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.NewFile("f.md", text)
		p, ds := markdown.Parse(file)
		for _, d := range ds.Sorted() {
			inside(t, "diagnostic", d.Span)
			for _, r := range d.Related {
				inside(t, "related", r.Span)
			}
		}
		_ = ds.Error()
		checkPage(t, p)
		bib, ds := markdown.Bibliography(file)
		_ = ds.Error()
		for _, c := range markdown.Cite(p, bib) {
			inside(t, "citation", c.Span)
		}
	})
}

func checkPage(t *testing.T, p *spec.Page) {
	for _, b := range p.Blocks {
		checkOffsets(t, p, b)
		inside(t, "info", b.InfoSpan)
		inside(t, "block part", b.FileSpan(1, len(b.Text)))
	}
	headers := p.ExtraHeaders
	if p.Header != nil {
		headers = append(headers, p.Header)
	}
	for _, h := range headers {
		inside(t, "header", h.Span)
		for _, f := range h.Fields {
			inside(t, "field name", f.NameSpan)
			inside(t, "field value", f.ValueSpan)
			for _, part := range f.Parts {
				inside(t, "part", part.Span)
			}
			for _, tag := range f.Tags {
				inside(t, "tag", tag.Span)
			}
		}
	}
	for _, c := range p.Citations {
		inside(t, "citation", c.Span)
	}
	for _, r := range p.Refs {
		inside(t, "reference", r.Span)
	}
	for _, e := range p.Outline {
		inside(t, "entry", e.Span)
		inside(t, "entry text", e.TextSpan)
		for _, m := range e.Members {
			inside(t, "member", m.Span)
		}
	}
	inside(t, "title", p.TitleSpan)
	inside(t, "status", p.Status.Span)
}

func inside(t *testing.T, what string, s source.Span) {
	t.Helper()
	if !s.IsZero() && (s.Start < 0 || s.End > len(s.File.Text) || s.Start > s.End) {
		t.Errorf("%s has span [%d, %d) in %d bytes", what, s.Start, s.End, len(s.File.Text))
	}
}
