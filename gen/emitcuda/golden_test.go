package emitcuda_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/emitcuda"
)

// TestGolden compares the text of an update, an operation and a rule with testdata/golden; with
// UPDATE set it rewrites the files.
func TestGolden(t *testing.T) {
	t.Chdir(filepath.Join("..", "..")) // the text names its page from there
	s, ds := gen.Load("specs")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, c := range [][2]string{{"AdamW", "adam_w/step.cu"}, {"LayerNorm", "layer_norm/backward.cu"}, {"DeltaRule", "delta_rule/step.cu"}} {
		u, ds := gen.CompileUnit(s, s.Tree.Units[c[0]])
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		files := map[string][]byte{}
		for _, f := range emitcuda.Unit(u) {
			files[f.Path] = []byte(f.Text)
		}
		golden := filepath.Join("gen", "emitcuda", "testdata", "golden", strings.ReplaceAll(c[1], "/", "_"))
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, files[c[1]], 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != string(files[c[1]]) {
			t.Errorf("%s is not %s (UPDATE=1 rewrites it): %v", c[1], golden, err)
		}
	}
}
