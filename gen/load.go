package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Source is a loaded tree of pages: what every command of the compiler
// starts from.
type Source struct {
	Pages []*spec.Page
	Files []*notation.File // in step with Pages
	Tree  *units.Tree

	library map[string]bool   // paths of pages whose units are compiled elsewhere
	home    abi.Home          // of the code of the others
	root    string            // their paths in generated files are relative to it; "" leaves them
	titles  map[string]string // names in generated files of pages that are in memory
	files   []*source.File    // of the pages
}

// Own reports whether a unit is the project's, and not the library's.
func (s *Source) Own(u *notation.Unit) bool { return s.OwnFile(u.Span.File) }

// OwnFile reports the same of a page.
func (s *Source) OwnFile(f *source.File) bool { return !s.library[f.Path] }

// OwnMessages are the messages that are not about a page of the library.
func (s *Source) OwnMessages(ds diag.List) diag.List {
	var out diag.List
	for _, d := range ds.Sorted() {
		if d.Span.File == nil || !s.library[d.Span.File.Path] {
			out.Add(d)
		}
	}
	return out
}

// OwnPages are the pages of the project.
func (s *Source) OwnPages() []*spec.Page {
	return slices.DeleteFunc(slices.Clone(s.Pages), func(p *spec.Page) bool { return s.library[p.File.Path] })
}

// homeOf is where the code of a unit is.
func (s *Source) homeOf(u *notation.Unit) abi.Home {
	if s.Own(u) {
		return s.home
	}
	return libraryHome
}

// Path is the path of a page in generated files.
func (s *Source) Path(page string) string {
	if title := s.titles[page]; title != "" {
		return title
	}
	if s.root == "" || s.library[page] {
		return page
	}
	return underRoot(s.root, page)
}

// SetTitle sets the name in generated files of a page that is in memory.
func (s *Source) SetTitle(page *source.File, title string) {
	s.titles = map[string]string{page.Path: title}
}

// within is the source with a part of its tree.
func (s *Source) within(t *units.Tree) *Source {
	c := *s
	c.Tree = t
	return &c
}

// Load reads all pages under the given files and folders, in the order of
// their paths, and parses their blocks. Paths in messages are as given.
func Load(paths ...string) (*Source, diag.List) {
	return LoadWith(paths)
}

// load reads the pages under files and folders, and takes them with those that are in
// memory through the passes over pages.
func (s *Source) load(before []*source.File, paths []string, after []*source.File, stats *Stats) (*Source, diag.List) {
	var ds diag.List
	files, errs := readPages(paths)
	for _, err := range errs {
		ds.Errorf(diag.Unreadable, source.Span{}, "%v", err)
	}
	if len(errs) > 0 {
		files = nil
	}
	s.files = slices.Concat(before, files, after)
	for _, p := range Pipeline {
		if p.Pages != nil {
			stats.measure(p.Name, func() { p.Pages(s, &ds) })
		}
	}
	return s, ds
}

// readPages reads the pages under files and folders, in the order of their paths.
func readPages(paths []string) (out []*source.File, errs []error) {
	names, errs := pages(paths)
	for _, p := range names {
		text, err := os.ReadFile(p)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, source.NewFile(filepath.ToSlash(p), string(text)))
	}
	return out, errs
}

// LoadWith is Load with further pages that are in memory.
func LoadWith(paths []string, more ...*source.File) (*Source, diag.List) {
	return (&Source{home: libraryHome}).load(nil, paths, more, nil)
}

// Load reads the pages of a project, those of the library before them and pages that
// are in memory after them.
func (c Config) Load(more ...*source.File) (*Source, diag.List) {
	s := &Source{library: map[string]bool{}, home: c.home(), root: c.Root}
	for _, f := range c.Library {
		s.library[f.Path] = true
	}
	return s.load(c.Library, c.Specs, more, c.Stats)
}

// LoadFiles is Load for pages that are in memory.
func LoadFiles(files ...*source.File) (*Source, diag.List) { return LoadWith(nil, files...) }

// pages are the names of the pages under files and folders, sorted.
func pages(paths []string) (out []string, errs []error) {
	for _, root := range paths {
		_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			page := false
			if err == nil {
				page, err = isPage(p, d, p == root)
			} else if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
				err = fmt.Errorf("read %s: %w", filepath.ToSlash(p), pe.Err)
			}
			switch {
			case err != nil:
				errs = append(errs, err)
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
			case page:
				out = append(out, p)
			}
			return nil
		})
	}
	slices.Sort(out)
	return slices.Compact(out), errs
}

// isPage reports whether a file is a page, which one that was named always is. It fails
// for what would be passed over in silence though it may be meant.
func isPage(path string, d fs.DirEntry, named bool) (bool, error) {
	name, page := filepath.ToSlash(path), strings.HasSuffix(path, ".md")
	leads := func() bool {
		info, err := os.Stat(path)
		return err == nil && info.IsDir()
	}
	switch {
	case d.Type()&fs.ModeSymlink != 0 && (page || named || leads()):
		return false, fmt.Errorf("%s is a link; name the file or folder that it leads to, so that a page has one path", name)
	case d.IsDir() && page:
		return false, fmt.Errorf("%s is a folder, and a name that ends in .md is a page's", name)
	case !d.IsDir() && !page && strings.EqualFold(filepath.Ext(path), ".md"):
		return false, fmt.Errorf("%s is no page: the name of a page ends in .md; rename it", name)
	case d.IsDir() || !page && !named:
		return false, nil
	case !d.Type().IsRegular():
		return false, fmt.Errorf("%s is no regular file", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, breaksLine):
		return false, fmt.Errorf("%q cannot be the name of a page: names are UTF-8 without control characters; rename it", name)
	}
	return true, nil
}

// breaksLine reports whether a character cannot be in the line of a comment that names
// the page of generated code.
func breaksLine(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == '\ufeff'
}

// parsePages reads the markdown of all pages.
func (s *Source) parsePages(ds *diag.List) {
	for _, f := range s.files {
		p, pd := markdown.Parse(f)
		ds.Append(pd)
		s.Pages = append(s.Pages, p)
	}
}

// parseBlocks parses the blocks of all pages. It scans all of them first, because a
// name( is a call only if some page defines the name. A page of the library is parsed
// as the library alone has it, and what an example defines is known to its own page.
func (s *Source) parseBlocks(ds *diag.List) {
	scanned := make([]*parser.Scanned, len(s.Pages))
	library, known := map[string]bool{}, map[string]bool{}
	for i, p := range s.Pages {
		scanned[i] = parser.Scan(p.File, inputs(p))
		if p.Emits() {
			maps.Copy(known, scanned[i].Known())
			if s.library[p.File.Path] {
				maps.Copy(library, scanned[i].Known())
			}
		}
	}
	for i, p := range s.Pages {
		fences(p, ds)
		others := known
		if s.library[p.File.Path] {
			others = library
		}
		f, nd := scanned[i].Parse(others)
		ds.Append(nd)
		s.Files = append(s.Files, f)
	}
}

// collect makes the tree of the units of all pages.
func (s *Source) collect(ds *diag.List) {
	var emitted []*notation.File
	for i, p := range s.Pages {
		if p.Emits() {
			emitted = append(emitted, s.Files[i])
		}
	}
	tree, td := units.Collect(emitted)
	ds.Append(td)
	s.Tree = tree
}

// fences refuses a `hecate` block whose second word means nothing: a misspelt
// `example` would be compiled as source. And a misspelt `hecate` would be prose.
func fences(p *spec.Page, ds *diag.List) {
	for _, b := range p.Blocks {
		words := strings.Fields(b.Info)
		switch {
		case b.IsHecate && !b.IsExample && len(words) > 1:
			ds.Errorf(diag.UnknownFence, b.InfoSpan, "a fence is hecate or hecate example, not hecate %s", words[1]).
				Hint("other fences stay prose")
		case !b.IsHecate && p.Header != nil && b.Lang != "" && ident.Nearest(b.Lang, []string{spec.Fence}) != "":
			ds.Errorf(diag.UnknownFence, b.InfoSpan, "a fence is hecate or hecate example, not %s", words[0]).
				Hint("did you mean %s?", spec.Fence)
		}
	}
}

// inputs are the blocks of a page that the compiler reads.
func inputs(p *spec.Page) []parser.Input {
	var out []parser.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, parser.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample})
		}
	}
	return out
}
