package inspect

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// The report as text.

// width is how many runes of a value or a list the text report shows.
const width = 72

// Text prints the report for a person: one paragraph per page, each row with
// its place, and a line of totals at the end.
func (r *Report) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, p := range r.Pages {
		page(out, p)
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, r.Totals())
	return out.Flush()
}

func page(w io.Writer, p *spec.Page) {
	fmt.Fprintf(w, "%s  %s\n", p.File.Path, p.Title)
	if s := p.Status; s.Kind != spec.Active {
		fmt.Fprintf(w, "  %s at %s: %s\n", s.Kind, lineColumn(s.Span), clip(s.Text))
	}
	header(w, p)
	section(w, "blocks", blockRows(p))
	section(w, "outline", outlineRows(p))
	section(w, "citations", citationRows(p))
	section(w, "references", refRows(p))
}

func header(w io.Writer, p *spec.Page) {
	if p.Header == nil {
		fmt.Fprintln(w, "  no header")
		return
	}
	var rows [][]string
	for _, f := range p.Header.Fields {
		rows = append(rows, []string{string(f.Name), lineColumn(f.NameSpan), clip(f.Value)})
		for _, t := range f.Tags {
			rows = append(rows, []string{"", lineColumn(t.Span), "{" + t.Text + "}"})
		}
	}
	section(w, fmt.Sprintf("header at %s, %s", lineColumn(p.Header.Span), p.Header.Form), rows)
	for _, h := range p.ExtraHeaders {
		fmt.Fprintf(w, "  second header at %s, %s\n", lineColumn(h.Span), h.Form)
	}
}

func blockRows(p *spec.Page) [][]string {
	var rows [][]string
	tags := map[string]int{}
	for _, b := range p.Blocks {
		if b.IsHecate {
			rows = append(rows, []string{b.Info, lineColumn(b.Span), plural(len(b.Lines), "line"), b.Section})
		} else {
			tags[cmp.Or(b.Lang, "bare")]++
		}
	}
	var others []string
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		others = append(others, fmt.Sprintf("%d %s", tags[tag], tag))
	}
	if len(others) > 0 {
		rows = append(rows, []string{"other fences: " + strings.Join(others, ", ")})
	}
	return rows
}

func outlineRows(p *spec.Page) [][]string {
	var rows [][]string
	for _, e := range p.Outline {
		row := []string{string(e.Kind), e.Name, lineColumn(e.Span), clip(e.Text)}
		if n := len(e.Members); n > 0 {
			lines := wrap(e.Members)
			row[3] = fmt.Sprintf("%d: %s", n, lines[0])
			rows = append(rows, row)
			for _, l := range lines[1:] {
				rows = append(rows, []string{"", "", "", l})
			}
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// wrap puts the names of members on lines of the width.
func wrap(members []spec.Member) []string {
	var lines []string
	line := ""
	for i, m := range members {
		name := m.Name
		if i < len(members)-1 {
			name += ", "
		}
		if line != "" && utf8.RuneCountInString(line+name) > width {
			lines, line = append(lines, strings.TrimSpace(line)), ""
		}
		line += name
	}
	return append(lines, line)
}

func citationRows(p *spec.Page) [][]string {
	var rows [][]string
	for _, c := range p.Citations {
		state := c.State.String()
		if c.Implied {
			state += ", implied"
		}
		rows = append(rows, []string{c.Canonical, lineColumn(c.Span), state, clip(c.Text)})
	}
	return rows
}

// refRows shows each target once, with the places that name it.
func refRows(p *spec.Page) [][]string {
	const most = 4 // places to show
	type key struct{ text, path string }
	var order []key
	first := map[key]spec.Ref{}
	places := map[key][]string{}
	for _, r := range p.Refs {
		k := key{r.Span.Text(), r.Path}
		if _, seen := first[k]; !seen {
			order, first[k] = append(order, k), r
		}
		places[k] = append(places[k], lineColumn(r.Span))
	}
	var rows [][]string
	for _, k := range order {
		r, at := first[k], places[k]
		if n := len(at) - most; n > 0 {
			at = append(at[:most:most], fmt.Sprintf("and %d more", n))
		}
		to := r.Path
		if r.Resolution == spec.RefAmbiguous {
			to = strings.Join(r.Candidates, ", ")
		}
		rows = append(rows, []string{k.text, r.Resolution.String(), strings.Join(at, " "), to})
	}
	return rows
}

// section prints rows in columns under a title, or nothing without rows.
func section(w io.Writer, title string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s\n", title)
	Columns(w, "  ", rows)
}

// Columns prints rows in columns, two spaces apart, after an indentation.
func Columns(w io.Writer, indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			line += "  " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// lineColumn is a position as line:column.
func lineColumn(s source.Span) string {
	if s.IsZero() {
		return "-"
	}
	line, col := s.File.Pos(s.Start)
	return fmt.Sprintf("%d:%d", line, col)
}

// clip puts a text on one line and cuts it to the width.
func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > width {
		return string(r[:width-1]) + "…"
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Totals is the last line of the text report.
func (r *Report) Totals() string {
	headers, entries, cites, open, refs := 0, 0, 0, 0, 0
	states := map[spec.RefState]int{}
	for _, p := range r.Pages {
		if p.Header != nil {
			headers++
		}
		entries += len(p.Outline)
		for _, c := range p.Citations {
			cites++
			if !c.Resolved() {
				open++
			}
		}
		for _, ref := range p.Refs {
			refs++
			states[ref.Resolution]++
		}
	}
	return fmt.Sprintf("%s, %s, %s, %s (%d unresolved), %s (%d ambiguous, %d dangling)",
		plural(len(r.Pages), "page"), plural(headers, "header"), plural(entries, "declaration"),
		plural(cites, "citation"), open, plural(refs, "reference"), states[spec.RefAmbiguous], states[spec.RefDangling])
}
