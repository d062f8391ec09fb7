package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
)

func checkCommand() *command {
	c := newCommand("check", "[-v] [PATH…]", "parse, resolve and type pages; write nothing", `
Read the pages of the project, and those under the given files and folders,
resolve their names, citations and references, and type every equation of
every operation, rule, composition, model and update. Nothing is written.

Without a path the pages are proved too, and the generated files are compared
with what the pages say; drift makes the exit status 1. What did not change
since the last run is not proved again.`, 0, -1)
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	c.run = func(args []string, out, err io.Writer) int {
		w, e := open(args)
		if e == nil && len(args) == 0 {
			e = w.mustBeProject()
		}
		if e != nil {
			return finish("check", bad, e, err)
		}
		s, ds := w.conf.Load()
		ds.Append(s.References(w.conf.Root))
		if !ds.HasErrors() {
			ds.Append(s.TypeCheck())
		}
		if status := report(ds, err); status != fine {
			return status
		}
		pages, units := w.counts(s)
		fmt.Fprintf(out, "%s, %s: no errors\n", plural(pages, "page"), plural(units, "unit"))
		if len(args) > 0 {
			return fine
		}
		status, e := w.generate(true, *verbose, out, err)
		return finish("check", status, e, err)
	}
	return c
}

// counts are the pages and the units that were checked, without those of the library.
func (w *workspace) counts(s *gen.Source) (pages, units int) {
	return len(s.Pages) - len(w.conf.Library), len(slices.DeleteFunc(slices.Clone(s.Tree.Order), func(u *notation.Unit) bool { return !s.Own(u) }))
}
