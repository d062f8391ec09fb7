package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// golden runs one archive per file: page.md goes in, want comes out. With
// UPDATE set it rewrites the archives and still fails.
func golden(t *testing.T, pattern string, show func(*spec.Page, diag.List) string) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives %s: %v", pattern, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := show(markdown.Parse(source.NewFile("page.md", string(ar.Files[0].Data))))
			want := ""
			if len(ar.Files) > 1 {
				want = string(ar.Files[1].Data)
			}
			diff := cmp.Diff(want, got)
			if diff == "" {
				return
			}
			if os.Getenv("UPDATE") != "" {
				ar.Files = append(ar.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(ar), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Errorf("%s (-want +got):\n%s", name, diff)
		})
	}
}

func at(s source.Span) string {
	line, col := s.File.Pos(s.Start)
	return fmt.Sprintf("%d:%d", line, col)
}

func TestHeaders(t *testing.T) {
	golden(t, "testdata/headers/*.txtar", func(p *spec.Page, ds diag.List) string {
		var b strings.Builder
		fmt.Fprintf(&b, "title %q\n", p.Title)
		showHeader(&b, "header", p.Header)
		for _, h := range p.ExtraHeaders {
			showHeader(&b, "extra", h)
		}
		b.WriteString(diag.Render(ds.Sorted()))
		return b.String()
	})
}

func showHeader(b *strings.Builder, what string, h *spec.Contract) {
	if h == nil {
		fmt.Fprintf(b, "%s none\n", what)
		return
	}
	text := h.Span.Text()
	fmt.Fprintf(b, "%s %s at %s, %d lines\n", what, h.Form, at(h.Span), strings.Count(text, "\n")+1)
	for _, f := range h.Fields {
		fmt.Fprintf(b, "  %s %s %q", at(f.NameSpan), f.Name, f.Value)
		if !f.ValueSpan.IsZero() {
			fmt.Fprintf(b, " at %s", at(f.ValueSpan))
		}
		b.WriteByte('\n')
		if len(f.Parts) > 1 || len(f.Tags) > 0 {
			for _, part := range f.Parts {
				fmt.Fprintf(b, "    %s %q", at(part.Span), part.Text)
				for _, tag := range part.Tags {
					fmt.Fprintf(b, " {%s|%s} %s", tag.Kind, tag.Arg, tag.Span.Text())
				}
				b.WriteByte('\n')
			}
		}
	}
}

func TestOutline(t *testing.T) {
	golden(t, "testdata/outline/*.txtar", func(p *spec.Page, _ diag.List) string {
		var b strings.Builder
		for _, e := range p.Outline {
			fmt.Fprintf(&b, "%s %s", at(e.Span), e.Kind)
			for _, s := range []string{e.Name, e.Gloss, e.Text} {
				fmt.Fprintf(&b, " %q", s)
			}
			if e.Comment {
				b.WriteString(" comment")
			}
			fmt.Fprintf(&b, " in %q\n", e.Section)
			for _, m := range e.Members {
				fmt.Fprintf(&b, "  %s %q %q %q -- %q %s\n", at(m.Span), m.Name, m.Op, m.Text, m.Note, m.Lifetime())
			}
			for _, n := range e.Notes {
				fmt.Fprintf(&b, "  %s note %q\n", at(n.Span), n.Text)
			}
		}
		return b.String()
	})
}
