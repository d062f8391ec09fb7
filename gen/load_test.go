package gen_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestLibraryIsReadAlone wants a page of the library to mean the same whatever the
// project's pages define: k(x + x) is a product though a page has a function k.
func TestLibraryIsReadAlone(t *testing.T) {
	page := func(name, block string) *source.File {
		return source.NewFile(name, "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: "+name+"\n  Source: none\n```\n\n```hecate\n"+block+"```\n")
	}
	lib := page("lib.md", "op Scaled(x ∈ ℝ^{n}, k ∈ ℝ) → out = k(x + x)\n")
	own := page("own.md", "op Other(x ∈ ℝ^{n}) → out = k(x)\nk(z ∈ ℝ) = 2 z\n")
	s, ds := gen.Config{Library: []*source.File{lib}}.Load(own)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for name, call := range map[string]bool{"Scaled": false, "Other": true} {
		_, is := s.Tree.Units[name].Result.Value.(*notation.Call)
		if is != call {
			t.Errorf("%s = %s is a call: %v", name, notation.Print(s.Tree.Units[name].Result, notation.Unicode), is)
		}
	}
}
