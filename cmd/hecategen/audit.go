package main

import (
	"io"

	"github.com/nl-hecate/hecate/gen/audit"
)

func defineAudit(c *command) runFunc {
	asJSON := c.flags.Bool("json", false, "print JSON")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(_ []string, out, err io.Writer) (int, error) {
		w, e := open.pages(nil)
		if e != nil {
			return exitFailed, e
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
