package manual_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestTutorial compiles and proves the page of the manual's first section, and
// makes the changes that its `diff` fences show: each must give the message of
// the fence that follows it, to the letter.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile(manualPath)
	if err != nil {
		t.Fatal(err)
	}
	_, tutorial, _ := strings.Cut(string(text), "## Your first rule in ten minutes\n")
	tutorial, _, _ = strings.Cut(tutorial, "\n## 1. ")
	page := regexp.MustCompile("(?s)````markdown tutorial page example\n(.*?)````\n").FindStringSubmatch(tutorial)
	mistakes := regexp.MustCompile("(?s)```diff\n-(.*?)\n\\+(.*?)\n```\n.*?```text message\n(.*?)```\n").FindAllStringSubmatch(tutorial, -1)
	if page == nil || len(mistakes) != 2 {
		t.Fatalf("the tutorial has a page: %v, and %d mistakes", page != nil, len(mistakes))
	}
	if got := tutorialMessages(page[1]); got != "" {
		t.Errorf("the page of the tutorial:\n%s", got)
	}
	for _, m := range mistakes {
		if strings.Count(page[1], m[1]+"\n") != 1 {
			t.Errorf("the page does not contain the line %q", m[1])
		}
		if got := tutorialMessages(strings.Replace(page[1], m[1], m[2], 1)); strings.TrimSpace(got) != strings.TrimSpace(m[3]) {
			t.Errorf("with %q the compiler says\n%s\nand the tutorial\n%s", m[2], got, m[3])
		}
	}
}

// tutorialMessages checks and proves a page beside the library's, and renders what is wrong.
func tutorialMessages(text string) string {
	page := source.NewFile("specs/robust_delta.md", text)
	s, ds := gen.LoadWith([]string{specsFolder}, page)
	if !ds.HasErrors() {
		_, more := prove.Block(s.Tree, s.Tree.Units["RobustDelta"], proof.Options{})
		ds.Append(more)
	}
	return diag.Render(ds.Sorted())
}
