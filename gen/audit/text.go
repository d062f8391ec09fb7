package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/trace"
)

// JSON writes the report as JSON.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// Text writes the report for a person: the coverage, then the equations with
// symbols and tests, the symbols with equations, what is declared, the gaps,
// and the coverage in one last line.
func (r *Report) Text(w io.Writer) error {
	p := &page{}
	emitted := 0
	for _, u := range r.Units {
		if u.Emitted {
			emitted++
		}
	}
	p.line("%s: %s, of which %d emitted, %s, %s, %s\n", plural(r.Pages, "page"), plural(len(r.Units), "unit"), emitted,
		plural(len(r.Equations), "equation"), plural(len(r.Symbols), "symbol"), plural(len(r.Tests), "test"))
	p.title("coverage")
	var rows [][]string
	for _, s := range r.Coverage {
		rows = append(rows, []string{s.What, fmt.Sprintf("%4d of %4d", s.Have, s.Of), fmt.Sprintf("%6.1f %%", s.Percent()), bar(s)})
	}
	p.table(rows)
	r.equationText(p)
	r.symbolText(p)
	r.declaredText(p)
	r.errataText(p)
	r.gapText(p)
	_, err := io.WriteString(w, p.String())
	return err
}

func (r *Report) equationText(p *page) {
	p.title("equation → symbol → test")
	for _, u := range r.Units {
		var rows [][]string
		for _, e := range r.Equations {
			if e.Unit != u.ID {
				continue
			}
			id := strings.TrimPrefix(e.ID, u.ID+".")
			rows = append(rows, []string{"  " + id, fmt.Sprint(e.Line), r.computed(u, e), cited(e)})
			if e.Of != "" {
				rows[len(rows)-1][1] = local(e.Page) + ":" + fmt.Sprint(e.Line)
			}
		}
		if len(rows) == 0 {
			continue
		}
		p.line("  %s %s  %s:%d\n", u.Kind, u.Name, u.Page, u.Line)
		p.table(rows)
		switch {
		case !u.Emitted && len(u.UsedBy) > 0:
			p.line("    written out in %s\n", strings.Join(u.UsedBy, ", "))
		case u.Emitted && len(u.Tests) > 0:
			p.line("    tests: %s\n", strings.Join(locals(u.Tests), ", "))
		case u.Emitted:
			p.line("    no test\n")
		}
		if len(u.Cut) > 0 {
			p.line("    depends on the cut into calls: %s\n", strings.Join(u.Cut, "; "))
		}
	}
}

// computed names what computes an equation, inside the unit's own package.
func (r *Report) computed(u *trace.Unit, e *trace.Equation) string {
	if !u.Emitted {
		if len(e.In) == 0 {
			return "—"
		}
		return "in " + strings.Join(e.In, ", ")
	}
	names := make([]string, 0, len(e.Symbols))
	for _, s := range e.Symbols {
		names = append(names, strings.TrimPrefix(s, u.Package+"."))
	}
	text := strings.Join(names, ", ")
	if len(e.Folded) > 0 {
		text += " (in " + strings.Join(e.Folded, ", ") + ")"
	}
	if text == "" {
		return "—"
	}
	return text
}

func cited(e *trace.Equation) string {
	switch {
	case e.Cite == "":
		return ""
	case e.Paper == nil:
		return e.Cite + " (unknown)"
	case e.Paper.Read:
		return e.Cite
	}
	return e.Cite + " (not read)"
}

func locals(names []string) []string {
	var out []string
	for _, n := range names {
		l := local(n)
		out = append(out, l[strings.IndexByte(l, '.')+1:])
	}
	return out
}

// symbolText lists kernels with their equations. The interface of a unit belongs to all
// of its equations and is one line.
func (r *Report) symbolText(p *page) {
	p.title("symbol → equation → test")
	var rows [][]string
	for _, u := range r.Units {
		var faces []string
		first := len(rows)
		for _, s := range r.Symbols {
			if s.Unit != u.ID {
				continue
			}
			name := strings.TrimPrefix(s.Name, u.Package+".")
			switch {
			case s.Role == trace.Kernel && s.Kind == "type":
				rows = append(rows, []string{"  " + local(s.Name), strings.Join(short(u.ID, s.Equations), ", ")})
			case s.Role == trace.Face && s.Kind != "method":
				faces = append(faces, name)
			}
		}
		if len(faces) > 0 {
			rows = append(rows, []string{"  " + local(u.Package) + ": " + strings.Join(faces, ", "), "all of " + u.ID})
		}
		if len(rows) > first {
			rows[first] = append(rows[first], counted(len(u.Tests)))
		}
	}
	p.table(rows)
}

func counted(n int) string {
	if n == 0 {
		return "no test"
	}
	return plural(n, "test")
}

func short(unit string, ids []string) []string {
	var out []string
	for _, id := range ids {
		out = append(out, strings.TrimPrefix(id, unit+"."))
	}
	return out
}

func (r *Report) declaredText(p *page) {
	if len(r.Declared) == 0 {
		return
	}
	p.title("declared, not derived")
	var rows [][]string
	for _, d := range r.Declared {
		rows = append(rows, []string{"  " + d.Text, d.Reason, fmt.Sprintf("%s:%d", d.Page, d.Line)})
	}
	p.table(rows)
}

// errataText lists the errata of sources: the source, what is wrong with
// it, and under it the claim that shows it.
func (r *Report) errataText(p *page) {
	if len(r.Errata) == 0 {
		return
	}
	p.title("errata of sources")
	for _, e := range r.Errata {
		p.line("  %s  %s  %s:%d\n", e.Cite, e.Title, e.Page, e.Line)
		p.line("    %s\n", e.Says)
		p.line("    shown by %s: %s\n", e.By, strings.Join(strings.Fields(e.Claim), " "))
	}
}

func (r *Report) gapText(p *page) {
	p.title("gaps")
	if len(r.Gaps) == 0 {
		p.line("  none\n")
	}
	for _, kind := range gapKinds {
		gaps := slices.DeleteFunc(slices.Clone(r.Gaps), func(g Gap) bool { return g.Kind != kind })
		if len(gaps) == 0 {
			continue
		}
		p.line("  %s: %d\n", kind, len(gaps))
		var rows [][]string
		for _, g := range gaps {
			at := g.File
			if g.Line > 0 {
				at = fmt.Sprintf("%s:%d", g.File, g.Line)
			}
			rows = append(rows, []string{"  " + clip(g.Name, 60), clip(g.Why, 70), at})
		}
		p.table(rows)
	}
}

// A page is the text of a report.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format, args...) }

func (p *page) title(text string) { p.line("\n%s\n", text) }

// table prints rows in columns; a cell that is much wider than the others of
// its column does not move them.
func (p *page) table(rows [][]string) {
	const widest = 64
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(cell); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString("  " + cell + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))))
		}
		p.line("%s\n", strings.TrimRight(b.String(), " "))
	}
}

const barWidth = 20

func bar(s Share) string {
	full := int(s.Percent() / 100 * barWidth)
	return strings.Repeat("█", full) + strings.Repeat("·", barWidth-full)
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
