package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSolvedPages takes pages whose unknowns are defined by equations, in
// operations, behind states and inside a knob, from page to tested package in
// a copy of the tree. What the generated tests do not know, closed forms and
// equations without a root, is tested there beside them.
func TestSolvedPages(t *testing.T) {
	root := newProject(t, "solve/solved.md", "solve/shares.md")
	copyFile(t, filepath.Join("testdata", "solve", "closed.go.txt"), filepath.Join(root, "generated", "ops", "closed_test.go"))
	step, err := os.ReadFile(filepath.Join(root, "generated", "rules", "innersolved", "step.go"))
	if n := strings.Count(string(step), "num.NewSearch("); err != nil || n != 1 {
		t.Errorf("a rule with one small unknown searches in %d places, its backward included: %v", n, err)
	}
	vetAndTest(t, root, append(rules("sharememory", "levelled", "tempered", "innersolved", "windowed", "normalised", "solvedfamily", "lookback"),
		"./generated/ops", "./generated/compositions/balanced2")...)
}
