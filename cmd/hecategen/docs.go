package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/docs"
)

func docsCommand() *command {
	c := newCommand("docs", "[-o DIR] [-v]", "write the reference, as markdown and as one HTML file", `
Write a reference entry for every unit of the pages: what it is for, its
equations with their ids, the derived backward, cost, properties, what was
proved, partners, options, parameters, memory and kernels; and the tables of
what may be combined. DIR/markdown has one file an entry, DIR/index.html has all
of it in one file that asks for nothing from outside.`, 0, 0)
	dir := c.flags.String("o", outDir("docs"), "`folder` to write")
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	c.run = func(_ []string, out, err io.Writer) int {
		w, e := open(nil)
		if e == nil {
			e = w.mustHavePages()
		}
		if e == nil {
			*dir, e = w.output(c, *dir)
		}
		if e != nil {
			return finish("docs", bad, e, err)
		}
		seen, end := progress(err, *verbose)
		w.conf.Seen = seen
		site, ds := docs.Collect(w.conf)
		end()
		if status := report(ds, err); status != fine {
			return status
		}
		n, e := site.Write(*dir)
		if e != nil {
			return finish("docs", bad, e, err)
		}
		fmt.Fprintf(out, "%s of %s: %s, %s\n", plural(n, "file"), plural(len(site.Entries), "unit"), filepath.Join(*dir, "markdown"), filepath.Join(*dir, "index.html"))
		return fine
	}
	return c
}
