package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestWeightsPages compiles formulas of structures with several weights and
// several fits in a copy of the tree, and tests there what was generated:
// gradients, tape against direct calls, chunks, lanes, first states.
func TestWeightsPages(t *testing.T) {
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
	copyFile(t, filepath.Join("testdata", "weights", "deep_memories.md"), filepath.Join(root, "specs", "mine", "deep_memories.md"))

	_, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.HasErrors() {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	var packages []string
	for _, p := range []string{"deepdelta", "deeprounds", "deeppower", "deepsimplex", "twopasses"} {
		packages = append(packages, "./generated/rules/"+p)
	}
	for _, args := range [][]string{{"vet"}, {"test"}} {
		cmd := exec.Command("go", append(append(args, "./generated/safety"), packages...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", cmd.Args[1:], err, out)
		}
	}
}
