package manual_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
)

// The manual of the language is specs/LANGUAGE.md. These tests hold it to the
// compiler, so that it cannot say what is not so:
//
//   - a fence `hecate example` is compiled: parsed, resolved, built,
//     differentiated, lowered and proved, with the pages of specs/ around it.
//     A unit of the example stands in for a page of the same name;
//   - a fence `hecate-sketch WHY` parses, and does not compile yet. WHY is the
//     code of the first error, or `uncompiled` where no stage takes its units.
//     A sketch that has come to compile fails the test: make it an example;
//   - tables are recognised by their first head cell and compared with the
//     tables of the code. `UPDATE=1 go test ./gen/manual` rewrites those
//     that hold nothing but what the code says, and then fails.
const (
	specsFolder = "../../specs"
	manualPath  = specsFolder + "/LANGUAGE.md"
)

// A manualPage is the manual with the pages around it.
type manualPage struct {
	page  *spec.Page
	specs []*notation.File // of the other pages that emit
	known map[string]bool
}

var theManual = sync.OnceValues(func() (*manualPage, error) {
	text, err := os.ReadFile(manualPath)
	if err != nil {
		return nil, err
	}
	m := &manualPage{}
	var ds diag.List
	m.page, ds = markdown.Parse(source.NewFile(manualPath, string(text)))
	others, err := otherPages()
	if err != nil {
		return nil, err
	}
	s, sd := gen.Load(others...)
	if ds.Append(sd); ds.HasErrors() {
		return nil, &ds
	}
	var blocks []parser.Input
	for i, p := range s.Pages {
		if p.Emits() {
			m.specs = append(m.specs, s.Files[i])
			for _, b := range p.Blocks {
				if b.IsHecate {
					blocks = append(blocks, parser.Input{Text: b.Text})
				}
			}
		}
	}
	m.known = parser.Known(blocks)
	return m, nil
})

// otherPages are the pages beside the manual, which are independent of it.
func otherPages() (out []string, err error) {
	err = filepath.WalkDir(specsFolder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") && filepath.ToSlash(path) != manualPath {
			out = append(out, path)
		}
		return err
	})
	return out, err
}

func manual(t *testing.T) *manualPage {
	t.Helper()
	m, err := theManual()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestManualExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	m := manual(t)
	n := 0
	for _, b := range m.page.Blocks {
		if !b.IsExample {
			if b.IsHecate {
				t.Errorf("%s:%d: a fence of the manual is `hecate example` or `hecate-sketch`", manualPath, line(b))
			}
			continue
		}
		n++
		t.Run(title(b), func(t *testing.T) {
			if ds := m.compile(b, true); ds.Len() > 0 {
				t.Errorf("\n%s", diag.Render(ds.Sorted()))
			}
		})
	}
	if n < 25 {
		t.Errorf("found only %d examples", n)
	}
}

const (
	sketchLang = "hecate-sketch"
	uncompiled = "uncompiled"
)

func TestManualSketches(t *testing.T) {
	m := manual(t)
	for _, b := range m.page.Blocks {
		if b.Lang != sketchLang {
			continue
		}
		t.Run(title(b), func(t *testing.T) {
			why := strings.TrimSpace(strings.TrimPrefix(b.Info, sketchLang))
			f, ds := m.parse(b)
			if ds.Len() > 0 {
				t.Fatalf("a sketch must parse:\n%s", diag.Render(ds.Sorted()))
			}
			if why == uncompiled {
				for _, u := range f.Units {
					if compiled(u.Kind) {
						t.Errorf("%s:%d: %s %s is of a kind that is compiled", manualPath, line(b), u.Kind.String(), u.Name.Text)
					}
				}
				return
			}
			cs := m.compile(b, false)
			if cs.Len() == 0 {
				t.Fatalf("%s:%d: this sketch compiles now: call it `hecate example`", manualPath, line(b))
			}
			if got := cs.Sorted()[0].Code.String(); got != why {
				t.Errorf("%s:%d: the sketch fails with %s, not %s:\n%s", manualPath, line(b), got, why, diag.Render(cs.Sorted()))
			}
		})
	}
}

// line is where a fence opens.
func line(b *spec.Block) int { n, _ := b.Span.File.Pos(b.Span.Start); return n }

func title(b *spec.Block) string {
	first, _, _ := strings.Cut(b.Text, "\n")
	words := strings.Fields(first)
	return fmt.Sprintf("line %d %s", line(b), strings.Join(words[:min(2, len(words))], " "))
}

// parse reads a fence as the compiler would, at its place on the page.
func (m *manualPage) parse(b *spec.Block) (*notation.File, diag.List) {
	in := parser.Input{Text: b.Text, Offset: b.FileOffset, File: m.page.File, Example: true, Known: m.known}
	return parser.Parse(m.page.File, []parser.Input{in})
}

// compile takes a fence through the compiler.
func (m *manualPage) compile(b *spec.Block, proving bool) diag.List {
	f, ds := m.parse(b)
	if ds.Len() > 0 {
		return ds
	}
	tree, ds := units.Collect(append(m.around(f), f))
	if ds.Len() > 0 {
		return ds
	}
	for _, u := range f.Units {
		caught(u, &ds, func() { exampleUnit(tree, u, &ds) })
		if proving && !ds.HasErrors() {
			caught(u, &ds, func() {
				_, pd := prove.Block(tree, u, proof.Options{})
				ds.Append(pd)
			})
		}
	}
	return ds
}

// caught turns a panic of the compiler into a diagnostic, so that the other
// examples are still looked at.
func caught(u *notation.Unit, ds *diag.List, f func()) {
	defer func() {
		if r := recover(); r != nil {
			ds.Errorf(diag.Internal, u.Name.Span, "the compiler failed on %s: %v", u.Name.Text, r)
		}
	}()
	f()
}

// around is the pages of specs/ without what the example itself defines.
func (m *manualPage) around(f *notation.File) []*notation.File {
	mine := map[string]bool{}
	for _, u := range f.Units {
		mine[ident.ID(u.Name.Text)] = true
	}
	var out []*notation.File
	for _, s := range m.specs {
		rest := &notation.File{Source: s.Source}
		for _, u := range s.Units {
			if !mine[ident.ID(u.Name.Text)] {
				rest.Units = append(rest.Units, u)
			}
		}
		out = append(out, rest)
	}
	return out
}

// compiled reports whether a stage takes units of a kind, alone or as a part
// of others.
func compiled(k notation.UnitKind) bool {
	return k != notation.StrategyUnit
}

// exampleUnit compiles one unit, and types its claims. A knob is built where a rule uses
// it, but a bias has claims of its own.
func exampleUnit(tree *units.Tree, u *notation.Unit, ds *diag.List) {
	if !gen.Standalone(u) && u.Kind != notation.BiasUnit {
		return
	}
	_, cd := gen.CompileUnit(&gen.Source{Tree: tree}, u)
	if ds.Append(cd); cd.HasErrors() {
		return
	}
	blk, bd := check.Instantiate(tree, u)
	if ds.Append(bd); bd.HasErrors() || blk == nil {
		return
	}
	for _, st := range u.Body {
		if c, ok := st.(*notation.Claim); ok && c.Left != nil && slices.Contains(blk.Claims, c) {
			irbuild.Claim(blk, c, ds)
		}
	}
}
