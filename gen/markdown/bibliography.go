package markdown

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// BibliographyName is the name of the page that lists the papers. It is an
// ordinary page; what counts on it is its first table with a column `key`:
//
//	| key    | names      | title                        | arXiv      | version | equations read |
//	|--------|------------|------------------------------|------------|---------|----------------|
//	| first  | First Name | The First of Three           | 2501.00001 | v1      | 8-15, 32-33    |
//	| second |            | The Second                   | 2504.00002 | v2      | all            |
//	| third  |            | The Third                    | 2511.00003 | v1      | none           |
//
// The columns may be in any order and among others; names
// and version may be missing. A key is of small letters, digits, - and _, and
// is what first#13 and @eq first#13 use. A further edition of a paper, with other numbers,
// is a row of its own with the key first@edition. In prose a paper is known by its
// key, by its names (divided by commas or semicolons) and by its arXiv id;
// there the name begins with a capital. The column `equations` lists the equations that the
// edition has: numbers, ranges and items such as table1, def2, prop3, alg1, 13a; empty, it may have
// any. The column `equations read` (or `read`) lists in the same way what was compared with the paper's
// text, or says all, none, or none: and why it cannot be read; `date` says when.
//
// Every later table with a column `equation` lists equations of papers, one range in a row:
//
//	| equation     | says                        | no page |
//	|--------------|-----------------------------|---------|
//	| first#8      | M_t = M_{t−1} − θ_t ∇ℓ      | first#13 at α = 0 |
//	| first#12-13  | the loss, and its step      |         |
//
// The last column says why no page computes the equation; where it is empty, one should.
const BibliographyName = "papers.md"

var (
	paperKey  = regexp.MustCompile(`^[a-z][a-z0-9_-]*(@[a-z0-9][a-z0-9._-]*)?$`)
	oneKey    = regexp.MustCompile(`^([a-z][a-z0-9_-]*(?:@[a-z0-9._-]+)?)#(` + shortItem + `|\d+(?:\.\d+)*[a-z]?)(?:[-–](\d+[a-z]?))?$`)
	arxivID   = regexp.MustCompile(`\b(\d{4}\.\d{4,5})(v\d+)?\b`)
	rangeItem = regexp.MustCompile(`^(?:(\d{1,6})(?:\s*[-–—]\s*(\d{1,6}))?|([a-zA-Z]*[0-9][\w.]*))$`)
)

// Bibliography reads a bibliography page.
func Bibliography(f *source.File) (*spec.Bibliography, diag.List) {
	b := &bibReader{parser: &parser{file: f, text: f.Text}, bib: &spec.Bibliography{File: f}}
	b.skipBOM()
	for _, l := range b.lines(b.base, len(f.Text)) {
		if !strings.HasPrefix(l.trimmed(), "|") {
			b.columns, b.reads = nil, nil
			continue
		}
		cells := splitRow(l)
		switch {
		case b.columns == nil:
			b.head(cells)
		case b.reads != nil && !delimiter(cells):
			b.reads(cells)
		}
	}
	return b.bib, b.diags
}

type bibReader struct {
	*parser
	bib     *spec.Bibliography
	columns map[string]int     // of the table
	reads   func(cells []line) // reads a row of it; nil where the table is not read
}

// head takes the first row of a table: with a column `key` it is the table of the papers, with a
// column `equation` one of equations.
func (b *bibReader) head(cells []line) {
	columns := map[string]int{}
	for i, c := range cells {
		name := strings.ToLower(unmark(c.text))
		switch {
		case name == "aliases":
			name = "names"
		case name == "equations read":
			name = "read"
		}
		columns[name] = i
	}
	b.columns = columns
	_, papers := columns["key"]
	_, equations := columns["equation"]
	switch {
	case papers && len(b.bib.Papers) == 0:
		b.reads = b.row
	case equations:
		b.reads = b.equation
	}
}

func (b *bibReader) cell(cells []line, column string) line {
	if i, ok := b.columns[column]; ok && i < len(cells) {
		return cells[i]
	}
	return line{}
}

func (b *bibReader) row(cells []line) {
	key := b.cell(cells, "key")
	p := &spec.Paper{Key: unmark(key.text), Title: b.cell(cells, "title").trimmed(), Version: b.cell(cells, "version").trimmed()}
	p.Span = b.cellSpan(key)
	if !paperKey.MatchString(p.Key) {
		b.diags.Errorf(diag.BadPaperRow, p.Span, "%q cannot be the key of a paper", p.Key).
			Hint("use small letters, digits, - and _, beginning with a letter")
		return
	}
	if old := b.bib.ByKey(p.Key); old != nil {
		b.diags.Errorf(diag.BadPaperRow, p.Span, "paper %s is listed twice", p.Key).See(old.Span, "the first row is here")
		return
	}
	if m := arxivID.FindStringSubmatch(b.cell(cells, "arxiv").text); m != nil {
		p.ArXiv = m[1]
		if p.Version == "" {
			p.Version = m[2]
		}
	}
	for _, n := range strings.FieldsFunc(b.cell(cells, "names").text, func(r rune) bool { return r == ',' || r == ';' }) {
		if n = unmark(n); n != "" {
			p.Names = append(p.Names, n)
		}
	}
	p.Date = b.cell(cells, "date").trimmed()
	p.Has = b.ranges(b.cell(cells, "equations"))
	read := b.cell(cells, "read")
	if none, why, ok := strings.Cut(read.trimmed(), ":"); ok && strings.EqualFold(none, "none") {
		p.Unread = strings.TrimSpace(why)
	} else {
		p.Read = b.ranges(read)
	}
	b.bib.Papers = append(b.bib.Papers, p)
}

// equation reads a row about an equation, or a range of them.
func (b *bibReader) equation(cells []line) {
	c := b.cell(cells, "equation")
	m := oneKey.FindStringSubmatch(unmark(c.text))
	if m == nil {
		b.diags.Errorf(diag.BadPaperRow, b.cellSpan(c), "%q names no equation", c.trimmed()).Hint("write key#13, or key#13-15")
		return
	}
	b.bib.Rows = append(b.bib.Rows, &spec.EquationRow{Paper: m[1], Eq: m[2], EqEnd: m[3], Says: unmark(b.cell(cells, "says").text),
		NoPage: b.cell(cells, "no page").trimmed(), Span: b.cellSpan(c)})
}

// ranges reads a list of equations.
func (b *bibReader) ranges(c line) []spec.Range {
	var out []spec.Range
	switch strings.ToLower(c.trimmed()) {
	case "", "none", "-", "—", "–":
		return nil
	case "all":
		return []spec.Range{{Item: "all"}}
	}
	for _, item := range strings.FieldsFunc(c.text, func(r rune) bool { return r == ',' || r == ';' }) {
		item = strings.TrimSpace(item)
		m := rangeItem.FindStringSubmatch(item)
		if m == nil {
			b.badRange(c, item)
			continue
		}
		if m[3] != "" {
			out = append(out, spec.Range{Item: m[3]})
			continue
		}
		from, _ := strconv.Atoi(m[1])
		to := from
		if m[2] != "" {
			to, _ = strconv.Atoi(m[2])
		}
		if to < from {
			b.badRange(c, item)
			continue
		}
		out = append(out, spec.Range{From: from, To: to})
	}
	return out
}

func (b *bibReader) badRange(c line, item string) {
	span := b.cellSpan(c)
	if i := strings.Index(c.text, item); i >= 0 && item != "" {
		span = b.span(c.at(i), c.at(i+len(item)))
	}
	b.diags.Errorf(diag.BadPaperRow, span, "%q is not a range of equations", item).
		Hint("write numbers and ranges such as 1-9, 12, table1, or all, or none")
}

func (b *bibReader) cellSpan(c line) source.Span {
	start := indent(c.text)
	return b.span(c.at(start), c.at(start+len(c.trimmed())))
}

// names finds the papers of a bibliography by what prose calls them.
type names struct {
	papers map[string]bool // lower case
	words  int             // of the longest name
}

func newNames(bib *spec.Bibliography) names {
	n := names{papers: map[string]bool{}}
	if bib == nil {
		return n
	}
	for _, p := range bib.Papers {
		for _, name := range append([]string{p.Key}, p.Names...) {
			name = strings.ToLower(strings.Join(strings.Fields(name), " "))
			n.papers[name] = true
			n.words = max(n.words, strings.Count(name, " ")+1)
		}
	}
	return n
}

var capitalised = regexp.MustCompile(`^[A-Z][A-Za-z0-9_-]*`)

// at returns the longest name that begins at the offset, with a capital.
func (n names) at(l string, start int) (name string, end int, ok bool) {
	m := capitalised.FindString(l[start:])
	if m == "" {
		return "", 0, false
	}
	end = start + len(m)
	for i := 0; i < n.words; i++ {
		if n.papers[strings.ToLower(l[start:end])] {
			name, ok = l[start:end], true
		}
		next := len(wordAt(l, min(len(l), end+1)))
		if end >= len(l) || l[end] != ' ' || next == 0 || ok && !n.papers[strings.ToLower(l[start:end+1+next])] {
			break
		}
		end += 1 + next
	}
	return name, start + len(name), ok
}
