package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/docs"
)

// TestWrite writes the reference and wants an entry whose page is gone to be removed.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	site, ds := docs.Collect(gen.Config{Root: "../..", Specs: []string{"../../specs/algorithms/short_conv.md", "../../specs/algorithms/functions.md"}})
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	gone := filepath.Join(dir, "markdown", "gone.md")
	if err := os.MkdirAll(filepath.Dir(gone), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gone, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := site.Write(dir)
	if err != nil || n != len(site.Entries)+4 {
		t.Errorf("%d files, %v", n, err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the entry of a page that is gone is still there")
	}
}
