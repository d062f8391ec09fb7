package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen"
)

func dumpCommand() *command {
	var names, lines []string
	passes := map[string]gen.Pass{}
	for _, p := range gen.Pipeline {
		if p.Dump != nil || p.DumpPage != nil {
			passes[p.Name] = p
			names = append(names, p.Name)
			lines = append(lines, fmt.Sprintf("  %-10s %s", p.Name, p.Does))
		}
	}
	list := strings.Join(names, ", ")
	c := newCommand("dump", "-after=PASS PAGE", "print the output of any pass of the compiler for one page",
		"Print the output of a pass for each unit of a page:\n\n"+strings.Join(lines, "\n"), 1, 1)
	after := c.flags.String("after", "ir", "`PASS` whose output is printed: "+list)
	only := c.flags.String("unit", "", "print only the unit of this `name`")
	open := workspaceFlags(c)
	c.run = func(args []string, out, err io.Writer) int {
		pass, ok := passes[*after]
		if !ok {
			return c.misuse(err, "there is no pass %q; the passes are %s", *after, list)
		}
		w, e := open(args)
		if e != nil {
			return finish("dump", bad, e, err)
		}
		p, ds := gen.Open(w.conf)
		if ds.HasErrors() {
			return report(ds, err)
		}
		status, e := dump(p.Source, args[0], *only, pass, out, err)
		return finish("dump", status, e, err)
	}
	return c
}

// dump prints the output of a pass for a page: for the page as a whole, or for each of
// its units with an empty line between them. Only names one unit; "" is all.
func dump(s *gen.Source, path, only string, pass gen.Pass, out, err io.Writer) (status int, e error) {
	for i, page := range s.Pages {
		if !sameFile(page.File.Path, path) {
			continue
		}
		if pass.DumpPage != nil {
			return fine, pass.DumpPage(page, out)
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
			return fine, fmt.Errorf("%s does not define %s", path, only)
		}
		return status, nil
	}
	return fine, fmt.Errorf("%s holds no page", path)
}
