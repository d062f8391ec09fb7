package gen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"os/exec"
)

// newModule copies what generated code needs into a folder of its own: the
// runtime, and further folders of the project.
func newModule(t *testing.T, folders ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a copy of the tree")
	}
	root := t.TempDir()
	for _, dir := range append([]string{"runtime", "internal"}, folders...) {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join("..", f), filepath.Join(root, f))
	}
	return root
}

// withPages puts pages of testdata beside those of a module and generates all.
func withPages(t *testing.T, root string, pages ...string) {
	t.Helper()
	for _, p := range pages {
		copyFile(t, filepath.Join("testdata", filepath.FromSlash(p)), filepath.Join(root, "specs", "mine", filepath.Base(p)))
	}
	r, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.Len() > 0 {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	if len(r.Written) == 0 {
		t.Fatal("generate wrote nothing")
	}
}

// vetAndTest runs both on packages of a module: short tests, for the project's
// own pages have the long ones. Trimmed paths let the build
// cache serve the next module too.
func vetAndTest(t *testing.T, root string, packages ...string) {
	t.Helper()
	runGo(t, root, append([]string{"vet", "-trimpath"}, packages...)...)
	runGo(t, root, append([]string{"test", "-short", "-trimpath", "-vet=off"}, packages...)...)
}

func runGo(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go %v: %v\n%s", args, err, out)
	}
}

// rules are the packages of rules by their names.
func rules(names ...string) []string {
	for i, n := range names {
		names[i] = "./generated/rules/" + n
	}
	return names
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
