package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestFamilyPages takes pages with families all the way: compiled, proved,
// emitted, vetted, and tested there by what was generated with them.
func TestFamilyPages(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the runtime")
	}
	root := emitted(t, []string{"algorithms/functions.md"}, "self_modifying.md", "two_roads.md", "short_windows.md")
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./generated/..."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}

// emitted generates pages of testdata/family, with some of specs/ beside them,
// in a module of their own.
func emitted(t *testing.T, specs []string, mine ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"runtime", "internal"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join("..", f), filepath.Join(root, f))
	}
	if err := os.MkdirAll(filepath.Join(root, "specs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range specs {
		copyFile(t, filepath.Join("..", "specs", filepath.FromSlash(p)), filepath.Join(root, "specs", filepath.Base(p)))
	}
	for _, p := range mine {
		copyFile(t, filepath.Join("testdata", "family", p), filepath.Join(root, "specs", p))
	}
	r, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.HasErrors() {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	if len(r.Written) == 0 {
		t.Fatal("generate wrote nothing")
	}
	if keep := os.Getenv("FAMILY_KEEP"); keep != "" {
		_ = os.CopyFS(keep, os.DirFS(filepath.Join(root, "generated")))
	}
	return root
}
