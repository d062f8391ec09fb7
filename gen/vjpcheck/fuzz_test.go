package vjpcheck_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/vjpcheck"
)

// FuzzTable wants some verdict from the check on any text of a
// table: it must neither fail nor run away.
func FuzzTable(f *testing.F) {
	text, err := os.ReadFile("testdata/miniature.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, entry := range strings.Split(string(text), "\n\n") {
		if strings.Contains(entry, "d_") {
			f.Add(strings.Trim(entry, "`\n"))
		}
	}
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		f.Fatal(ds.Error())
	}
	f.Fuzz(func(t *testing.T, table string) {
		if len(table) > 400 {
			return
		}
		p, _ := markdown.Parse(source.NewFile("table.md", "# Table\n\n```text\n"+table+"\n```\n"))
		for _, e := range vjpcheck.Check([]*spec.Page{p}, s.Tree) {
			for _, l := range e.Lines {
				if l.Verdict == "" || strings.Contains(l.Detail, "a bug worth a report") {
					t.Errorf("%s %s: %q %s", e.Name, l.Label, l.Verdict, l.Detail)
				}
			}
		}
	})
}
