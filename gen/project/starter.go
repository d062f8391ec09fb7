package project

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A File is a file to write, its path under the root of the module.
type File struct{ Path, Text string }

// Starter are the files of a new project in the module whose root is the working
// directory, made from the templates init/* of a file system. It fails where there is
// no module, or where the folders cannot be what they are asked to be.
func Starter(templates fs.FS, specs, goDir string) ([]File, error) {
	text, err := os.ReadFile("go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no go.mod here; run `go mod init` first, in the root of the module")
	}
	if err != nil {
		return nil, err
	}
	mod := modfile.ModulePath(text)
	if mod == "" {
		return nil, errors.New("go.mod names no module")
	}
	p := &Project{Root: ".", Module: mod, Specs: []string{specs}, Go: goDir, CUDA: defaults().CUDA}
	if err := p.valid(defaults()); err != nil {
		return nil, err
	}
	if err := p.holds(specs, goDir); err != nil {
		return nil, err
	}
	replace := strings.NewReplacer("@SPECS@", specs, "@GO@", goDir, "@IMPORT@", p.Import, "@REGISTRY@", p.Import+"/registry", "package specs", "package "+packageName(specs))
	var out []File
	for _, f := range []struct{ template, name string }{
		{"hecate.toml", FileName},
		{"first_rule.md", specs + "/first_rule.md"},
		{"generate.go.txt", specs + "/generate.go"},
		{"specs_test.go.txt", specs + "/specs_test.go"},
		{"main.go.txt", mainFolder + "/main.go"},
	} {
		text, err := fs.ReadFile(templates, "init/"+f.template)
		if err != nil {
			return nil, fmt.Errorf("read the template of %s: %w", f.name, err)
		}
		out = append(out, File{f.name, replace.Replace(string(text))})
	}
	return out, nil
}

// mainFolder is where a new project has its main package.
const mainFolder = "cmd/hecate"

// holds refuses folders in which the files of a new project would not compile.
func (p *Project) holds(specs, goDir string) error {
	if specs == mainFolder {
		return fmt.Errorf("specs: the command goes to %s, so the Go file of the pages cannot; choose another folder", mainFolder)
	}
	if within(mainFolder, goDir) || within(goDir, mainFolder) {
		return fmt.Errorf("go: the command goes to %s, and %s holds generated code only; choose another folder", mainFolder, goDir)
	}
	if dir := unbuilt(specs); dir != "" {
		return fmt.Errorf("specs: Go builds nothing in a folder %s, so `go generate` would not find the pages; choose another name", dir)
	}
	if err := module.CheckImportPath(path.Join(p.Module, specs)); err != nil {
		return fmt.Errorf("specs: %w", err)
	}
	return nil
}

// packageName is the name of the package in a folder: that of the files there, or one
// like the folder's.
func packageName(dir string) string {
	files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		if ast, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.PackageClauseOnly); err == nil {
			return ast.Name.Name
		}
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(path.Base(dir)))
	if name == "" || name[0] <= '9' || name == "main" || token.IsKeyword(name) {
		return "specs"
	}
	return name
}
