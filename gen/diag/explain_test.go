package diag_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
)

// surroundings are the pages that examples speak of.
var surroundings = map[string]string{
	"specs/papers.md":             "# Papers\n\n| key | title | arXiv | version | equations | read |\n|---|---|---|---|---|---|\n| alpha | On alpha | 9901.00001 | v1 | 1-20 | 1-9 |\n| paper | On paper | 9901.00002 | v1 | | 1-20 |\n\n| equation | says | no page |\n|---|---|---|\n| alpha#7 | x | it is trivial |\n",
	"specs/rules/00_interface.md": "# One\n",
	"specs/knobs/00_interface.md": "# Another\n",
}

// page makes a page of an example: the header that every page needs, and the
// example as its one block.
func page(example string) string {
	return "# Example\n\n```text\nCONTRACT\n  Purpose:    an example\n  Expects:    nothing\n  Guarantees: nothing\n  Cost:       nothing\n" +
		"  Trade-off:  nothing\n  Position:   a test\n  Source:     none\n```\n\n```hecate\n" + strings.TrimSuffix(example, "\n") + "\n```\n"
}

// diagnose takes an example through everything that `hecategen check` does.
func diagnose(e diag.Explanation, text string) diag.List {
	if !e.Page {
		text = page(text)
	}
	var files []*source.File
	for name, s := range surroundings {
		if name == "specs/papers.md" && strings.HasPrefix(text, "# Papers") {
			continue
		}
		files = append(files, source.NewFile(name, s))
	}
	name := "specs/algorithms/name.md"
	if strings.HasPrefix(text, "# Papers") {
		name = "specs/papers.md"
	}
	s, ds := gen.LoadFiles(append(files, source.NewFile(name, text))...)
	ds.Append(s.References("."))
	if !ds.HasErrors() {
		ds.Append(s.TypeCheck())
	}
	return ds
}

// elsewhere are the codes that check does not lead to: a file that cannot be
// read, a failure of the compiler, and what only a later stage finds, whose own
// tests hold its examples to their word.
func elsewhere(c diag.Code) bool {
	const firstOfProve = 5000
	return c == diag.Unreadable || c == diag.Internal || c == diag.NoGradient || c >= firstOfProve ||
		c == diag.EitherOr || c == diag.UnbuiltFormula
}

// TestExplanations holds every explanation to its word: the wrong example
// leads to the diagnostic that it explains and to no other, the right one to
// none. Examples of the notation are about one line: what a later stage says
// about the names in it does not count.
func TestExplanations(t *testing.T) {
	for _, c := range diag.Codes() {
		e, _ := diag.Explain(c)
		if e.Summary == "" {
			t.Errorf("%v has no summary", c)
		}
		if elsewhere(c) {
			continue
		}
		wrong := counted(c, diagnose(e, e.Wrong))
		if !wrong.Has(c) || len(wrong.Sorted()) > 1 {
			t.Errorf("%v: the wrong example leads to\n%s", c, wrong.Error())
		}
		if right := counted(c, diagnose(e, e.Right)); right.Len() > 0 {
			t.Errorf("%v: the right example leads to\n%s", c, right.Error())
		}
	}
	if _, ds := gen.Load("no/such/page.md"); !ds.Has(diag.Unreadable) {
		t.Errorf("a missing page: %s", ds.Error())
	}
}

// counted are the diagnostics that an example of a code answers for.
func counted(c diag.Code, ds diag.List) diag.List {
	const syntax, names = diag.BadCharacter, diag.DuplicateName
	var out diag.List
	for _, d := range ds.Sorted() {
		if c >= syntax && c < names && d.Code >= names {
			continue
		}
		out.Add(d)
	}
	return out
}
