package gen_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestPages takes pages of testdata beside those of the library from the page to the
// tested package: they are compiled and proved in a module of their own, and what is
// generated with them is vetted and tested there.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		name, pages string
		rules       string
		others      string // packages that are no rules, under generated
		beside      func(t *testing.T, root string)
	}{
		{"strangers", "stranger/bounded_echo stranger/matched", "boundedecho renamedchunk transitionchunk sumschunk combachunk", "", nil},
		{"families", "family/self_modifying family/two_roads family/short_windows", "selfmodifying tworates", "compositions/tworoads", nil},
		{"heads", "heads/inheads", "chunkheads atlasheads latticeheads stateanswerheads", "registry", nil},
		{"knobs", "knobrun/memories", "reverserows normedlayers deepslots anchoredlayers roundmatrix thresholdpasses boundedvector", "", nil},
		{"lifetimes", "life/lifetimes life/yaad", "callwise perchunk pulled snapped written lagging adaptive features pulledhuber", "compositions/cutwindow", nil},
		{"feature maps", "maps/maps", "linearmap fouriermap exponentialmap polynomialmap layeredmap decaying polynomiallayers", "", nil},
		{"self reference", "selfref/variants", "stillphase valuephase adaptedqueries chunkofvalues layersofvalues", "", nil},
		{"several weights and fits", "weights/deep_memories", "deepdelta deeprounds deeppower deepsimplex twopasses", "safety", nil},
		{"solves", "solve/solved solve/shares", "sharememory levelled tempered innersolved windowed normalised solvedfamily lookback", "ops compositions/balanced2", closedForms},
		{"windows", "window/atlas_omega window/windows window/rounds", "atlasplain atlaswindow windowtaps windowmeans windowqueries windowvector windowall rounds roundstate",
			"ops compositions/roundsof registry", atlasLoops},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pages, packages []string
			for _, p := range strings.Fields(c.pages) {
				pages = append(pages, p+".md")
			}
			for _, r := range strings.Fields(c.rules) {
				packages = append(packages, "./generated/rules/"+r)
			}
			for _, o := range strings.Fields(c.others) {
				packages = append(packages, "./generated/"+o)
			}
			root := newProject(t, pages...)
			if c.beside != nil {
				c.beside(t, root)
			}
			vetAndTest(t, root, packages...)
		})
	}
}

// closedForms puts tests of closed forms, and of equations without a root, beside the
// generated ones, and wants one search in a rule with one small unknown.
func closedForms(t *testing.T, root string) {
	t.Helper()
	copyFile(t, filepath.Join("testdata", "solve", "closed.go.txt"), filepath.Join(root, "generated", "ops", "closed_test.go"))
	step, err := os.ReadFile(filepath.Join(root, "generated", "rules", "innersolved", "step.go"))
	if n := strings.Count(string(step), "num.NewSearch("); err != nil || n != 1 {
		t.Errorf("a rule with one small unknown searches in %d places, its backward included: %v", n, err)
	}
}

// atlasLoops puts a test of Atlas beside the generated ones, which computes it by loops
// over numbers.
func atlasLoops(t *testing.T, root string) {
	t.Helper()
	loops(t, root, "atlasplain", "false")
	loops(t, root, "atlaswindow", "true")
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

// TestOddPages does the same with units of kinds that the library does not have: gates
// with bounds that bind, learned first states, a read before the write, a rule without
// queries, a composition that no model names, one with windows over a series on both
// sides of a part, a model around a learned start, and normalised pairs whose gradients
// float32 reaches in few draws or in none. The module is inside of this one and has a
// copy of validation/zero, which reads internal packages: there emitted code is held to
// the case of the oracle whose bound on the rate clamps some tokens and not others.
func TestOddPages(t *testing.T) {
	const path = gen.LibraryModule + "/odd"
	root := newModule(t, path)
	for _, dir := range []string{"validation/zero", "validation/oracle/vectors"} {
		if err := os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join("..", dir))); err != nil {
			t.Fatal(err)
		}
	}
	copyFile(t, "testdata/odd/odd.md", filepath.Join(root, "specs", "odd.md"))
	copyFile(t, "testdata/odd/bounded_test.go.txt", filepath.Join(root, "validation", "zero", "bounded_test.go"))
	generate(t, root, path)
	vetAndTest(t, root, "./generated/...")
	runGo(t, root, "test", "-vet=off", "-run", "TestBounded", "./validation/zero")
}
