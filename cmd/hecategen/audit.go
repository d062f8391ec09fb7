package main

import (
	"io"

	"github.com/nl-hecate/hecate/gen/audit"
)

func defineAudit(c *command) runFunc {
	asJSON := c.flags.Bool("json", false, "print JSON")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(_ []string, out, err io.Writer) int {
		w, e := open(nil)
		if e == nil {
			e = w.mustHavePages()
		}
		if e != nil {
			return finish("audit", exitFailed, e, err)
		}
		seen, end := progress(err, *verbose)
		w.conf.Seen = seen
		a, ds := audit.New(w.conf)
		end()
		if status := report(ds, err); status != exitOK {
			return status
		}
		if *asJSON {
			return finish("audit", exitOK, a.JSON(out), err)
		}
		return finish("audit", exitOK, a.Text(out), err)
	}
}
