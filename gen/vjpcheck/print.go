package vjpcheck

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen/inspect"
)

// The verdicts as a table and as JSON.

// Text prints the verdicts as a table: no line of a page is repeated.
func Text(w io.Writer, entries []Entry) error {
	var rows [][]string
	section := ""
	var b strings.Builder
	flush := func() {
		inspect.Columns(&b, "", rows)
		rows = nil
	}
	for _, e := range entries {
		if title := strings.TrimSpace(e.Page + "  " + e.Section); title != section {
			flush()
			if section != "" {
				b.WriteByte('\n')
			}
			section = title
			b.WriteString(title + "\n")
		}
		name := e.Name
		for _, l := range e.Lines {
			at := ""
			if l.Points > 0 {
				at = fmt.Sprintf("%d points", l.Points)
				if l.Wrong > 0 {
					at = fmt.Sprintf("%d of %d points", l.Wrong, l.Points)
				}
			}
			rows = append(rows, []string{name, l.Label, string(l.Verdict), at, l.Detail})
			name = ""
		}
	}
	flush()
	if len(entries) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(Totals(entries) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Totals counts the verdicts of entries.
func Totals(entries []Entry) string {
	n := map[Verdict]int{}
	for _, e := range entries {
		n[e.Verdict]++
	}
	return fmt.Sprintf("%d entries: %d agree, %d disagree, %d not formal enough", len(entries), n[Agrees], n[Disagrees], n[NotFormal])
}

// JSON prints the verdicts as one array.
func JSON(w io.Writer, entries []Entry) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if entries == nil {
		entries = []Entry{}
	}
	return e.Encode(entries)
}
