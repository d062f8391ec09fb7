package gen_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate"
	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/project"
	"github.com/nl-hecate/hecate/gen/source"
)

// sharedCache is the cache of the tests of this package for the library's pages: what one
// test has proved, the next need not prove again.
var sharedCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hecate")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sharedCache = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// newModule makes a module that requires the library as this tree has it.
func newModule(t *testing.T, path string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module")
	}
	root := t.TempDir()
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod := fmt.Sprintf("module %s\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %[3]s => %[4]s\n", path, goVersion(t), gen.LibraryModule, here)
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(mod), 0o644); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join("..", "go.sum"), filepath.Join(root, "go.sum"))
	return root
}

// newProject makes a module with pages of testdata, and generates what they become.
func newProject(t *testing.T, pages ...string) string {
	t.Helper()
	root := newModule(t, "example.org/pages")
	for _, p := range pages {
		copyFile(t, filepath.Join("testdata", filepath.FromSlash(p)), filepath.Join(root, "specs", filepath.Base(p)))
	}
	generate(t, root, "example.org/pages")
	return root
}

// library is the library's pages.
func library(t *testing.T) (out []*source.File) {
	t.Helper()
	pages, err := project.Pages(hecate.Specs)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		out = append(out, source.NewFile(project.Library+"/"+p.Path, p.Text))
	}
	return out
}

// overlaid returns the name of a list for the flag -overlay: files that a build takes in
// the place of those on disk, or beside them.
func overlaid(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(files)) {
		other := filepath.Join(dir, strconv.Itoa(i)+filepath.Ext(name))
		if err := os.WriteFile(other, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
		list.Replace[name] = other
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// generate writes what the pages of a module become.
func generate(t *testing.T, root, path string) {
	t.Helper()
	r, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}, Import: path + "/generated", Library: library(t)})
	if err != nil || ds.Len() > 0 {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	if len(r.Written) == 0 {
		t.Fatal("generate wrote nothing")
	}
}

// goVersion is the version of Go that this module asks for.
func goVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^go (\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("go.mod names no version of Go")
	}
	return string(m[1])
}

// vetAndTest runs both on packages of a module: short tests, for the project's
// own pages have the long ones.
func vetAndTest(t *testing.T, root string, packages ...string) {
	t.Helper()
	runGo(t, root, append([]string{"vet"}, packages...)...)
	runGo(t, root, append([]string{"test", "-short", "-vet=off"}, packages...)...)
}

func runGo(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("go %v: %v\n%s", args, err, out)
	}
	t.Logf("%s", out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBadCitation: what check refuses of a citation, generate refuses too, and writes nothing.
func TestBadCitation(t *testing.T) {
	root := t.TempDir()
	text := "# A rule\n\n```text\nCONTRACT\n  Purpose:    a trial\n  Expects:    none\n  Guarantees: none\n  Cost:       none\n  Trade-off:  none\n  Position:   specs/cited.md\n  Source:     none\n```\n\n```hecate\nrule Cited over Projected\nstate M ∈ ℝ^{d_v×d_k} = 0\nM_t = M_{t−1} + v_t k_tᵀ  @eq tnt#99\ny_t = M_t q_t\n```\n"
	if err := os.MkdirAll(filepath.Join(root, "specs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "specs", "cited.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}, Import: "example.org/own/generated", Library: library(t)})
	if err != nil || !strings.Contains(ds.Error(), "tnt has no equation 99") {
		t.Errorf("%v\n%v", err, ds.Error())
	}
	if _, err := os.Stat(filepath.Join(root, "generated")); err == nil {
		t.Error("something was written")
	}
}
