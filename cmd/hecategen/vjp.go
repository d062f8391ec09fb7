package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/vjpcheck"
)

// adjoints prints the verdicts on the tables of adjoints of a report. The
// words that the tables use are those of the tape operations of the pages.
func (w *workspace) adjoints(r *inspect.Report, asJSON bool, out, err io.Writer) (int, error) {
	p, ds := gen.Open(w.conf)
	if ds.HasErrors() {
		return report(ds, err), nil
	}
	entries := vjpcheck.Check(r.Pages, p.Tree)
	if len(entries) == 0 {
		fmt.Fprintln(err, "hecategen: there is no table of adjoints on these pages")
	}
	if asJSON {
		return exitOK, vjpcheck.JSON(out, entries)
	}
	return exitOK, vjpcheck.Text(out, entries)
}
