package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen"
)

func defineDump(c *command) runFunc {
	passes := map[string]gen.Pass{}
	var names []string
	for _, p := range gen.Pipeline {
		if p.Dump != nil || p.DumpPage != nil {
			passes[p.Name] = p
			names = append(names, p.Name)
		}
	}
	list := strings.Join(names, ", ")
	after := c.flags.String("after", "ir", "the `PASS` whose output is printed")
	only := c.flags.String("unit", "", "print only the unit of this `name`")
	open := workspaceFlags(c)
	return func(args []string, out, err io.Writer) (int, error) {
		pass, ok := passes[*after]
		if !ok {
			return c.misuse(err, "there is no pass %q; the passes are %s", *after, list), nil
		}
		w, e := open(args)
		if e != nil {
			return exitFailed, e
		}
		p, ds := gen.Open(w.conf)
		if ds.HasErrors() {
			return report(ds, err), nil
		}
		return dump(p.Source, args[0], *only, pass, out, err)
	}
}

// dump prints the output of a pass for a page: for the page as a whole, or for each of
// its units with an empty line between them. Only names one unit; "" is all.
func dump(s *gen.Source, path, only string, pass gen.Pass, out, err io.Writer) (status int, e error) {
	for i, page := range s.Pages {
		if !sameFile(page.File.Path, path) {
			continue
		}
		if pass.DumpPage != nil {
			return exitOK, pass.DumpPage(page, out)
		}
		n := 0
		for _, u := range s.Files[i].Units {
			if only != "" && u.Name.Text != only {
				continue
			}
			if n++; n > 1 {
				fmt.Fprintln(out)
			}
			if ds := s.Dump(out, u, pass); ds.HasErrors() {
				status = max(status, report(ds, err))
			}
		}
		if n == 0 && only != "" {
			return exitOK, fmt.Errorf("%s does not define %s", path, only)
		}
		return status, nil
	}
	return exitOK, fmt.Errorf("%s holds no page", path)
}
