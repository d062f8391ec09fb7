package prove_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
)

// pages is a loaded tree of pages; package gen has the real one, and imports
// this package.
type pages struct {
	Pages []*spec.Page
	Files []*notation.File
	Tree  *units.Tree
}

func load(files ...*source.File) (*pages, diag.List) {
	var ds diag.List
	s := &pages{}
	known := map[string]bool{}
	for _, f := range files {
		p, pd := markdown.Parse(f)
		ds.Append(pd)
		s.Pages = append(s.Pages, p)
		for n := range parser.Known(inputs(p, nil)) {
			known[n] = true
		}
	}
	for _, p := range s.Pages {
		f, nd := parser.Parse(p.File, inputs(p, known))
		ds.Append(nd)
		s.Files = append(s.Files, f)
	}
	tree, td := units.Collect(s.Files)
	ds.Append(td)
	s.Tree = tree
	return s, ds
}

func inputs(p *spec.Page, known map[string]bool) []parser.Input {
	var out []parser.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, parser.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample, Known: known})
		}
	}
	return out
}

// specs are the pages of the project, and some more.
func specs(t testing.TB, more ...string) *pages {
	t.Helper()
	var files []*source.File
	var names []string
	err := filepath.WalkDir("../../specs", func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".md") {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, n := range slices.Concat(names, more) {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := markdown.Parse(source.NewFile(n, string(text))); p.Ours() {
			files = append(files, source.NewFile(filepath.ToSlash(n), string(text)))
		}
	}
	s, ds := load(files...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	return s
}

// header are the statements of a page's header.
func header(p *spec.Page) []prove.Statement {
	var out []prove.Statement
	for _, name := range []spec.FieldName{spec.Expects, spec.Guarantees, spec.Cost} {
		f := p.Header.Field(name)
		if f == nil {
			continue
		}
		for _, part := range f.Parts {
			st := prove.Statement{Field: string(name), Text: part.Text, Span: part.Span}
			for _, tag := range part.Tags {
				st.Tags = append(st.Tags, prove.StatementTag{Text: tag.Text, Span: tag.Span})
			}
			out = append(out, st)
		}
	}
	return out
}
