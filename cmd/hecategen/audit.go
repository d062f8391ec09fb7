package main

import (
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen/audit"
)

func defineAudit(c *command) runFunc {
	asJSON := c.flags.Bool("json", false, "print JSON")
	paper := c.flags.String("paper", "", "list the equations of the paper with this `key` and the lines that cite them; all: of every paper")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(_ []string, out, err io.Writer) (int, error) {
		w, e := open.pages(nil)
		if e != nil {
			return exitFailed, e
		}
		if *paper != "" {
			var keys []string
			if *paper != "all" {
				keys = strings.Split(*paper, ",")
			}
			list, ds := audit.Papers(w.conf, keys...)
			if status := report(ds, err); status != exitOK {
				return status, nil
			}
			if *asJSON {
				return exitOK, audit.PapersJSON(out, list)
			}
			return exitOK, audit.WritePapers(out, list)
		}
		end := w.watch(err, *verbose)
		a, ds := audit.New(w.conf)
		end()
		if status := report(ds, err); status != exitOK {
			return status, nil
		}
		if *asJSON {
			return exitOK, a.JSON(out)
		}
		return exitOK, a.Text(out)
	}
}
