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
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	e, ed := p.emit(false)
	if ds.Append(ed); ds.HasErrors() {
		return nil, ds
	}
	bib, own := p.papers(), p.ownPages()
	for _, page := range own {
		page.Citations = markdown.Cite(page, bib)
	}
	return audit.New(audit.Input{Pages: own, Trace: p.trace(e.codes, e.files), Path: p.Path}), ds
}
