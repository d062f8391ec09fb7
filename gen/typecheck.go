package gen

import (
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/papers"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// TypeCheck resolves and types every unit of the project, and returns its errors
// and warnings. Nothing is proved or lowered.
func (s *Source) TypeCheck() diag.List {
	var all diag.List
	for _, u := range s.Tree.Order {
		if !Standalone(u) || !s.Own(u) {
			continue
		}
		c := newCompiler(s, u, Config{})
		func() {
			defer caught(u, codeStage, c.ds)
			c.run(codeStage, "ir")
		}()
		all.Append(*c.ds)
		if c.blk != nil && !u.Example {
			all.Append(c.blk.CheckInputs())
		}
	}
	return firstAtEachPlace(all)
}

// References resolves what the project's pages cite and name. Files are sought as they
// are named, and under the root.
func (s *Source) References(root string) diag.List {
	exists := func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Mode().IsRegular()
	}
	bib, ds := s.Papers()
	ds.Append(inspect.Resolve(s.Pages, bib, func(name string) bool {
		return exists(name) || exists(filepath.Join(root, name))
	}))
	_, cd := papers.New(s.Tree.Order, bib, s.OwnFile)
	ds.Append(cd)
	return s.OwnMessages(ds)
}

// firstAtEachPlace keeps one of several messages with one code at one place: a line of a
// front is built in every rule over it.
func firstAtEachPlace(ds diag.List) diag.List {
	type key struct {
		code diag.Code
		span source.Span
	}
	var out diag.List
	var seen []key
	for _, d := range ds.Sorted() {
		k := key{d.Code, d.Span}
		if !d.Span.IsZero() && slices.Contains(seen, k) {
			continue
		}
		seen = append(seen, k)
		out.Add(d)
	}
	return out
}

// Papers is the bibliography of a source: the rows of the pages papers.md, the
// library's and the project's. A key is in one of them.
func (s *Source) Papers() (*spec.Bibliography, diag.List) {
	var ds diag.List
	all := &spec.Bibliography{}
	for _, p := range s.Pages {
		if path.Base(p.File.Path) != markdown.BibliographyName {
			continue
		}
		b, bd := markdown.Bibliography(p.File)
		ds.Append(bd)
		all.File = b.File
		for _, paper := range b.Papers {
			if old := all.ByKey(paper.Key); old != nil {
				ds.Errorf(diag.BadPaperRow, paper.Span, "the key %s is in two bibliographies", paper.Key).
					See(old.Span, "the other one").Hint("take the row away, or give the paper another key")
				continue
			}
			all.Papers = append(all.Papers, paper)
		}
		all.Rows = append(all.Rows, b.Rows...)
	}
	if all.File == nil {
		return nil, ds
	}
	return all, ds
}
