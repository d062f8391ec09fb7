// Package project finds the module of a folder and reads its file hecate.toml, which
// names the folders of the pages and of the generated code.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// FileName is the name of the file that makes a module a project.
const FileName = "hecate.toml"

// ErrNone is wrapped by the error of Find where no project is.
var ErrNone = errors.New("no " + FileName)

// A Project is a module with pages.
type Project struct {
	Root   string // its folder, as it was found: absolute, or relative to the working directory
	Module string // its import path

	Specs      []string // folders and files of pages, under the root
	Go         string   // folder of the generated Go, under the root
	Import     string   // import path of that folder
	CUDA       string   // folder of the CUDA text, under the root; "" for none
	Kernels    bool     // CUDA is a target
	Former     string   // the same folder where CUDA is no target: what was written there goes
	Standalone bool     // without the pages of the library: these are the library
	Tool       bool     // go.mod has the compiler as a tool

	library string // version of the library that go.mod requires, "" for none
	replace string // folder that replaces it, as go.mod has it
}

// Find returns the project that a folder belongs to: the nearest folder at or above it
// with a hecate.toml, which must be the root of a Go module. The error wraps ErrNone
// where there is none, and says what is wrong and where for one that cannot be read.
func Find(dir string) (*Project, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for at := abs; ; at = filepath.Dir(at) {
		switch _, err := os.Lstat(filepath.Join(at, FileName)); {
		case err == nil:
			return read(relative(at))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return nil, fmt.Errorf("the module in %s has %w; `hecategen init` makes one", relative(at), ErrNone)
		}
		if at == filepath.Dir(at) {
			return nil, fmt.Errorf("there is %w here or in a folder above, nor a go.mod; run `go mod init` and then `hecategen init` in a folder of your own", ErrNone)
		}
	}
}

// relative names a folder from the working directory where that is shorter.
func relative(dir string) string {
	wd, err := os.Getwd()
	if err != nil {
		return dir
	}
	if rel, err := filepath.Rel(wd, dir); err == nil && len(rel) < len(dir) {
		return rel
	}
	return dir
}

func read(root string) (*Project, error) {
	name := filepath.Join(root, FileName)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	f, err := parse(name, string(text))
	if err != nil {
		return nil, err
	}
	p := &Project{Root: root, Specs: f.Specs, Go: folder(f.Go), CUDA: folder(f.CUDA), Standalone: f.Standalone}
	if err := p.module(); err != nil {
		return nil, err
	}
	if err := p.valid(f); err != nil {
		return nil, err
	}
	for i := range p.Specs {
		if err := p.holdsPages(f, i); err != nil {
			return nil, err
		}
	}
	p.Kernels = slices.Contains(f.Targets, "cuda")
	if !p.Kernels {
		p.CUDA, p.Former = "", p.CUDA
	}
	return p, nil
}

// folder is a path as a clean one with slashes; an empty one stays empty.
func folder(dir string) string {
	if dir == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(dir))
}

// module reads go.mod.
func (p *Project) module() error {
	name := filepath.Join(p.Root, "go.mod")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is in a folder without go.mod; a project is a Go module", filepath.Join(p.Root, FileName))
	}
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	if mod.Module == nil {
		return fmt.Errorf("%s names no module", name)
	}
	p.Module = mod.Module.Mod.Path
	p.Tool = slices.ContainsFunc(mod.Tool, func(t *modfile.Tool) bool { return t.Path == Compiler })
	for _, r := range mod.Require {
		if r.Mod.Path == Library {
			p.library = r.Mod.Version
		}
	}
	for _, r := range mod.Replace {
		if r.Old.Path == Library {
			p.replace = r.New.Path
			if r.New.Version != "" {
				p.library = r.New.Version
			}
		}
	}
	return nil
}

// valid refuses values that no project can have, and finds the import path of the
// generated code.
func (p *Project) valid(f file) error {
	if len(f.Specs) == 0 {
		return f.errorf("specs", -1, "name at least one folder of pages")
	}
	for i, t := range f.Targets {
		if !slices.Contains(targets, t) {
			return f.errorf("targets", i, "there is no target %q; there are %s", t, strings.Join(targets, ", "))
		}
	}
	if !slices.Contains(f.Targets, "go") {
		return f.errorf("targets", -1, "the target go cannot be left out: everything else is checked by what it makes")
	}
	for i, s := range p.Specs {
		clean := folder(s)
		if !inside(clean) && clean != "." {
			return f.errorf("specs", i, "%q is not a path inside the module", s)
		}
		p.Specs[i] = clean
	}
	for _, out := range []struct{ key, dir string }{{"go", p.Go}, {"cuda", p.CUDA}} {
		if out.key == "cuda" && out.dir == "" {
			continue
		}
		if !inside(out.dir) {
			return f.errorf(out.key, -1, "%q is not a folder of its own inside the module", out.dir)
		}
		for _, s := range p.Specs {
			if within(s, out.dir) || within(out.dir, s) && s != "." {
				return f.errorf(out.key, -1, "the folder %s and the pages in %s are inside of one another; generated code needs a folder of its own", out.dir, s)
			}
		}
	}
	if p.CUDA != "" && (within(p.Go, p.CUDA) || within(p.CUDA, p.Go)) {
		return f.errorf("cuda", -1, "the folders %s and %s are inside of one another", p.CUDA, p.Go)
	}
	if dir := unbuilt(p.Go); dir != "" {
		return f.errorf("go", -1, "Go builds nothing in a folder %s; choose another name", dir)
	}
	p.Import = p.importPath(p.Go)
	if f.Package != "" && f.Package != p.Import {
		return f.errorf("package", -1, "the import path of the folder %s is %s, not %s", p.Go, p.Import, f.Package)
	}
	if err := module.CheckImportPath(p.Import); err != nil {
		return f.errorf("go", -1, "%w", err)
	}
	return nil
}

// importPath is what Go calls a folder: the module around it may be one of its own.
func (p *Project) importPath(dir string) string {
	for at := dir; at != "."; at = path.Dir(at) {
		text, err := os.ReadFile(filepath.Join(p.Root, filepath.FromSlash(at), "go.mod"))
		if mod := modfile.ModulePath(text); err == nil && mod != "" {
			return path.Join(mod, strings.TrimPrefix(dir, at))
		}
	}
	return path.Join(p.Module, dir)
}

// unbuilt is the part of a path for which Go passes a folder over, or "".
func unbuilt(dir string) string {
	for elem := range strings.SplitSeq(dir, "/") {
		if elem == "vendor" || elem == "testdata" || elem != "." && strings.ContainsAny(elem[:1], "._") {
			return elem
		}
	}
	return ""
}

// holdsPages refuses a path of pages where no page is: what was generated from it
// would be removed. Links and names that are nearly a page's are left to who reads them.
func (p *Project) holdsPages(f file, i int) error {
	root := filepath.Join(p.Root, filepath.FromSlash(p.Specs[i]))
	found := false
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == root:
			return err
		case strings.EqualFold(filepath.Ext(name), ".md") || d.Type()&fs.ModeSymlink != 0 || err != nil:
			found = true
			return fs.SkipAll
		}
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.errorf("specs", i, "there is no file or folder %s", root)
	case err != nil:
		return f.errorf("specs", i, "%w", err)
	case found:
		return nil
	}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		return f.errorf("specs", i, "no page is in the folder %s; the name of a page ends in .md", root)
	}
	return f.errorf("specs", i, "%s is no page; the name of a page ends in .md", root)
}

// inside reports whether a clean path leads below the root.
func inside(p string) bool { return filepath.IsLocal(filepath.FromSlash(p)) && p != "." }

// within reports whether a is b or is inside of it.
func within(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }

// Pages are the paths of the spec folders from the working directory.
func (p *Project) Pages() []string {
	var out []string
	for _, s := range p.Specs {
		out = append(out, filepath.Join(p.Root, filepath.FromSlash(s)))
	}
	return out
}
