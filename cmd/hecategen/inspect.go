package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/vjpcheck"
)

func defineInspect(c *command) runFunc {
	asJSON := c.flags.Bool("json", false, "print JSON")
	vjp := c.flags.Bool("vjp", false, "derive and compare the tables of adjoints")
	open := workspaceFlags(c)
	return func(args []string, out, err io.Writer) (int, error) {
		r, ds := inspect.Tree(args)
		fmt.Fprint(err, diag.Render(ds.Sorted()))
		status := exitOK
		if ds.HasErrors() {
			status = exitFailed
		}
		var e error
		switch {
		case *vjp:
			var w *workspace
			if w, e = open(nil); e == nil {
				n := exitOK
				n, e = w.adjoints(r, *asJSON, out, err)
				status = max(status, n)
			}
		case *asJSON:
			e = r.JSON(out)
		default:
			e = r.Text(out)
		}
		return status, e
	}
}

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
