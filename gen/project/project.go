// Package project finds out what module a folder belongs to and what its file
// hecate.toml says: where the pages are, and where what they become goes.
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

	"github.com/pelletier/go-toml/v2"
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
	Standalone bool     // no pages of the library stand beneath: these are the library

	library string // version of the library that go.mod requires, "" for none
	replace string // folder that replaces it, as go.mod has it
}

// A file is hecate.toml. A key that is left out has the value of Default.
type file struct {
	Specs      []string `toml:"specs"`
	Go         string   `toml:"go"`
	Package    string   `toml:"package"`
	CUDA       string   `toml:"cuda"`
	Targets    []string `toml:"targets"`
	Standalone bool     `toml:"standalone"`
}

// targets are what pages can become.
var targets = []string{"go", "cuda"}

func defaults() file {
	return file{Specs: []string{"specs"}, Go: "generated", CUDA: "cuda/kernels", Targets: targets}
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
	f := defaults()
	d := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, placed(name, err)
	}
	p := &Project{Root: root, Specs: f.Specs, Go: path.Clean(filepath.ToSlash(f.Go)), CUDA: path.Clean(filepath.ToSlash(f.CUDA)), Standalone: f.Standalone}
	if err := p.module(); err != nil {
		return nil, err
	}
	p.Import = p.Module + "/" + p.Go
	if f.Package != "" {
		p.Import = f.Package
	}
	if err := p.valid(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !slices.Contains(f.Targets, "cuda") {
		p.CUDA = ""
	}
	return p, nil
}

// placed gives an error of the decoder its line and column.
func placed(name string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, col := e.Position()
		return fmt.Errorf("%s:%d:%d: there is no key %s; the keys are specs, go, package, cuda, targets, standalone", name, line, col, strings.Join(e.Key(), "."))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, col := bad.Position()
		what := strings.TrimPrefix(bad.Error(), "toml: ")
		if key := strings.Join(bad.Key(), "."); key != "" {
			what = fmt.Sprintf("%s cannot have this value; specs and targets are lists of strings, standalone is true or false, the others are strings", key)
		}
		return fmt.Errorf("%s:%d:%d: %s", name, line, col, what)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// module reads go.mod.
func (p *Project) module() error {
	name := filepath.Join(p.Root, "go.mod")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s stands in a folder without go.mod; a project is a Go module", filepath.Join(p.Root, FileName))
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

// valid refuses values that no project can have.
func (p *Project) valid(f file) error {
	if len(f.Specs) == 0 {
		return errors.New("specs: name at least one folder of pages")
	}
	for _, t := range f.Targets {
		if !slices.Contains(targets, t) {
			return fmt.Errorf("targets: there is no target %q; there are %s", t, strings.Join(targets, ", "))
		}
	}
	if !slices.Contains(f.Targets, "go") {
		return errors.New("targets: the target go cannot be left out: everything else is checked by what it makes")
	}
	for i, s := range p.Specs {
		clean := path.Clean(filepath.ToSlash(s))
		if !inside(clean) && clean != "." {
			return fmt.Errorf("specs: %q is not a path inside the module", s)
		}
		p.Specs[i] = clean
	}
	for _, out := range []struct{ key, dir string }{{"go", p.Go}, {"cuda", p.CUDA}} {
		if !inside(out.dir) {
			return fmt.Errorf("%s: %q is not a folder of its own inside the module", out.key, out.dir)
		}
		for _, s := range p.Specs {
			if within(s, out.dir) || within(out.dir, s) && s != "." {
				return fmt.Errorf("%s: the folder %s and the pages in %s lie in one another; what is generated needs a folder of its own", out.key, out.dir, s)
			}
		}
	}
	if within(p.Go, p.CUDA) || within(p.CUDA, p.Go) {
		return fmt.Errorf("cuda: the folders %s and %s lie in one another", p.CUDA, p.Go)
	}
	if err := module.CheckImportPath(p.Import); err != nil {
		return fmt.Errorf("package: %w", err)
	}
	return nil
}

// inside reports whether a clean path leads below the root.
func inside(p string) bool { return filepath.IsLocal(filepath.FromSlash(p)) && p != "." }

// within reports whether a is b or lies in it.
func within(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") }

// Pages are the paths of the spec folders from the working directory.
func (p *Project) Pages() []string {
	var out []string
	for _, s := range p.Specs {
		out = append(out, filepath.Join(p.Root, filepath.FromSlash(s)))
	}
	return out
}
