package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/papers"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Paper is one paper in one edition, with what the pages have of its equations.
type Paper struct {
	Key    string        `json:"key"`
	Title  string        `json:"title"`
	ArXiv  string        `json:"arxiv,omitempty"`
	Read   string        `json:"read,omitempty"`   // the equations that were read, and when
	Unread string        `json:"unread,omitempty"` // why none was
	Rows   []PaperRow    `json:"equations"`
	table  *papers.Paper // what it was made of
}

// A PaperRow is an equation of a paper, or a run of them.
type PaperRow struct {
	Number  string     `json:"number"`
	Says    string     `json:"says,omitempty"`
	Verdict string     `json:"verdict"`
	NoPage  string     `json:"no_page,omitempty"` // why
	Lines   []PaperUse `json:"lines,omitempty"`
}

// A PaperUse is a line that cites an equation.
type PaperUse struct {
	Page    string `json:"page"`
	Line    int    `json:"line"`
	Unit    string `json:"unit"` // its id
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Says    string `json:"says,omitempty"` // in what it differs, or what is wrong in print
	Text    string `json:"text"`
}

// Papers lists for every equation of the papers that the bibliography describes the lines of
// pages that cite it. The keys choose papers; without one all are listed. It is an error if a key
// is not in the bibliography or nothing is known of its equations.
func Papers(c gen.Config, keys ...string) ([]*Paper, diag.List) {
	s, ds := c.Load()
	if ds.HasErrors() {
		return nil, ds
	}
	out, pd := PapersOf(s)
	if ds.Append(pd); ds.HasErrors() || len(keys) == 0 {
		return out, ds
	}
	var chosen []*Paper
	for _, key := range keys {
		n := len(chosen)
		for _, p := range out {
			if p.Key == key || strings.HasPrefix(p.Key, key+"@") {
				chosen = append(chosen, p)
			}
		}
		if len(chosen) == n {
			var have []string
			for _, p := range out {
				have = append(have, p.Key)
			}
			ds.Errorf(diag.UnknownPaper, source.Span{}, "no page cites an equation of %s, and papers.md lists none", key).Hint("the papers are %s", strings.Join(have, ", "))
		}
	}
	return chosen, ds
}

// PapersOf is Papers of pages that are loaded.
func PapersOf(s *gen.Source) ([]*Paper, diag.List) {
	bib, ds := s.Papers()
	t, td := papers.New(s.Tree.Order, bib, s.OwnFile)
	ds.Append(td)
	var out []*Paper
	for _, p := range t.Papers {
		q := &Paper{Key: p.Key, Title: p.Title, ArXiv: p.ArXiv + p.Version, Unread: p.Unread, table: p}
		if p.ArXiv == "" {
			q.ArXiv = ""
		}
		if len(p.Read) > 0 {
			q.Read = strings.TrimSpace(p.ReadNumbers() + " " + p.Date)
		}
		for _, r := range p.Rows {
			row := PaperRow{Number: r.Number(), Says: r.Says, Verdict: string(r.Verdict()), NoPage: r.NoPage}
			for _, u := range r.Uses {
				line, _ := u.Cite.Span.File.Pos(u.Cite.Span.Start)
				row.Lines = append(row.Lines, PaperUse{Page: s.Path(u.Cite.Span.File.Path), Line: line, Unit: units.ID(u.Unit), Name: u.Unit.Name.Text,
					Verdict: string(u.Verdict), Says: u.Says, Text: lineText(u.Line)})
			}
			q.Rows = append(q.Rows, row)
		}
		out = append(out, q)
	}
	return out, ds
}

// lineText is the line of a citation, without the citation.
func lineText(line any) string {
	switch l := line.(type) {
	case *notation.Define:
		bare := *l
		bare.Cite, bare.Label = nil, nil
		return oneLine(notation.Print(&bare, notation.Unicode))
	case *notation.Claim:
		bare := *l
		bare.Cite, bare.Tag = nil, nil
		return oneLine(notation.Print(&bare, notation.Unicode))
	case *notation.Erratum:
		return "by claim " + l.By.Text
	case *notation.Unit:
		return l.Kind.String() + " " + l.Name.Text
	}
	return ""
}

// Line counts the verdicts of a paper's rows.
func (p *Paper) Line() string {
	var out []string
	for _, v := range []papers.Verdict{papers.AsPrinted, papers.Erratum, papers.Differs, papers.NoPage, papers.Open} {
		if n := p.table.Count(v); n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, v))
		}
	}
	return plural(len(p.Rows), "row") + ": " + strings.Join(out, ", ")
}

// WritePapers writes the tables of papers for a person.
func WritePapers(w io.Writer, list []*Paper) error {
	p := &page{}
	for i, paper := range list {
		if i > 0 {
			p.line("\n")
		}
		p.line("%s  %s  %s\n", paper.Key, paper.Title, paper.ArXiv)
		switch {
		case paper.Unread != "":
			p.line("  unverifiable: %s\n", paper.Unread)
		case paper.Read != "":
			p.line("  read: %s\n", paper.Read)
		default:
			p.line("  read: none\n")
		}
		p.line("  %s\n", paper.Line())
		var rows [][]string
		for _, r := range paper.Rows {
			first := []string{r.Number, clip(r.Says, 64)}
			if len(r.Lines) == 0 {
				why := r.Verdict
				if r.NoPage != "" {
					why += ": " + r.NoPage
				}
				rows = append(rows, append(first, "", "", why))
				continue
			}
			for _, u := range r.Lines {
				verdict := u.Verdict
				if u.Says != "" {
					verdict += ": " + u.Says
				}
				rows = append(rows, append(first, u.Name, fmt.Sprintf("%s:%d", u.Page, u.Line), verdict))
				first = []string{"", ""}
			}
		}
		p.table(rows)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// PapersJSON writes the tables of papers as JSON.
func PapersJSON(w io.Writer, list []*Paper) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(list)
}
