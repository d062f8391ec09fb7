// Package audit reports the coverage of the pages: every equation with its symbols and
// tests, every symbol with its equations, and the gaps by name.
//
// It judges the trace: an equation without a symbol is a gap, and so is a unit without a
// test, a symbol without an equation, a citation of an equation that was not read, and a sentence of
// a contract that no line of the page states. What a page declares instead of deriving (adjoints,
// relaxations, cut gradients) is listed with its reason.
package audit

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/papers"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/trace"
)

// A Report is the result.
type Report struct {
	Format    int               `json:"format"`
	Pages     int               `json:"pages"`
	Coverage  []Share           `json:"coverage"`
	Gaps      []Gap             `json:"gaps"`
	Declared  []trace.Declared  `json:"declared"`
	Errata    []trace.Erratum   `json:"errata"`
	Units     []*trace.Unit     `json:"units"`
	Equations []*trace.Equation `json:"equations"`
	Symbols   []*trace.Symbol   `json:"symbols"`
	Tests     []*trace.Test     `json:"tests"`
}

// A Share is how many of something are as they should be.
type Share struct {
	What string `json:"what"`
	Have int    `json:"have"`
	Of   int    `json:"of"`
}

// Percent is 100 where there is nothing to have.
func (s Share) Percent() float64 {
	if s.Of == 0 {
		return 100
	}
	return 100 * float64(s.Have) / float64(s.Of)
}

// A GapKind is a kind of gap.
type GapKind string

// The gaps.
const (
	NoSymbol   GapKind = "equation without a symbol"
	NoEquation GapKind = "symbol without an equation"
	Stranger   GapKind = "comment that names no equation"
	NoTest     GapKind = "unit without a test"
	Loose      GapKind = "test that is about no unit"
	Unread     GapKind = "citation of an equation that was not read"
	Unverified GapKind = "citation of an equation that cannot be read"
	NoPage     GapKind = "equation of a paper without a page"
	Prose      GapKind = "contract in prose only"
	Unbacked   GapKind = "tag without a line"
)

// gapKinds is the order of the report.
var gapKinds = []GapKind{NoSymbol, NoEquation, Stranger, NoTest, Loose, Unread, NoPage, Unverified, Unbacked, Prose}

// A Gap is something that is missing, by name.
type Gap struct {
	Kind GapKind `json:"kind"`
	Name string  `json:"name"`
	Why  string  `json:"why,omitempty"`
	File string  `json:"file,omitempty"`
	Line int     `json:"line,omitempty"`
}

// New compiles the pages of a project, writes nothing, and lists the symbols of every
// equation and the equations of every symbol. There is no report when there is an
// error.
func New(c gen.Config) (*Report, diag.List) {
	e, ds := gen.Emit(c)
	if ds.HasErrors() {
		return nil, ds
	}
	bib, _ := e.Source.Papers()
	pages := e.Source.OwnPages()
	for _, p := range pages {
		p.Citations = markdown.Cite(p, bib)
	}
	t := trace.New(e)
	a := &auditor{pages: pages, bib: bib, path: e.Source.Path, tags: t.Tags, out: &Report{Format: 1, Pages: len(pages), Units: t.Units, Equations: t.Equations, Symbols: t.Symbols, Tests: t.Tests, Declared: t.Declared, Errata: t.Errata}}
	a.equations()
	a.symbols()
	a.units()
	a.citations()
	list, _ := PapersOf(e.Source) // what is wrong there, check reports
	a.papers(list)
	a.contracts()
	slices.SortStableFunc(a.out.Gaps, func(x, y Gap) int {
		return slices.Index(gapKinds, x.Kind) - slices.Index(gapKinds, y.Kind)
	})
	return a.out, ds
}

type auditor struct {
	pages []*spec.Page // of the project, with their citations resolved
	bib   *spec.Bibliography
	path  func(page string) string
	tags  map[string][]string // of the lines of each page
	out   *Report
}

func (a *auditor) share(what string, have, of int) {
	a.out.Coverage = append(a.out.Coverage, Share{what, have, of})
}

func (a *auditor) gap(kind GapKind, name, file string, line int, why string) {
	a.out.Gaps = append(a.out.Gaps, Gap{kind, name, why, file, line})
}

func (a *auditor) unit(id string) *trace.Unit {
	for _, u := range a.out.Units {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (a *auditor) equations() {
	symbol, test := 0, 0
	for _, e := range a.out.Equations {
		if len(e.Tests) > 0 {
			test++
		}
		if len(e.Symbols) > 0 {
			symbol++
			continue
		}
		a.gap(NoSymbol, e.ID, e.Page, e.Line, a.reason(e))
	}
	a.share("equations that a symbol computes", symbol, len(a.out.Equations))
	a.share("equations that a test holds", test, len(a.out.Equations))
}

// reason explains why an equation has no symbol.
func (a *auditor) reason(e *trace.Equation) string {
	u := a.unit(e.Unit)
	switch {
	case len(e.In) > 0:
		return "written out in " + strings.Join(e.In, ", ") + ", which has none"
	case len(e.Claims) > 0:
		return "only claims of " + strings.Join(e.Claims, ", ") + " speak of it"
	case e.Kind == "function":
		if u != nil && u.Kind == "function" {
			return "no emitted equation calls it"
		}
	case u != nil && u.Emitted:
		return "no statement of " + u.Package + " names it"
	}
	if u != nil {
		return "no emitted unit is made with " + u.Kind + " " + u.Name
	}
	return "its unit is unknown"
}

func (a *auditor) symbols() {
	have := 0
	var file string
	var names []string
	flush := func() {
		if len(names) > 0 {
			a.gap(NoEquation, strings.Join(names, ", "), file, 0, "shared by all units")
		}
		names = nil
	}
	byFile := slices.Clone(a.out.Symbols)
	slices.SortStableFunc(byFile, func(x, y *trace.Symbol) int { return strings.Compare(x.File, y.File) })
	for _, s := range byFile {
		for _, id := range s.Unknown {
			a.gap(Stranger, id, s.File, s.Line, "in "+local(s.Name))
		}
		if len(s.Equations) > 0 {
			have++
			continue
		}
		if s.File != file {
			flush()
			file = s.File
		}
		names = append(names, local(s.Name))
	}
	flush()
	a.share("symbols that an equation stands behind", have, len(a.out.Symbols))
}

// local is a symbol's name inside its package.
func local(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func (a *auditor) units() {
	of, have := 0, 0
	for _, u := range a.out.Units {
		if !u.Emitted {
			continue
		}
		of++
		if len(u.Tests) > 0 {
			have++
			continue
		}
		a.gap(NoTest, u.ID, u.Page, u.Line, "")
	}
	for _, t := range a.out.Tests {
		if t.Unit == "" && !a.shared(t) {
			a.gap(Loose, local(t.Name), t.File, t.Line, "")
		}
	}
	a.share("emitted units with a test", have, of)
}

// shared reports whether a test is in a package of shared code.
func (a *auditor) shared(t *trace.Test) bool {
	dir := t.File[:strings.LastIndexByte(t.File, '/')+1]
	return !slices.ContainsFunc(a.out.Symbols, func(s *trace.Symbol) bool { return s.Role != trace.Shared && strings.HasPrefix(s.File, dir) })
}

func (a *auditor) citations() {
	read, unverifiable, of := 0, 0, 0
	for _, p := range a.pages {
		if !p.Emits() {
			continue
		}
		for _, c := range p.Citations {
			if c.State == spec.WholePaper {
				continue // names no equation
			}
			of++
			line, _ := c.Span.File.Pos(c.Span.Start)
			switch c.State {
			case spec.Read:
				read++
			case spec.Unverifiable:
				unverifiable++
				a.gap(Unverified, c.Canonical, a.path(p.File.Path), line, a.bib.ByKey(c.Paper).Unread)
			default:
				a.gap(Unread, c.Canonical, a.path(p.File.Path), line, c.State.String())
			}
		}
	}
	a.share("cited equations that were read", read, of)
	a.share("cited equations that cannot be read", unverifiable, of)
	a.share("cited equations that were not read", of-read-unverifiable, of)
}

// papers lists the equations of papers that no page has, and why not.
func (a *auditor) papers(list []*Paper) {
	rows, settled := 0, 0
	for _, p := range list {
		for _, r := range p.Rows {
			rows++
			if r.Verdict != string(papers.Open) {
				settled++
				continue
			}
			a.gap(NoPage, p.Key+"#"+r.Number, "", 0, r.Says)
		}
	}
	if rows > 0 {
		a.share("equations of papers with a page, or a reason", settled, rows)
	}
}

// backed are the fields of a contract whose statements a line can back.
var backed = []spec.FieldName{spec.Guarantees, spec.Cost}

func (a *auditor) contracts() {
	of, have := 0, 0
	for _, p := range a.pages {
		if !p.Emits() || p.Header == nil {
			continue
		}
		tags := a.tags[a.path(p.File.Path)]
		for _, name := range backed {
			f := p.Header.Field(name)
			if f == nil {
				continue
			}
			for _, part := range f.Parts {
				of++
				line, _ := part.Span.File.Pos(part.Span.Start)
				at := a.path(p.File.Path)
				missing := slices.DeleteFunc(slices.Clone(part.Tags), func(t spec.Tag) bool { return slices.Contains(tags, t.Text) })
				switch {
				case len(part.Tags) == 0:
					a.gap(Prose, string(name), at, line, oneLine(part.Text))
				case len(missing) > 0:
					for _, t := range missing {
						a.gap(Unbacked, "{"+t.Text+"}", at, line, oneLine(part.Text))
					}
				default:
					have++
				}
			}
		}
	}
	a.share("contract statements with a line behind them", have, of)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clean reports whether every equation has a symbol and every emitted unit a
// test, and every comment in the code names an equation.
func (r *Report) Clean() bool {
	return !slices.ContainsFunc(r.Gaps, func(g Gap) bool {
		return g.Kind == NoSymbol || g.Kind == NoTest || g.Kind == Stranger || g.Kind == Unbacked
	})
}
