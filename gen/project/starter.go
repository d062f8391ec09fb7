package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/mod/modfile"
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
	p := &Project{Root: ".", Module: mod, Specs: []string{specs}, Go: goDir, CUDA: defaults().CUDA, Import: mod + "/" + goDir}
	if err := p.valid(defaults()); err != nil {
		return nil, err
	}
	replace := strings.NewReplacer("@SPECS@", specs, "@GO@", goDir, "@IMPORT@", p.Import, "@REGISTRY@", p.Import+"/registry", "package specs", "package "+packageName(specs))
	var out []File
	for _, f := range []struct{ template, name string }{
		{"hecate.toml", FileName},
		{"first_rule.md", specs + "/first_rule.md"},
		{"generate.go.txt", specs + "/generate.go"},
		{"specs_test.go.txt", specs + "/specs_test.go"},
		{"main.go.txt", "cmd/hecate/main.go"},
	} {
		text, err := fs.ReadFile(templates, "init/"+f.template)
		if err != nil {
			return nil, fmt.Errorf("read the template of %s: %w", f.name, err)
		}
		out = append(out, File{f.name, replace.Replace(string(text))})
	}
	return out, nil
}

// packageName is the name of the package in a folder.
func packageName(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(path.Base(dir)))
	if name == "" || name[0] <= '9' {
		return "specs"
	}
	return name
}
