package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/notation"
)

func defineCheck(c *command) runFunc {
	verbose := verboseFlag(c.flags)
	open := workspaceFlags(c)
	return func(args []string, out, err io.Writer) (int, error) {
		w, e := open(args)
		if e == nil && len(args) == 0 {
			e = w.mustBeProject()
		}
		if e != nil {
			return exitFailed, e
		}
		s, ds := w.conf.Load()
		ds.Append(s.References(w.conf.Root))
		if !ds.HasErrors() {
			ds.Append(s.TypeCheck())
		}
		if status := report(ds, err); status != exitOK {
			return status, nil
		}
		pages, units := w.counts(s)
		fmt.Fprintf(out, "%s, %s: no errors\n", plural(pages, "page"), plural(units, "unit"))
		if len(args) > 0 {
			return exitOK, nil
		}
		return w.generate(true, *verbose, out, err)
	}
}

// counts are the pages and the units that were checked, without those of the library.
func (w *workspace) counts(s *gen.Source) (pages, units int) {
	return len(s.Pages) - len(w.conf.Library), len(slices.DeleteFunc(slices.Clone(s.Tree.Order), func(u *notation.Unit) bool { return !s.Own(u) }))
}
