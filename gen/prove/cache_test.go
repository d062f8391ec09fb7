package prove_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/source"
)

// block is a page with a claim that only sampling decides, and one that may be
// broken.
func block(t *testing.T, claim string) *pages {
	t.Helper()
	s, ds := load(source.NewFile("page.md", "```hecate\nop Grow(x ∈ ℝ^{n}) → out = exp(x)\nclaim expm1(x) = exp(x) − 1\nclaim x̄ = "+claim+"\n```\n"))
	if s.Tree.Units["Grow"] == nil {
		t.Fatal(ds.Error())
	}
	return s
}

func TestCache(t *testing.T) {
	dir := t.TempDir()
	opt := prove.Options{Cache: dir, Version: "one"}
	good := block(t, "out̄ ⊙ out")
	first, ds := prove.Block(good.Tree, good.Tree.Units["Grow"], opt)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	path := filepath.Join(dir, "grow.quick.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "failed") || !strings.Contains(string(text), `"Points"`) {
		t.Errorf("the evidence is %s", text)
	}

	// What is kept is believed, so a changed verdict shows that it was read.
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"Note": ""`, `"Note": "kept"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	again, _ := prove.Block(good.Tree, good.Tree.Units["Grow"], opt)
	kept := 0
	for i, it := range again.Items {
		if it.Note == "kept" {
			kept++
		} else if it.Evidence != first.Items[i].Evidence {
			t.Errorf("%s: %+v, before %+v", it.ID, it.Evidence, first.Items[i].Evidence)
		}
	}
	if kept == 0 {
		t.Error("nothing was taken from the cache")
	}

	// Another compiler, another program and a failure are looked at again.
	other, _ := prove.Block(good.Tree, good.Tree.Units["Grow"], prove.Options{Cache: dir, Version: "two"})
	for _, it := range other.Items {
		if it.Note == "kept" {
			t.Errorf("%s was taken from another compiler's evidence", it.ID)
		}
	}
	bad := block(t, "out̄ ⊙ x")
	for range 2 {
		if _, ds := prove.Block(bad.Tree, bad.Tree.Units["Grow"], opt); !ds.HasErrors() {
			t.Error("a failure was taken from the cache")
		}
	}
	if err := os.WriteFile(path, []byte("not json"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ds := prove.Block(good.Tree, good.Tree.Units["Grow"], opt); ds.HasErrors() {
		t.Error(ds.Error())
	}
}
