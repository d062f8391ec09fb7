// Package inspect reads a tree of specification pages, of this project or not, and
// reports their contents: headers and their fields, status, citations, references to
// other pages, blocks, and the declarations of the pseudo-code.
//
// A citation or a reference that does not resolve is listed with its position. It is
// a diagnostic only on a page with hecate blocks; other diagnostics are about the
// form of a page.
package inspect

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Report has the pages of a tree in the order of their paths.
type Report struct {
	Pages        []*spec.Page
	Bibliography *spec.Bibliography // nil where no papers.md was found
}

// Tree reads the named files and every page in the named folders: files that
// end in .md, and .txt files that begin with a markdown heading. Files that
// are named themselves are read whatever their name.
//
// The bibliography is papers.md: the first one in the tree, or one in a folder
// above it, up to the root of the module or repository.
func Tree(paths []string) (*Report, diag.List) {
	var diags diag.List
	files := listFiles(paths, &diags)
	r := &Report{}
	for _, name := range files {
		f, err := read(name)
		if err != nil {
			reportUnreadable(&diags, name, err)
			continue
		}
		if isText(name) && !slices.Contains(paths, name) && !strings.HasPrefix(strings.TrimPrefix(f.Text, "\uFEFF"), "#") {
			continue
		}
		p, ds := markdown.Parse(f)
		r.Pages = append(r.Pages, p)
		diags.Append(ds)
	}
	diags.Append(r.findBibliography(paths))
	diags.Append(Resolve(r.Pages, r.Bibliography, exists))
	return r, diags
}

func isText(name string) bool { return strings.HasSuffix(name, ".txt") }

func read(name string) (*source.File, error) {
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	return source.NewFile(name, string(data)), nil
}

func exists(name string) bool {
	info, err := os.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// reportUnreadable reports why a file cannot be read, without the path that Go's error
// repeats.
func reportUnreadable(diags *diag.List, name string, err error) {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	diags.Errorf(diag.Unreadable, source.Span{}, "cannot read %s: %v", name, err)
}

// listFiles lists the files of a tree once each, sorted, with slashes.
func listFiles(paths []string, diags *diag.List) []string {
	var out []string
	for _, root := range paths {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				reportUnreadable(diags, filepath.ToSlash(name), err)
				return nil
			}
			hidden := strings.HasPrefix(d.Name(), ".") && name != root && d.Name() != "."
			if d.IsDir() {
				if hidden {
					return filepath.SkipDir
				}
				return nil
			}
			page := strings.HasSuffix(name, ".md") || isText(name)
			if name == root || page && !hidden && d.Type().IsRegular() {
				out = append(out, filepath.ToSlash(name))
			}
			return nil
		})
		if err != nil {
			reportUnreadable(diags, filepath.ToSlash(root), err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// findBibliography reads papers.md from the tree or from a folder above it.
func (r *Report) findBibliography(paths []string) diag.List {
	for _, p := range r.Pages {
		if path.Base(p.File.Path) == markdown.BibliographyName {
			var ds diag.List
			r.Bibliography, ds = markdown.Bibliography(p.File)
			return ds
		}
	}
	for _, root := range paths {
		name, ok := bibliographyAbove(root)
		if !ok {
			continue
		}
		if f, err := read(name); err == nil {
			var ds diag.List
			r.Bibliography, ds = markdown.Bibliography(f)
			return ds
		}
	}
	return diag.List{}
}

// bibliographyAbove searches papers.md in the folders above a path, and in specs/ there.
func bibliographyAbove(root string) (string, bool) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return "", false
	}
	for {
		dir = filepath.Dir(dir)
		for _, name := range []string{filepath.Join(dir, markdown.BibliographyName), filepath.Join(dir, "specs", markdown.BibliographyName)} {
			if exists(name) {
				return filepath.ToSlash(name), true
			}
		}
		if dir == filepath.Dir(dir) || exists(filepath.Join(dir, "go.mod")) || isDir(filepath.Join(dir, ".git")) {
			return "", false
		}
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
