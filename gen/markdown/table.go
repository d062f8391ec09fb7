package markdown

import (
	"slices"
	"strings"
)

// table reads the fields of a two-column table. A cell may hold `|` inside a
// code span or after a backslash; both stay in the cell.
func (r *fieldReader) table(lines []line) {
	begun := false
	for _, l := range lines {
		if !strings.HasPrefix(l.trimmed(), "|") {
			if begun {
				break
			}
			continue
		}
		begun = true
		cells := splitRow(l)
		if len(cells) < 2 || delimiter(cells) {
			continue
		}
		lb, ok := cellLabel(cells[0])
		if !ok || strings.EqualFold(lb.name, "field") {
			continue
		}
		if !known(lb.name) && !r.unknown(lb, cells[0], lb) {
			continue
		}
		r.add(lb, cells[0], cells[1:2])
		if n := len(r.header.Fields); n > 0 {
			last := &r.header.Fields[n-1]
			last.Value = strings.ReplaceAll(last.Value, `\|`, "|")
		}
	}
}

// cellLabel reads the name cell of a row: plain or bold, with or without colon.
func cellLabel(c line) (label, bool) {
	text := strings.TrimSuffix(strings.Trim(c.trimmed(), "*_ "), ":")
	text = strings.Trim(text, "*_ ")
	if text == "" {
		return label{}, false
	}
	start := strings.Index(c.text, text)
	return label{name: text, start: start, end: start + len(text)}, true
}

// delimiter reports whether the row is the |---|---| one.
func delimiter(cells []line) bool {
	return !slices.ContainsFunc(cells, func(c line) bool { return c.trimmed() == "" || strings.Trim(c.trimmed(), ":-") != "" })
}

// splitRow divides a table row at its bars.
func splitRow(l line) []line {
	text := strings.TrimRight(l.text, " \t")
	lead := strings.IndexByte(text, '|')
	if lead < 0 || strings.TrimSpace(text[:lead]) != "" {
		lead = -1
	}
	var cells []line
	from := lead + 1
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			i = codeEnd(text, i)
		case '|':
			cells = append(cells, line{l.text[from:i], l.at(from), 0})
			from = i + 1
		}
	}
	if strings.TrimSpace(text[from:]) != "" {
		cells = append(cells, line{text[from:], l.at(from), 0})
	}
	return cells
}

// codeEnd returns the last byte of the code span that begins at text[i], or of
// the backticks themselves where nothing closes them.
func codeEnd(text string, i int) int {
	run := fenceRun(text[i:])
	for j := i + len(run); j < len(text); {
		if text[j] != '`' {
			j++
			continue
		}
		end := fenceRun(text[j:])
		j += len(end)
		if len(end) == len(run) {
			return j - 1
		}
	}
	return i + len(run) - 1
}
