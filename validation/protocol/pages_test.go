package protocol

import (
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/runtime/formula"
)

// pages are the pages of the project, as the compiler reads them.
var pages = sync.OnceValue(func() *units.Tree {
	s, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		panic("protocol: BUG: the pages have errors: " + ds.Error())
	}
	return s.Tree
})

// blockOf is a formula as the compiler sees it: the same pages in the same places.
func blockOf(t testing.TB, text string) *check.Block {
	t.Helper()
	f, err := formula.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, ds := check.InstantiateFormula(pages(), f.Name, &notation.Formula{Parts: []*notation.Apply{applied(f)}}, nil)
	if ds.HasErrors() {
		t.Fatalf("%s: %s", text, ds.Error())
	}
	return b
}

// applied is a formula as the parser of pages gives it.
func applied(f formula.Formula) *notation.Apply {
	a := &notation.Apply{Name: notation.Word{Text: f.Name}}
	for _, arg := range f.Args {
		o := &notation.Override{Name: notation.Word{Text: arg.Name}}
		var pages []*notation.Apply
		for _, p := range arg.Pages {
			pages = append(pages, applied(p))
		}
		if arg.List {
			o.List = pages
		} else {
			o.Apply = pages[0]
		}
		a.Args = append(a.Args, o)
	}
	return a
}
