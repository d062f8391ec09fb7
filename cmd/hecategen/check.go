package main

import (
	"fmt"
	"io"
	"os"
	"path"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/spec"
)

func checkCommand() *command {
	c := newCommand("check", "[PATH…]", "parse, resolve and type pages; write nothing", `
Read all pages under the given files and folders (specs when none is given),
resolve their names, citations and references, and type every equation of
every operation, rule, composition, model and update. Nothing is written.

A page that is named alone is checked with the pages of its specs folder, whose
functions and knobs it may use. Without a path, the generated files are compared
with what the pages say, too; drift makes the exit status 1.`, 0, -1)
	root := rootFlag(c)
	c.run = func(args []string, out, err io.Writer) int {
		s, ds := loadFor(orSpecs(args), "")
		ds.Append(references(s))
		if !ds.HasErrors() {
			ds.Append(typed(s))
		}
		if status := report(ds, err); status != fine {
			return status
		}
		fmt.Fprintf(out, "%s, %s: no errors\n", plural(len(s.Pages), "page"), plural(len(s.Tree.Order), "unit"))
		if len(args) > 0 {
			return fine
		}
		status, e := generate(orSpecs(nil), *root, true, out, err)
		return finish("check", status, e, err)
	}
	return c
}

// references resolves what the pages cite and name.
func references(s *gen.Source) diag.List {
	var ds diag.List
	var bib *spec.Bibliography
	for _, p := range s.Pages {
		if bib == nil && path.Base(p.File.Path) == markdown.BibliographyName {
			bib, ds = markdown.Bibliography(p.File)
		}
	}
	ds.Append(inspect.Resolve(s.Pages, bib, exists))
	return ds
}

func exists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
