package markdown

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/spec"
)

// tag finds {cost} and {inv:unit}. Braces after _ or ^ or a letter are maths.
var tag = regexp.MustCompile(`\{([a-z][a-z0-9-]*)(?::([A-Za-z0-9_.\-]+))?\}`)

// tags collects the tags of a value, outside code spans.
func (p *parser) tags(lines []line) []spec.Tag {
	var out []spec.Tag
	for _, l := range lines {
		for _, m := range tag.FindAllStringSubmatchIndex(l.text, -1) {
			if m[0] > 0 && !strings.ContainsRune(" \t(,;.", rune(l.text[m[0]-1])) {
				continue
			}
			t := spec.Tag{
				Text: l.text[m[0]+1 : m[1]-1],
				Kind: l.text[m[2]:m[3]],
				Span: p.span(l.at(m[0]), l.at(m[1])),
			}
			if m[4] >= 0 {
				t.Arg = l.text[m[4]:m[5]]
			}
			out = append(out, t)
		}
	}
	return out
}

// parts divides a value at semicolons outside brackets and code, and at
// bullets and blank lines.
func (p *parser) parts(lines []line, tags []spec.Tag) []spec.Part {
	var out []spec.Part
	cur := partBuilder{parser: p, start: -1}
	flush := func() {
		n := 0 // tags of this part
		for n < len(tags) && cur.start >= 0 && tags[n].Span.End <= cur.end {
			n++
		}
		if part, ok := cur.part(tags[:n]); ok {
			out = append(out, part)
		}
		tags = tags[n:]
		cur = partBuilder{parser: p, start: -1}
	}
	for _, l := range lines {
		if l.blank() {
			flush()
			continue
		}
		from := len(l.text) - len(strings.TrimLeft(l.text, " \t"))
		if rest := l.text[from:]; strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "* ") {
			flush()
			from += 2
		}
		for i := from; i < len(l.text); i++ {
			if cur.semicolon(l.text[i]) {
				cur.piece(l, from, i)
				flush()
				from = i + 1
			}
		}
		cur.piece(l, from, len(l.text))
	}
	flush()
	return out
}

// A partBuilder gathers one part over the lines that it runs across.
type partBuilder struct {
	*parser
	text       strings.Builder
	start, end int
	depth      int
	code       bool
}

// semicolon follows brackets and backticks, and reports a dividing semicolon.
func (b *partBuilder) semicolon(c byte) bool {
	switch {
	case c == '`':
		b.code = !b.code
	case b.code:
	case strings.IndexByte("([{", c) >= 0:
		b.depth++
	case strings.IndexByte(")]}", c) >= 0:
		b.depth = max(0, b.depth-1)
	case c == ';':
		return b.depth == 0
	}
	return false
}

func (b *partBuilder) piece(l line, from, to int) {
	s := l.text[from:to]
	body := strings.TrimSpace(s)
	if body == "" {
		return
	}
	from += strings.Index(s, body)
	if b.start < 0 {
		b.start = l.at(from)
	} else {
		b.text.WriteByte(' ')
	}
	b.text.WriteString(body)
	b.end = l.at(from + len(body))
}

func (b *partBuilder) part(tags []spec.Tag) (spec.Part, bool) {
	if b.start < 0 {
		return spec.Part{}, false
	}
	part := spec.Part{Span: b.span(b.start, b.end), Tags: tags}
	var marks []string
	for _, t := range tags {
		marks = append(marks, "{"+t.Text+"}", "")
	}
	text := strings.NewReplacer(marks...).Replace(b.text.String())
	part.Text = strings.Join(strings.Fields(text), " ")
	return part, part.Text != "" || len(part.Tags) > 0
}
