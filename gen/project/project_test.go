package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module makes a module with a page, and makes it the working directory.
func newModule(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module example.com/b\n", "specs/a.md": ""} {
		if _, given := files[name]; !given {
			write(t, name, text)
		}
	}
	for name, text := range files {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a mark of the byte order", "\ufeffgo = \"out\"\n", ""},
		{"a page", "specs = [\"specs/a.md\"]\n", ""},
		{"upper case", "go = \"a\"\nGo = \"b\"\n", "hecate.toml:2:1: there is no key Go; did you mean go? the keys are specs, go, package,"},
		{"misspelt", "spec = [\"specs\"]\n", "hecate.toml:1:1: there is no key spec; did you mean specs? the keys"},
		{"unknown", "\n  colour = 1\n", "hecate.toml:2:3: there is no key colour; the keys are specs,"},
		{"dotted", "go.to = 1\n", "hecate.toml:1:1: there is no key go.to; did you mean go? the"},
		{"table", "[build]\ngo = \"x\"\n", "hecate.toml:1:2: build is a table, and hecate.toml has none; the keys are"},
		{"twice", "specs = [\"specs\"]\n# more\nspecs = [\"specs\"]\n", "hecate.toml:3:1: specs is set twice, first on line 1; keep one of the two"},
		{"kind", "go = 3\n", "hecate.toml:1:6: go cannot have this value; specs and targets are lists"},
		{"syntax", "go = \"x\n", "hecate.toml:1:"},
		{"no folder", "specs = [\"specs\", \"nope\"]\n", "hecate.toml:1:19: specs: there is no file or folder nope"},
		{"no page", "specs = [\n  \"specs\",\n  \"hecate.toml\",\n]\n", "hecate.toml:3:3: specs: hecate.toml is no page; the name of a page ends in .md"},
		{"no pages", "specs = [\"empty\"]\n", "hecate.toml:1:10: specs: no page is in the folder empty; the name of a page ends in .md"},
		{"no specs", "specs = []\n", "hecate.toml:1:1: specs: name at least one folder of pages"},
		{"no pages, by default", "go = \"specs\"\n", "hecate.toml:1:1: go: the folder specs and the pages in specs are inside of one another"},
		{"outside", "\ngo = \"../x\"\n", `hecate.toml:2:1: go: "../x" is not a folder of its own inside the module`},
		{"empty", "go = \"\"\n", `hecate.toml:1:1: go: "" is not a folder of its own inside the module`},
		{"vendor", "go = \"vendor/x\"\n", "hecate.toml:1:1: go: Go builds nothing in a folder vendor; choose another name"},
		{"underscore", "go = \"x/_gen\"\n", "hecate.toml:1:1: go: Go builds nothing in a folder _gen"},
		{"testdata", "go = \"testdata\"\n", "hecate.toml:1:1: go: Go builds nothing in a folder testdata"},
		{"hidden", "go = \".gen\"\n", "hecate.toml:1:1: go: Go builds nothing in a folder .gen"},
		{"path", "go = \"a b\"\n", "hecate.toml:1:1: go: malformed import path"},
		{"package", "package = \"example.com/b/generated\"\n", ""},
		{"another's package", "package = \"example.com/other/generated\"\n", "hecate.toml:1:1: package: the import path of the folder generated is example.com/b/generated, not example.com/other/generated"},
		{"a module of its own", "go = \"sub/gen\"\npackage = \"example.com/sub/gen\"\n", ""},
		{"target", "targets = [\"go\", \"metal\"]\n", `hecate.toml:1:18: targets: there is no target "metal"; there are go, cuda`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			newModule(t, map[string]string{FileName: tt.text, "empty/x.txt": "", "sub/go.mod": "module example.com/sub\n"})
			_, err := Find(".")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
				t.Errorf("Find = %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestStarter(t *testing.T) {
	tests := []struct{ specs, goDir, pkg, want string }{
		{"specs", "generated", "specs", ""},
		{"func", "generated", "specs", ""},
		{"main", "generated", "specs", ""},
		{"my-pages", "generated", "mypages", ""},
		{"lib", "generated", "other", ""},
		{"cmd/hecate", "generated", "", "specs: the command goes to cmd/hecate"},
		{"specs", "cmd", "", "go: the command goes to cmd/hecate, and cmd holds generated code only"},
		{"specs", "cmd/hecate/gen", "", "go: the command goes to cmd/hecate"},
		{"_pages", "generated", "", "specs: Go builds nothing in a folder _pages"},
		{"a b", "generated", "", "specs: malformed import path"},
		{"specs", "vendor", "", "go: Go builds nothing in a folder vendor"},
	}
	templates, err := filepath.Abs("../../cmd/hecategen")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.specs+" "+tt.goDir, func(t *testing.T) {
			newModule(t, map[string]string{"lib/lib.go": "package other\n"})
			files, err := Starter(os.DirFS(templates), tt.specs, tt.goDir)
			if tt.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
					t.Errorf("Starter = %v\nwant %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if strings.HasSuffix(f.Path, "generate.go") && !strings.Contains(f.Text, "\npackage "+tt.pkg+"\n") {
					t.Errorf("%s is not of package %s", f.Path, tt.pkg)
				}
			}
		})
	}
}
