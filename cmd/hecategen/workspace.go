package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate"
	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/cache"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/project"
	"github.com/nl-hecate/hecate/gen/source"
)

// A workspace is the pages that a command reads, and the project that they belong to.
// Every command finds it in the same way: the project is that of the working
// directory, or of the first page that the command line names; its pages use the
// library's, which the command carries; and named pages from elsewhere are read with
// them. Outside of a project the named pages use the library alone.
type workspace struct {
	conf    gen.Config
	named   []string         // files and folders of the command line
	project *project.Project // nil outside of one
}

// An opener opens the workspace of a command with the pages that its arguments name.
type opener func(named []string) (*workspace, error)

// workspaceFlags adds the flag that replaces all this by one folder of pages.
func workspaceFlags(c *command) opener {
	specs := c.flags.String("specs", "", "`folder` of pages to read in place of the library's and of the project's")
	return func(named []string) (*workspace, error) { return openWorkspace(named, *specs) }
}

// pages opens a workspace, and refuses to go on where there is neither a project nor a
// page that was named.
func (open opener) pages(named []string) (*workspace, error) {
	w, err := open(named)
	if err == nil && len(w.conf.Specs) == 0 {
		err = w.mustBeProject()
	}
	return w, err
}

// openProject opens the project of the working directory.
func openProject() (*workspace, error) {
	w, err := openWorkspace(nil, "")
	if err == nil {
		err = w.mustBeProject()
	}
	return w, err
}

func openWorkspace(named []string, specs string) (*workspace, error) {
	w := &workspace{conf: gen.Config{Root: ".", Specs: named, Cache: cache.Folder()}, named: named}
	if specs != "" {
		w.conf.Specs = distinct(append(slices.Clone(named), specs))
		return w, nil
	}
	p, err := project.Find(home(named))
	switch {
	case errors.Is(err, project.ErrNone):
		w.conf.Library, err = library()
		return w, err
	case err != nil:
		return nil, err
	}
	if err := p.Fits(hecate.Specs); err != nil && !errors.Is(err, project.ErrNotRequired) {
		return nil, err
	}
	w.project = p
	w.conf.Root, w.conf.Go, w.conf.Import, w.conf.CUDA, w.conf.Former = p.Root, p.Go, p.Import, p.CUDA, p.Former
	w.conf.NoText = p.CUDA == ""
	if !p.Kernels {
		w.conf.CUDA = gen.NoCUDA
	}
	w.conf.Specs = distinct(append(slices.Clone(named), p.Pages()...))
	if !p.Standalone {
		w.conf.Library, err = library()
	}
	return w, err
}

// home is the folder whose project counts.
func home(named []string) string {
	if len(named) == 0 {
		return "."
	}
	if info, err := os.Stat(named[0]); err == nil && info.IsDir() {
		return named[0]
	}
	return filepath.Dir(named[0])
}

// library is the pages of the library, under its import path.
func library() ([]*source.File, error) {
	pages, err := project.Pages(hecate.Specs)
	if err != nil {
		return nil, err
	}
	var out []*source.File
	for _, p := range pages {
		out = append(out, source.NewFile(project.Library+"/"+p.Path, p.Text))
	}
	return out, nil
}

// mustBeProject refuses to go on outside of a project, and in one whose module cannot
// use the generated code.
func (w *workspace) mustBeProject() error {
	if w.project == nil {
		_, err := project.Find(home(w.named))
		return err
	}
	return w.project.Fits(hecate.Specs)
}

// output is the folder that the flag -o of a command names. The default is under the
// root of the project, and no output may be among the pages.
func (w *workspace) output(c *command, dir string) (string, error) {
	given := false
	c.flags.Visit(func(f *flag.Flag) { given = given || f.Name == "o" })
	if !given {
		dir = filepath.Join(w.conf.Root, dir)
	}
	for _, s := range w.conf.Specs {
		if inside(dir, s) {
			return "", fmt.Errorf("%s is among the pages in %s; choose another folder with -o", dir, s)
		}
	}
	return dir, nil
}

// chosen reports whether a page is one that the command line names. Where it names no
// page, all are.
func (w *workspace) chosen(page string) bool {
	return len(w.named) == 0 || slices.ContainsFunc(w.named, func(n string) bool { return inside(page, n) })
}

// outDir is the folder of a report unless a flag names another.
func outDir(name string) string { return filepath.Join("out", name) }

func absolute(name string) string {
	if abs, err := filepath.Abs(filepath.FromSlash(name)); err == nil {
		return abs
	}
	return name
}

// inside reports whether a path is another one or is below it.
func inside(path, root string) bool {
	a, b := absolute(path), absolute(root)
	return a == b || strings.HasPrefix(a, b+string(filepath.Separator))
}

// distinct drops the roots that are inside of another root, and those named twice, so
// that no page is loaded under two names. A page that is named keeps the name.
func distinct(roots []string) []string {
	var out []string
	for i, r := range roots {
		again := slices.ContainsFunc(roots[:i], func(s string) bool { return absolute(r) == absolute(s) })
		if !again && !slices.ContainsFunc(roots, func(s string) bool { return absolute(r) != absolute(s) && inside(r, s) }) {
			out = append(out, r)
		}
	}
	return out
}

// sameFile reports whether two names lead to one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(filepath.FromSlash(a))
	y, errY := os.Stat(filepath.FromSlash(b))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// findUnit finds a unit by name, or suggests a similar name.
func findUnit(s *gen.Source, name string, err io.Writer) *notation.Unit {
	if u := s.Tree.Units[name]; u != nil {
		return u
	}
	var names []string
	for _, u := range s.Tree.Order {
		names = append(names, u.Name.Text)
	}
	fmt.Fprintf(err, "hecategen: no page defines %s\n", name)
	if n := ident.Nearest(name, names); n != "" {
		fmt.Fprintf(err, "  help: did you mean %s?\n", n)
	}
	return nil
}
