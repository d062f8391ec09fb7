package diag_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestMessages holds what the compiler says about wrong pages to the files of
// testdata/messages. A case is a block, four dashes and the messages; four
// equals signs end it. Each block is compiled alone, beside the project's pages.
// UPDATE=1 rewrites the messages and fails.
func TestMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	files, err := filepath.Glob("testdata/messages/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	specs := specFiles(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now strings.Builder
		for c := range strings.SplitSeq(strings.TrimSuffix(string(text), "====\n"), "====\n") {
			block, want, _ := strings.Cut(c, "----\n")
			got := messages(specs, block)
			now.WriteString(block + "----\n" + got + "====\n")
			if got == "" {
				t.Errorf("%s: nothing is wrong with\n%s", file, block)
			}
			if got != want && os.Getenv("UPDATE") == "" {
				t.Errorf("%s:\n%s\nsays\n%s\nwant\n%s", file, block, got, want)
			}
		}
		if os.Getenv("UPDATE") != "" && now.String() != string(text) {
			if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Errorf("%s: rewritten", file)
		}
	}
}

// specFiles are the pages of the project.
func specFiles(t *testing.T) []*source.File {
	t.Helper()
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var out []*source.File
	for _, p := range s.Pages {
		out = append(out, p.File)
	}
	return out
}

const messageHead = "# Page\n\n```text\nCONTRACT\n  Purpose: P\n  Expects: E\n  Guarantees: G\n  Cost: C\n  Trade-off: T\n  Position: here\n  Source: none\n```\n\n```hecate\n"

// messages are those about the block, in the places of the block.
func messages(specs []*source.File, block string) string {
	page := source.NewFile("page.md", messageHead+block+"```\n")
	s, ds := gen.LoadFiles(append(slices.Clone(specs), page)...)
	if !ds.HasErrors() {
		for _, u := range s.Tree.Order {
			if u.Span.File == page {
				_, more := prove.Block(s.Tree, u, proof.Options{})
				if !more.HasErrors() {
					_, more = gen.CompileUnit(s, u)
				}
				if blk, _ := check.Instantiate(s.Tree, u); blk != nil {
					more.Append(blk.CheckInputs())
				}
				ds.Append(more)
			}
		}
	}
	return diag.Render(ds.Sorted())
}
