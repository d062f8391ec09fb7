package parser

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// parseText parses a text as the one block of a page.
func parseText(text string) (*notation.File, diag.List) {
	f := source.NewFile("page.md", text)
	return Parse(f, []Input{{Text: text, File: f}})
}

func TestEveryCodeHasExamples(t *testing.T) {
	for _, c := range diag.Codes() {
		if c < diag.BadCharacter || c > diag.Clause {
			continue
		}
		e, _ := diag.Explain(c)
		if _, ds := parseText(e.Wrong); !has(ds, c) {
			t.Errorf("%v: the wrong example gives %s", c, ds.Error())
		} else if ds.Len() != 1 {
			t.Errorf("%v: the wrong example gives %d diagnostics: %s", c, ds.Len(), ds.Error())
		}
		if _, ds := parseText(e.Right); ds.Len() != 0 {
			t.Errorf("%v: the right example gives %s", c, ds.Error())
		}
		for _, s := range []string{e.Wrong, e.Right} {
			if !strings.HasSuffix(s, "\n") {
				t.Errorf("%v: an example ends without a newline", c)
			}
		}
	}
}

func has(ds diag.List, c diag.Code) bool {
	for _, d := range ds.Sorted() {
		if d.Code == c {
			return true
		}
	}
	return false
}
