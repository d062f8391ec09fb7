package core_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/bench/core"
	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
)

// TestCurrent compares bench/kernel with what the pages and the compiler say.
func TestCurrent(t *testing.T) {
	const root = "../.."
	files, err := core.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not current: go run ./bench/gen", path)
		}
	}
	have, err := filepath.Glob(filepath.Join(root, "bench/kernel/*/*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != len(files) {
		t.Errorf("bench/kernel has %d files, want %d", len(have), len(files))
	}
}

// TestProved proves the pages: their claims, and the counts that shares of the
// peak are of.
func TestProved(t *testing.T) {
	s, ds := gen.Load("../page")
	if ds.HasErrors() {
		t.Fatal(diag.Render(ds.Sorted()))
	}
	_, ds = gen.Prove(s, false)
	if ds.HasErrors() {
		t.Error(diag.Render(ds.Sorted()))
	}
}
