package notation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
)

// TestCopy holds that a copy of a statement says the same, that it is copied as deep as its
// expressions, and that an expression that is replaced in the copy stays in the original.
func TestCopy(t *testing.T) {
	pages, err := filepath.Glob("parser/testdata/pages/*.hecate")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	one := &notation.Number{Value: 1, Text: "1"}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		f := source.NewFile(page, string(text))
		file, _ := parser.Parse(f, []parser.Input{{Text: f.Text, File: f}})
		for _, u := range file.Units {
			for _, st := range u.Body {
				before, n := notation.Print(st, notation.Unicode), 0
				same := notation.Copy(st, func(e notation.Expr) notation.Expr { n++; return e })
				if !notation.Equal(st, same) || same == st {
					t.Errorf("%s: %s is copied as %s", page, before, notation.Print(same, notation.Unicode))
				}
				changed := notation.Copy(st, func(notation.Expr) notation.Expr { return one })
				if notation.Print(st, notation.Unicode) != before {
					t.Errorf("%s: a change of the copy changed %s", page, before)
				}
				m := 0
				notation.Inspect(changed, func(x any) bool {
					if x == any(one) {
						m++
					}
					return true
				})
				if m != n {
					t.Errorf("%s: %d of %d expressions of %s were replaced", page, m, n, before)
				}
			}
		}
	}
}
