// Package papers is the table from the equations of papers to the lines of pages: which line
// is an equation of a paper as printed, which differs from it and how, where a page
// claims that the print is wrong, and which equations no page computes.
//
// The equations of a paper are rows of the page papers.md; what a line is of one, its citation
// says: `@eq key#13` as printed, `@eq key#13 "no momentum"` with the difference,
// `erratum key#13 "…" by claim …` that the print is wrong.
package papers

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A Verdict says what a line is of an equation that it cites.
type Verdict string

// The verdicts. NoPage and Open are of rows alone: the bibliography says why no page computes the
// equation, or neither it nor a page does.
const (
	AsPrinted Verdict = "as printed"
	Differs   Verdict = "differs"
	Erratum   Verdict = "erratum"
	NoPage    Verdict = "no page"
	Open      Verdict = "open"
)

// A Use is a line that cites an equation.
type Use struct {
	Unit    *notation.Unit
	Cite    *notation.Cite
	Verdict Verdict
	Says    string // in what the line differs, or what is wrong in print
	Line    any    // *notation.Define, *notation.Claim, *notation.Erratum or, for a formula, the unit
}

// A Row is an equation, or a range of them that one row of the bibliography speaks of.
type Row struct {
	*spec.EquationRow
	Uses []*Use
}

// Number is the equation's number in its paper: "13", "13-15", "alg1".
func (r *Row) Number() string {
	if r.EqEnd != "" {
		return r.Eq + "-" + r.EqEnd
	}
	return r.Eq
}

// Verdict is the best that a line says of the row: as printed, erratum, differs; without a line
// no page or open.
func (r *Row) Verdict() Verdict {
	for _, v := range []Verdict{AsPrinted, Erratum, Differs} {
		if slices.ContainsFunc(r.Uses, func(u *Use) bool { return u.Verdict == v }) {
			return v
		}
	}
	if r.NoPage != "" {
		return NoPage
	}
	return Open
}

// A Paper is a paper in one edition with the rows of its equations, by number.
type Paper struct {
	*spec.Paper
	Rows []*Row
}

// Count returns how many rows have a verdict.
func (p *Paper) Count(v Verdict) int {
	n := 0
	for _, r := range p.Rows {
		if r.Verdict() == v {
			n++
		}
	}
	return n
}

// A Table is the map for all papers that a page cites an equation of, or whose equations the
// bibliography lists.
type Table struct {
	Papers []*Paper
	Uses   []*Use
}

// Paper returns the paper with that key, or nil.
func (t *Table) Paper(key string) *Paper {
	for _, p := range t.Papers {
		if p.Key == key {
			return p
		}
	}
	return nil
}

// New reads the citations of the lines of units; own says which files are the project's and not
// its library's. It reports, at the citation and with the row of the bibliography: rows about a
// paper or an equation that is not there, a row of the project that says that there is no page
// for what a page of it cites, an equation that a page gives as printed and another as wrong in
// print, and one that two pages give as printed in different forms.
func New(units []*notation.Unit, bib *spec.Bibliography, own func(*source.File) bool) (*Table, diag.List) {
	t := &Table{}
	if bib == nil {
		return t, diag.List{}
	}
	var ds diag.List
	for _, p := range bib.Papers {
		t.Papers = append(t.Papers, &Paper{Paper: p})
	}
	t.rows(bib, &ds)
	for _, u := range units {
		if !u.Example {
			t.cited(u)
		}
	}
	for _, u := range t.Uses {
		if p := bib.ByKey(u.Cite.Paper); p != nil && u.Cite.Eq != "?" {
			t.Paper(p.Key).use(u)
		}
	}
	for _, p := range t.Papers {
		slices.SortStableFunc(p.Rows, func(a, b *Row) int { return cmp.Compare(position(a.Eq), position(b.Eq)) })
		for _, r := range p.Rows {
			r.check(own, &ds)
		}
	}
	t.Papers = slices.DeleteFunc(t.Papers, func(p *Paper) bool { return len(p.Rows) == 0 })
	return t, ds
}

func (t *Table) rows(bib *spec.Bibliography, ds *diag.List) {
	for _, r := range bib.Rows {
		p := bib.ByKey(r.Paper)
		if p == nil {
			ds.Errorf(diag.BadPaperRow, r.Span, "%s has no row for the paper %s", markdown.BibliographyName, r.Paper).Hint("add one, or correct the key")
			continue
		}
		for _, eq := range []string{r.Eq, cmp.Or(r.EqEnd, r.Eq)} {
			if !p.HasEquation(eq) {
				ds.Errorf(diag.NoSuchEquation, r.Span, "%s has no equation %s", p.Key, eq).See(p.Span, "it has the equations %s", p.Numbers())
				break
			}
		}
		own := t.Paper(p.Key)
		if old := own.row(r.Eq, r.EqEnd); old != nil {
			ds.Errorf(diag.BadPaperRow, r.Span, "two rows speak of equation %s of %s", r.Eq, p.Key).See(old.Span, "the other one")
			continue
		}
		own.Rows = append(own.Rows, &Row{EquationRow: r})
	}
}

func (p *Paper) row(eq, end string) *Row {
	for _, r := range p.Rows {
		if r.Covers(eq, end) {
			return r
		}
	}
	return nil
}

// use gives a line to every row that its citation speaks of, or to a new one.
func (p *Paper) use(u *Use) {
	eq, end, _ := strings.Cut(u.Cite.Eq, "-")
	found := false
	for _, r := range p.Rows {
		if r.Covers(eq, end) {
			r.Uses, found = append(r.Uses, u), true
		}
	}
	if !found {
		p.Rows = append(p.Rows, &Row{EquationRow: &spec.EquationRow{Paper: p.Key, Eq: eq, EqEnd: end, Span: p.Span}, Uses: []*Use{u}})
	}
}

// cited lists the lines of a unit that cite an equation.
func (t *Table) cited(u *notation.Unit) {
	add := func(c *notation.Cite, line any) {
		for c := range c.All() {
			use := &Use{Unit: u, Cite: c, Verdict: AsPrinted, Line: line}
			if c.Differs != nil {
				use.Verdict, use.Says = Differs, c.Differs.Value
			}
			t.Uses = append(t.Uses, use)
		}
	}
	if u.Result != nil {
		add(u.Cite, u.Result)
	} else {
		add(u.Cite, u)
	}
	for _, st := range u.Body {
		switch s := st.(type) {
		case *notation.Define:
			add(s.Cite, s)
		case *notation.Claim:
			add(s.Cite, s)
		case *notation.Erratum:
			t.Uses = append(t.Uses, &Use{Unit: u, Cite: s.Cite, Verdict: Erratum, Says: s.Text.Value, Line: s})
		}
	}
}

// check compares what the lines of a row say.
func (r *Row) check(own func(*source.File) bool, ds *diag.List) {
	var first *Use // as printed
	forms := map[string]bool{}
	for _, u := range r.Uses {
		if r.NoPage != "" && own(r.Span.File) == own(u.Cite.Span.File) {
			ds.Errorf(diag.CitedDifferently, u.Cite.Span, "a page cites %s#%s, and %s says that no page has it", r.Paper, r.Number(), markdown.BibliographyName).
				See(r.Span, "the row is here").Hint("empty the row's column `no page`, or take the citation away")
			return
		}
		d, ok := u.Line.(*notation.Define)
		if u.Verdict != AsPrinted || !ok || d.Family != nil || strings.Contains(r.Number()+u.Cite.Eq, "-") {
			continue
		}
		form := normal(d)
		switch {
		case first == nil:
			first = u
		case !forms[form] && u.Cite.Span.File != first.Cite.Span.File:
			ds.Errorf(diag.CitedDifferently, u.Cite.Span, "two pages give %s#%s as printed, in different forms", r.Paper, r.Number()).
				See(first.Cite.Span, "the other form").See(r.Span, "the row is here").
				Hint("say behind one of the citations in what its line differs: @eq %s#%s \"…\"", r.Paper, r.Number())
		}
		if u.Cite.Span.File == first.Cite.Span.File {
			forms[form] = true
		}
	}
}

var names = regexp.MustCompile(`\p{L}[\p{L}\p{N}⁰°₀-₉]*(?:_\p{L}[\p{L}\p{N}₀-₉]*)*`)

// normal is a definition with its names replaced by numbers, in the order in which they
// first occur.
func normal(d *notation.Define) string {
	bare := *d
	bare.Cite, bare.Label = nil, nil
	seen := map[string]int{}
	return names.ReplaceAllStringFunc(notation.Print(&bare, notation.Unicode), func(name string) string {
		name, now := strings.CutSuffix(name, "_t")
		n, ok := seen[name]
		if !ok {
			n = len(seen) + 1
			seen[name] = n
		}
		if now {
			return "#" + strconv.Itoa(n) + "_t"
		}
		return "#" + strconv.Itoa(n)
	})
}

// position orders equations: numbers first, then items such as alg1.
func position(eq string) int {
	if n, err := strconv.Atoi(eq); err == nil {
		return n
	}
	return 1 << 30
}
