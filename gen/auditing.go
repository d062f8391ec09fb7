package gen

import (
	"github.com/nl-hecate/hecate/gen/audit"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
)

// Audit compiles the pages, writes nothing, and reports what became of every
// equation and what stands behind every symbol. There is no report when there
// is an error.
func Audit(c Config) (*audit.Report, diag.List) {
	e, ds := emit(c, false)
	if ds.HasErrors() {
		return nil, ds
	}
	bib := papers(e.src)
	for _, p := range e.src.Pages {
		p.Citations = markdown.Cite(p, bib)
	}
	return audit.New(audit.Input{Pages: e.src.Pages, Trace: e.trace,
		Path: func(p string) string { return underRoot(c.Root, p) }}), ds
}
