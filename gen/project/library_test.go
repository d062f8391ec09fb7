package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const requires = "module example.com/b\n\ngo 1.26\n\nrequire " + Library + " v0.1.0\n"

// serve makes a module proxy with a library of one page, and returns the library.
func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	lib, at := filepath.Join(dir, "lib"), filepath.Join(dir, "proxy", Library, "@v", "v0.1.0")
	mod := "module " + Library + "\n\ngo 1.26\n"
	write(t, filepath.Join(lib, "go.mod"), mod)
	write(t, filepath.Join(lib, "runtime", "r.go"), "package runtime\n")
	write(t, filepath.Join(lib, "specs", "page.md"), "# Page\n")
	write(t, at+".mod", mod)
	write(t, at+".info", `{"Version": "v0.1.0"}`)
	f, err := os.Create(at + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := zip.CreateFromDir(f, module.Version{Path: Library, Version: "v0.1.0"}, lib); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"GOPROXY": "file://" + filepath.ToSlash(filepath.Join(dir, "proxy")), "GONOSUMDB": "*",
		"GOMODCACHE": filepath.Join(dir, "cache"), "GOFLAGS": "-modcacherw", "GOWORK": "off"} {
		t.Setenv(k, v)
	}
	return lib
}

// TestVendored: the pages of the library are found although the folder vendor has none.
// Where the library is missing, the message says what is, in go's own words.
func TestVendored(t *testing.T) {
	lib := serve(t)
	newModule(t, map[string]string{"go.mod": requires, FileName: "", "b.go": "package b\n\nimport _ \"" + Library + "/runtime\"\n"})
	fits := func() error {
		p, err := Find(".")
		if err != nil {
			t.Fatal(err)
		}
		return p.Fits(os.DirFS(lib))
	}
	if err := fits(); err == nil || !strings.Contains(err.Error(), "run `go mod download`") {
		t.Errorf("before the download: %v", err)
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"mod", "vendor"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	if err := fits(); err != nil {
		t.Errorf("vendored: %v", err)
	}
	write(t, "go.mod", strings.Replace(requires, "v0.1.0", "v0.2.0", 1))
	if err := fits(); err == nil || !strings.Contains(err.Error(), "v0.2.0") {
		t.Errorf("go's own words are missing: %v", err)
	}
	write(t, "go.mod", requires+"replace "+Library+" => ../gone\n")
	if err := fits(); err == nil || !strings.Contains(err.Error(), "go.mod replaces "+Library+" by ../gone, and there is no such folder") {
		t.Errorf("a replacement that is gone: %v", err)
	}
}
