package markdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/internal/spelling"
)

// A field line is an optional bullet, an optional bold mark, one of a closed
// set of names and a colon, with blanks before it where names are aligned. The first such line of a header sets the
// indentation and the bullet for the others; anything else, however much it
// looks like a field, is text. That leaves two doubtful cases, and both are
// reported: a name that nearly is one of the set, and on a page of ours any
// other capitalised label at the indentation of the fields.

// A label is a line that could be a field: the places of its name and its value.
type label struct {
	indent     int
	bullet     bool
	bold       bool
	name       string
	start, end int // of the name
	value      int // where the value begins
}

// labelOf reads a line as a label.
func labelOf(l line) (lb label, ok bool) {
	i := 0
	for ; i < len(l.text) && (l.text[i] == ' ' || l.text[i] == '\t'); i++ {
		lb.indent++
	}
	if i+1 < len(l.text) && strings.IndexByte("-*+", l.text[i]) >= 0 && l.text[i+1] == ' ' {
		lb.bullet = true
		for i++; i < len(l.text) && l.text[i] == ' '; i++ {
		}
	}
	mark := ""
	for _, m := range []string{"**", "__"} {
		if strings.HasPrefix(l.text[i:], m) {
			mark, lb.bold = m, true
			i += len(m)
		}
	}
	lb.start = i
	for i < len(l.text) && labelByte(l.text[i]) {
		i++
	}
	lb.name = strings.TrimRight(l.text[lb.start:i], " ")
	lb.end = lb.start + len(lb.name)
	rest, ok := afterColon(l.text[i:], mark)
	if !ok {
		return lb, false
	}
	lb.value = len(l.text) - len(rest)
	words := len(strings.Fields(lb.name))
	return lb, 1 <= words && words <= 3 && !strings.HasPrefix(lb.name, " ")
}

// afterColon is the text after the colon of a name, which may have blanks before
// it and the end of a bold mark on either side.
func afterColon(rest, mark string) (string, bool) {
	blanks := func(s string) string { return strings.TrimLeft(s, " \t") }
	if after, bold := strings.CutPrefix(blanks(rest), mark); bold && mark != "" && strings.HasPrefix(blanks(after), ":") {
		return blanks(after)[1:], true
	}
	if after, colon := strings.CutPrefix(blanks(rest), ":"); colon {
		return strings.TrimPrefix(after, mark), true
	}
	return rest, false
}

func labelByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == ' '
}

func known(name string) bool { return slices.Contains(spec.FieldNames, spec.FieldName(name)) }

// contract reads the fields of a candidate; complaints are for the header
// that counts only.
func (p *parser) contract(c *candidate, report bool) *spec.Contract {
	h := &spec.Contract{Form: c.form, Span: p.span(c.mark.Start, c.end)}
	r := &fieldReader{parser: p, header: h, mark: c.mark, report: report, first: map[spec.FieldName]source.Span{}}
	if c.form == spec.HeadedPlain {
		h.Form = headedForm(c.lines)
	}
	if h.Form == spec.Table || h.Form == spec.TableBold {
		r.table(c.lines)
	} else {
		r.read(c.lines)
	}
	r.checkFields()
	return h
}

// headedForm tells the forms under a heading apart by their first field.
func headedForm(lines []line) spec.Form {
	for _, l := range lines {
		if strings.HasPrefix(l.trimmed(), "|") {
			for _, row := range lines {
				if cells := splitRow(row); len(cells) > 1 && strings.HasPrefix(cells[0].trimmed(), "**") {
					return spec.TableBold
				}
			}
			return spec.Table
		}
		lb, ok := labelOf(l)
		switch {
		case ok && lb.bullet:
			return spec.Bullets
		case ok && lb.bold:
			return spec.BoldParagraphs
		case ok:
			return spec.HeadedPlain
		}
	}
	return spec.HeadedPlain
}

type fieldReader struct {
	*parser
	header  *spec.Contract
	mark    source.Span
	report  bool
	first   map[spec.FieldName]source.Span // the first place of each field
	guessed []spec.FieldName               // what misspelt names were meant to be
}

// read goes through the lines of every form but the tables.
func (r *fieldReader) read(lines []line) {
	style, found := label{}, false
	for _, l := range lines {
		if lb, ok := labelOf(l); ok && known(lb.name) {
			style, found = lb, true
			break
		}
	}
	if !found {
		return
	}
	var open *label
	var name line
	var value []line
	flush := func() {
		if open != nil {
			r.add(*open, name, value)
		}
	}
	for _, l := range lines {
		lb, ok := labelOf(l)
		if ok = ok && lb.bullet == style.bullet && lb.indent <= style.indent+1; ok && (known(lb.name) || r.unknown(lb, l, style)) {
			flush()
			open, name, value = &lb, l, []line{l.from(lb.value)}
			continue
		}
		if open != nil {
			value = append(value, l)
		}
	}
	flush()
}

// unknown reports whether a label is taken for a field with a wrong name.
func (r *fieldReader) unknown(lb label, l line, style label) bool {
	near := nearest(lb.name)
	strange := r.ours && lb.indent == style.indent && lb.bold == style.bold && 'A' <= lb.name[0] && lb.name[0] <= 'Z'
	if near == "" && !strange {
		return false
	}
	if !r.report {
		return true
	}
	d := r.diags.Errorf(diag.UnknownField, r.span(l.at(lb.start), l.at(lb.end)), "%q is not a field of a contract header", lb.name)
	if near != "" {
		r.guessed = append(r.guessed, near)
		d.Hint("did you mean %s?", near)
	} else {
		d.Hint("indent the line if it is text; the fields are %s", fieldList())
	}
	return true
}

func fieldList() string {
	names := make([]string, len(spec.FieldNames))
	for i, n := range spec.FieldNames {
		names[i] = string(n)
	}
	return strings.Join(names, ", ")
}

// add appends a field. One of unknown name was reported and is left out, so
// that its value goes to no other field.
func (r *fieldReader) add(lb label, name line, value []line) {
	if !known(lb.name) {
		return
	}
	f := spec.Field{Name: spec.FieldName(lb.name), NameSpan: r.span(name.at(lb.start), name.at(lb.end))}
	r.fill(&f, value)
	old, twice := r.first[f.Name]
	if twice && r.report {
		r.diags.Errorf(diag.FieldTwice, f.NameSpan, "%s is twice in the header", f.Name).
			Hint("write both values under one %s", f.Name).
			See(old, "the first one is here")
	}
	if !twice {
		r.first[f.Name] = f.NameSpan
	}
	r.header.Fields = append(r.header.Fields, f)
}

// fill sets the value of a field from its lines, the first of which begins
// after the colon.
func (r *fieldReader) fill(f *spec.Field, lines []line) {
	for len(lines) > 0 && lines[len(lines)-1].blank() {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	first := slices.IndexFunc(lines, func(l line) bool { return !l.blank() })
	start := lines[first].at(len(lines[first].text) - len(strings.TrimLeft(lines[first].text, " \t")))
	last := lines[len(lines)-1]
	f.ValueSpan = r.span(start, last.at(len(strings.TrimRight(last.text, " \t"))))
	f.Value = dedent(lines)
	f.Tags = r.tags(lines)
	f.Parts = r.parts(lines, f.Tags)
}

// dedent joins the lines of a value without the indentation that all but the
// first of them share.
func dedent(lines []line) string {
	indent := -1
	for _, l := range lines[1:] {
		if n := len(l.text) - len(strings.TrimLeft(l.text, " \t")); !l.blank() && (indent < 0 || n < indent) {
			indent = n
		}
	}
	out := []string{lines[0].trimmed()}
	for _, l := range lines[1:] {
		out = append(out, strings.TrimRight(l.text[min(max(indent, 0), len(l.text)):], " \t"))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// checkFields reports standard fields that are missing or empty: an error on
// a page of ours, a warning for missing ones elsewhere.
func (r *fieldReader) checkFields() {
	if !r.report {
		return
	}
	var missing []string
	for _, n := range spec.StandardFields {
		f := r.header.Field(n)
		switch {
		case f == nil && !slices.Contains(r.guessed, n):
			missing = append(missing, string(n))
		case f != nil && f.Value == "" && r.ours:
			r.diags.Errorf(diag.EmptyField, f.NameSpan, "%s has no value", n).Hint("say it in a few words, or write none")
		}
	}
	if len(missing) == 0 {
		return
	}
	text := fmt.Sprintf("contract header has no %s", strings.Join(missing, ", "))
	if r.ours {
		r.diags.Errorf(diag.MissingField, r.mark, "%s", text).Hint("add a line `%s: …` to the header", missing[0])
	} else {
		r.diags.Warnf(diag.MissingField, r.mark, "%s", text)
	}
}

// nearest returns the field name that a misspelt one was meant to be, or "". It is
// stricter than [spelling.Nearest]: a label that is no field is text.
func nearest(name string) spec.FieldName {
	best, bestName := 3, spec.FieldName("")
	for _, n := range spec.FieldNames {
		d := spelling.Distance(strings.ToLower(name), strings.ToLower(string(n)))
		if d <= len(n)/3 && d < best {
			best, bestName = d, n
		}
	}
	return bestName
}
