package manual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exampleLines is how long a published rule may be, header and blocks together.
const exampleLines = 30

// TestExamplesAreShort counts the lines of the pages that show what a new rule
// takes: those of the contract and of the blocks.
func TestExamplesAreShort(t *testing.T) {
	pages, err := filepath.Glob("../../specs/algorithms/examples/*.md")
	if err != nil || len(pages) < 3 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		n, inside := 0, false
		for l := range strings.Lines(string(text)) {
			switch {
			case strings.HasPrefix(l, "```"):
				inside = !inside
			case inside:
				n++
			}
		}
		t.Logf("%s: %d lines", filepath.Base(p), n)
		if n == 0 || n > exampleLines {
			t.Errorf("%s: %d lines, want 1 to %d", p, n, exampleLines)
		}
	}
}
