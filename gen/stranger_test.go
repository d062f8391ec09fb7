package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestStrangerPage is the whole journey of a page that the compiler has never
// seen: it is put beside the project's pages in a copy of the tree, compiled,
// and its generated package is vetted and tested there.
func TestStrangerPage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the tree")
	}
	root := t.TempDir()
	for _, dir := range []string{"runtime", "internal", "specs"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		copyFile(t, filepath.Join("..", f), filepath.Join(root, f))
	}
	if err := os.MkdirAll(filepath.Join(root, "specs", "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join("testdata", "stranger", "bounded_echo.md"), filepath.Join(root, "specs", "mine", "bounded_echo.md"))

	r, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.HasErrors() {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	if len(r.Written) == 0 {
		t.Fatal("generate wrote nothing")
	}
	for _, args := range [][]string{{"vet", "./generated/rules/boundedecho"}, {"test", "./generated/rules/boundedecho"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
