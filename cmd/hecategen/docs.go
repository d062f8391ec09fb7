package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/docs"
)

func defineDocs(c *command) runFunc {
	dir := c.flags.String("o", outDir("docs"), "`folder` to write")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(_ []string, out, err io.Writer) (int, error) {
		w, e := open.pages(nil)
		if e == nil {
			*dir, e = w.output(c, *dir)
		}
		if e != nil {
			return exitFailed, e
		}
		end := w.watch(err, *verbose)
		site, ds := docs.Collect(w.conf)
		end()
		if status := report(ds, err); status != exitOK {
			return status, nil
		}
		n, e := site.Write(*dir)
		if e == nil {
			fmt.Fprintf(out, "%s of %s: %s, %s\n", plural(n, "file"), plural(len(site.Entries), "unit"), filepath.Join(*dir, "markdown"), filepath.Join(*dir, "index.html"))
		}
		return exitOK, e
	}
}
