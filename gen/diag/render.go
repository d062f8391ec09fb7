package diag

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/source"
)

// Render prints diagnostics for a terminal: position, code and fact, then the
// line with carets under the span, then related places and the hint.
func Render(ds []Diagnostic) string {
	var b strings.Builder
	for _, d := range ds {
		d.render(&b)
	}
	return b.String()
}

func (d Diagnostic) render(b *strings.Builder) {
	if d.Span.IsZero() {
		fmt.Fprintf(b, "%s %s: %s\n", d.Severity, d.Code, d.Text)
	} else {
		line, col := d.Span.File.Pos(d.Span.Start)
		fmt.Fprintf(b, "%s:%d:%d: %s %s: %s\n", d.Span.File.Path, line, col, d.Severity, d.Code, d.Text)
		quote(b, d.Span, d.Label)
	}
	for _, r := range d.Related {
		if r.Span.IsZero() {
			fmt.Fprintf(b, "  note: %s\n", r.Text)
			continue
		}
		line, col := r.Span.File.Pos(r.Span.Start)
		fmt.Fprintf(b, "  note: %s:%d:%d: %s\n", r.Span.File.Path, line, col, r.Text)
		quote(b, r.Span, "")
	}
	if d.Help != "" {
		fmt.Fprintf(b, "  help: %s\n", d.Help)
	}
}

// maxQuoted is how many runes of a line a message shows; a page may have
// lines of any length.
const maxQuoted = 160

func quote(b *strings.Builder, s source.Span, label string) {
	line, _ := s.File.Pos(s.Start)
	start := s.File.LineStart(line)
	text := strings.ReplaceAll(s.File.Line(line), "\t", " ")
	text = strings.TrimPrefix(text, "\uFEFF")
	lead := utf8.RuneCountInString(strings.TrimPrefix(s.File.Text[start:min(s.Start, len(s.File.Text))], "\uFEFF"))
	end := min(max(s.End, s.Start), start+len(s.File.Line(line)))
	width := 1
	if end > s.Start {
		width = visible(s.File.Text[s.Start:end])
	}
	runes := []rune(text)
	if lead > maxQuoted {
		cut := lead - maxQuoted/2
		runes, lead = append([]rune("…"), runes[min(cut, len(runes)):]...), lead-cut+1
	}
	if len(runes) > maxQuoted {
		runes = append(runes[:maxQuoted:maxQuoted], '…')
	}
	width = max(1, min(width, maxQuoted-lead))
	pad := visible(string(runes[:min(lead, len(runes))]))
	carets := strings.Repeat(" ", pad) + strings.Repeat("^", width)
	if label != "" {
		carets += " " + label
	}
	fmt.Fprintf(b, "%5d | %s\n      | %s\n", line, string(runes), carets)
}

// visible counts the columns of s on a screen: combining marks take none.
func visible(s string) int {
	n := 0
	for _, r := range s {
		if r < 0x300 || r > 0x36f {
			n++
		}
	}
	return n
}
