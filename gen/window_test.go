package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestWindowPages compiles pages whose windows stand behind states, and pages
// with iterations and operations of several equations, in a copy of the tree,
// and runs the generated tests there. Atlas is also held to loops over numbers
// that are written by hand.
func TestWindowPages(t *testing.T) {
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
	mine := filepath.Join(root, "specs", "mine")
	if err := os.MkdirAll(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"atlas_omega.md", "windows.md", "rounds.md"} {
		copyFile(t, filepath.Join("testdata", "window", page), filepath.Join(mine, page))
	}
	r, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.Len() > 0 {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	if len(r.Written) == 0 {
		t.Fatal("generate wrote nothing")
	}
	loops(t, root, "atlasplain", "false")
	loops(t, root, "atlasomega", "true")
	packages := []string{"./generated/ops", "./generated/compositions/roundsof", "./generated/registry"}
	for _, rule := range []string{"atlasplain", "atlasomega", "windowtaps", "windowmeans", "windowqueries", "windowvector", "rounds", "roundstate"} {
		packages = append(packages, "./generated/rules/"+rule)
	}
	for _, verb := range []string{"vet", "test"} {
		cmd := exec.Command("go", append([]string{verb}, packages...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", verb, err, out)
		}
	}
}

// loops puts the loops over numbers beside an emitted rule.
func loops(t *testing.T, root, rule, orthogonal string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "window", "loop_test.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := strings.NewReplacer("PACKAGE", rule, "ORTHOGONAL", orthogonal).Replace(string(text))
	if err := os.WriteFile(filepath.Join(root, "generated", "rules", rule, "loop_test.go"), []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
}
