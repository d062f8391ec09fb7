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
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Source is a loaded tree of pages: what every command of the compiler
// starts from.
type Source struct {
	Pages []*spec.Page
	Files []*notation.File // in step with Pages
	Tree  *check.Tree
}

// Load reads all pages under the given files and folders, in the order of
// their paths, and parses their blocks. Paths in messages are as given.
func Load(paths ...string) (*Source, diag.List) {
	return LoadWith(paths)
}

// read adds the pages under files and folders.
func (s *Source) read(paths []string, ds *diag.List) {
	names, err := pages(paths)
	if err != nil {
		ds.Errorf(diag.Unreadable, source.Span{}, "%v", err)
		return
	}
	for _, p := range names {
		text, err := os.ReadFile(p)
		if err != nil {
			ds.Errorf(diag.Unreadable, source.Span{}, "%v", err)
			continue
		}
		s.add(source.NewFile(filepath.ToSlash(p), string(text)), ds)
	}
}

// LoadWith is Load with further pages that are in memory.
func LoadWith(paths []string, more ...*source.File) (*Source, diag.List) {
	var ds diag.List
	s := &Source{}
	s.read(paths, &ds)
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
			if !d.IsDir() && (strings.HasSuffix(p, ".md") || p == root) {
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
	known := map[string]bool{}
	for _, p := range s.Pages {
		if p.Emits() {
			maps.Copy(known, notation.Known(inputs(p, nil)))
		}
	}
	var emitted []*notation.File
	for _, p := range s.Pages {
		fences(p, ds)
		// What an example defines is known to its own page alone.
		own := maps.Clone(known)
		maps.Copy(own, notation.Known(inputs(p, nil)))
		f, nd := notation.Parse(p.File, inputs(p, own))
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
func inputs(p *spec.Page, known map[string]bool) []notation.Input {
	var out []notation.Input
	for _, b := range p.Blocks {
		if b.IsHecate {
			out = append(out, notation.Input{Text: b.Text, Offset: b.FileOffset, File: p.File, Example: b.IsExample, Known: known})
		}
	}
	return out
}
