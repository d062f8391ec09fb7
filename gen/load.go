// Package gen is the compiler: a tree of specification pages in, a tree of
// generated files out. (What it generates is in generated/.)
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

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Source is a loaded tree of pages: what every command of the compiler
// starts from.
type Source struct {
	Pages []*spec.Page
	Files []*notation.File // in step with Pages
	Tree  *check.Tree

	library map[string]bool // paths of pages whose units are compiled elsewhere
	home    plan.Home       // of the code of the others
	root    string          // folder that their paths are given under in what is emitted; "" leaves them
	formula string          // the formula of FormulaPage, if there is one
}

// Own reports whether a unit is the project's, and not the library's.
func (s *Source) Own(u *notation.Unit) bool { return !s.library[u.Span.File.Path] }

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

// ownPages are the pages of the project.
func (s *Source) ownPages() []*spec.Page {
	return slices.DeleteFunc(slices.Clone(s.Pages), func(p *spec.Page) bool { return s.library[p.File.Path] })
}

// homeOf is where the code of a unit is.
func (s *Source) homeOf(u *notation.Unit) plan.Home {
	if s.Own(u) {
		return s.home
	}
	return libraryHome
}

// Path is the path of a page as what is emitted names it.
func (s *Source) Path(page string) string {
	if page == FormulaPage {
		return s.formula
	}
	if s.root == "" || s.library[page] {
		return page
	}
	return underRoot(s.root, page)
}

// within is the source with a part of its tree.
func (s *Source) within(t *check.Tree) *Source {
	c := *s
	c.Tree = t
	return &c
}

// Load reads all pages under the given files and folders, in the order of
// their paths, and parses their blocks. Paths in messages are as given.
func Load(paths ...string) (*Source, diag.List) {
	return LoadWith(paths)
}

// read adds the pages under files and folders.
func (s *Source) read(paths []string, ds *diag.List) {
	files, err := readPages(paths)
	if err != nil {
		ds.Errorf(diag.Unreadable, source.Span{}, "%v", err)
		return
	}
	for _, f := range files {
		s.add(f, ds)
	}
}

// readPages reads the pages under files and folders, in the order of their paths.
func readPages(paths []string) (out []*source.File, err error) {
	names, err := pages(paths)
	for _, p := range names {
		text, e := os.ReadFile(p)
		if e != nil {
			err = errors.Join(err, e)
			continue
		}
		out = append(out, source.NewFile(filepath.ToSlash(p), string(text)))
	}
	return out, err
}

// LoadWith is Load with further pages that are in memory.
func LoadWith(paths []string, more ...*source.File) (*Source, diag.List) {
	var ds diag.List
	s := &Source{home: libraryHome}
	s.read(paths, &ds)
	for _, f := range more {
		s.add(f, &ds)
	}
	s.finish(&ds)
	return s, ds
}

// Load reads the pages of a project, those of the library before them and pages that
// are in memory behind them.
func (c Config) Load(more ...*source.File) (*Source, diag.List) {
	var ds diag.List
	s := &Source{library: map[string]bool{}, home: c.home(), root: c.Root}
	for _, f := range c.Library {
		s.library[f.Path] = true
		s.add(f, &ds)
	}
	s.read(c.Specs, &ds)
	for _, f := range more {
		s.add(f, &ds)
	}
	s.finish(&ds)
	return s, ds
}

// LoadFiles is Load for pages that are in memory.
func LoadFiles(files ...*source.File) (*Source, diag.List) { return LoadWith(nil, files...) }

func pages(paths []string) ([]string, error) {
	var out []string
	for _, root := range paths {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				var pe *fs.PathError
				if errors.As(err, &pe) {
					return fmt.Errorf("read %s: %w", filepath.ToSlash(p), pe.Err)
				}
				return err
			}
			name, page := filepath.ToSlash(p), strings.HasSuffix(p, ".md")
			switch {
			case d.Type()&fs.ModeSymlink != 0 && (page || p == root):
				return fmt.Errorf("%s is a link; name the file or folder that it leads to, so that a page has one path", name)
			case d.IsDir() && page:
				return fmt.Errorf("%s is a folder, and a name that ends in .md is a page's", name)
			case d.IsDir() || !page && p != root:
			case !d.Type().IsRegular():
				return fmt.Errorf("%s is no regular file", name)
			default:
				out = append(out, p)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// add parses one page; blocks are parsed when all pages are known, because a
// name( is a call only if some page defines the name.
func (s *Source) add(f *source.File, ds *diag.List) {
	p, pd := markdown.Parse(f)
	ds.Append(pd)
	s.Pages = append(s.Pages, p)
}

func (s *Source) finish(ds *diag.List) {
	// A page of the library is read as the library alone has it; what an example defines
	// is known to its own page.
	scanned := make([]*notation.Scanned, len(s.Pages))
	library, known := map[string]bool{}, map[string]bool{}
	for i, p := range s.Pages {
		scanned[i] = notation.Scan(p.File, inputs(p))
		if p.Emits() {
			maps.Copy(known, scanned[i].Known())
			if s.library[p.File.Path] {
				maps.Copy(library, scanned[i].Known())
			}
		}
	}
	var emitted []*notation.File
	for i, p := range s.Pages {
		fences(p, ds)
		others := known
		if s.library[p.File.Path] {
			others = library
		}
		f, nd := scanned[i].Parse(others)
		ds.Append(nd)
		s.Files = append(s.Files, f)
		if p.Emits() {
			emitted = append(emitted, f)
		}
	}
	tree, td := check.Collect(emitted)
	ds.Append(td)
	s.Tree = tree
}

// fences refuses a `hecate` block whose second word means nothing: a misspelt
// `example` would be compiled as source.
func fences(p *spec.Page, ds *diag.List) {
	for _, b := range p.Blocks {
		if words := strings.Fields(b.Info); b.IsHecate && !b.IsExample && len(words) > 1 {
			ds.Errorf(diag.UnknownFence, b.InfoSpan, "a fence is hecate or hecate example, not hecate %s", words[1]).
				Hint("other fences stay prose")
		}
	}
}

// inputs are the blocks of a page that the compiler reads.
func inputs(p *spec.Page) []notation.Input {
	var out []notation.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, notation.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample})
		}
	}
	return out
}
