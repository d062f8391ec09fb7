package main

import (
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
)

func inspectCommand() *command {
	c := newCommand("inspect", "[-json] [-vjp] PATH…", "show what is on pages, ours or not", `
Show what stands on the pages under the given files and folders: contract
headers and their fields, status, citations, cross references, labelled blocks
and the declarations of the pseudo-code. The pages need not be ours.

With -vjp, show instead the tables of adjoints on the pages and whether they
are right: each forward is differentiated, and each printed adjoint is compared
with the derivative at several sizes and points.`, 1, -1)
	asJSON := c.flags.Bool("json", false, "print JSON")
	vjp := c.flags.Bool("vjp", false, "derive and compare the tables of adjoints")
	open := workspaceFlags(c)
	c.run = func(args []string, out, err io.Writer) int {
		r, ds := inspect.Tree(args)
		fmt.Fprint(err, diag.Render(ds.Sorted()))
		status := fine
		if ds.HasErrors() {
			status = bad
		}
		var e error
		switch {
		case *vjp:
			var w *workspace
			if w, e = open(nil); e == nil {
				n := fine
				n, e = w.adjoints(r, *asJSON, out, err)
				status = max(status, n)
			}
		case *asJSON:
			e = r.JSON(out)
		default:
			e = r.Text(out)
		}
		if e != nil {
			fmt.Fprintln(err, "hecategen:", e)
			return bad
		}
		return status
	}
	return c
}
