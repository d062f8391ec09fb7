package gen_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
)

// TestGeneratedIsCurrent compiles all pages in memory and compares every byte
// and every file name with the files of generated/.
func TestGeneratedIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	d, ds, err := gen.Check(gen.Config{Root: "..", Specs: []string{"../specs"}, NoText: true, Cache: sharedCache})
	if err != nil || ds.HasErrors() {
		t.Fatalf("%v\n%v", err, ds.Error())
	}
	if !d.None() {
		t.Errorf("run go generate ./...\n%v", d)
	}
}
