package gen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestSolvedPages takes pages whose unknowns are defined by equations, in
// operations, behind states and inside a knob, from page to tested package in
// a copy of the tree. What the generated tests do not know, closed forms and
// equations without a root, is tested there beside them.
func TestSolvedPages(t *testing.T) {
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
	for _, page := range []string{"solved.md", "shares.md"} {
		copyFile(t, filepath.Join("testdata", "solve", page), filepath.Join(root, "specs", "mine", page))
	}
	_, ds, err := gen.Generate(gen.Config{Root: root, Specs: []string{filepath.Join(root, "specs")}})
	if err != nil || ds.HasErrors() {
		t.Fatalf("generate: %v\n%v", err, ds.Error())
	}
	copyFile(t, filepath.Join("testdata", "solve", "closed.go.txt"), filepath.Join(root, "generated", "ops", "closed_test.go"))
	step, err := os.ReadFile(filepath.Join(root, "generated", "rules", "innersolved", "step.go"))
	if n := strings.Count(string(step), "num.NewSearch("); err != nil || n != 1 {
		t.Errorf("a rule with one small unknown searches in %d places, its backward included: %v", n, err)
	}
	packages := []string{"./generated/ops", "./generated/compositions/balanced2",
		"./generated/rules/sharememory", "./generated/rules/levelled", "./generated/rules/tempered", "./generated/rules/innersolved",
		"./generated/rules/windowed", "./generated/rules/normalised", "./generated/rules/solvedfamily", "./generated/rules/lookback"}
	for _, args := range [][]string{append([]string{"vet"}, packages...), append([]string{"test"}, packages...)} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}
