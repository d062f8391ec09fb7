package markdown

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// opens reports whether a braced declaration that ends with its name goes on:
// the brace may be on the next line. Prose such as "struct layout" does not.
func (o *outliner) opens(m []string) bool {
	if m[2] == "" || !strings.HasSuffix(strings.TrimSpace(m[0]), m[2]) {
		return true
	}
	return o.next+1 < len(o.lines) && strings.HasPrefix(o.lines[o.next+1].trimmed(), "{")
}

// braced adds `enum X { … }` and its like, to the closing brace or the
// semicolon, whichever ends it.
func (o *outliner) braced(m []string) {
	var kind, name string
	for i := 1; i+1 < len(m); i += 2 {
		if m[i] != "" {
			kind, name = strings.ToLower(m[i]), m[i+1]
		}
	}
	e := o.entry(entryKinds[kind], name)
	r := &braceReader{outliner: o, entry: e, row: o.next}
	r.members = e.Kind == spec.Enum || e.Kind == spec.Struct || e.Kind == spec.Trait || e.Kind == spec.Impl
	r.read()
	sig := strings.Join(strings.Fields(r.signature.String()), " ")
	e.Text = strings.TrimSpace(sig[min(len(sig), strings.Index(sig, name)+len(name)):])
	o.next = r.row + 1
}

// A braceReader follows brackets from the line of a declaration to its end
// and splits the text directly between its braces into members.
type braceReader struct {
	*outliner
	entry     *spec.Entry
	row       int
	members   bool
	stack     []byte
	body      bool // inside the braces of the declaration
	signature strings.Builder
	item      strings.Builder
	itemSpan  source.Span
	noteTo    int // row on which the last member ended
}

func (r *braceReader) read() {
	r.noteTo = -1
	for ; r.row < len(r.lines); r.row++ {
		l := r.lines[r.row]
		code, note := splitBrace(l.text)
		for i := 0; i < len(code); i++ {
			if r.step(l, code, i) {
				r.entry.Span.End = l.at(i + 1)
				return
			}
		}
		r.endLine(note)
		if !r.body && r.item.Len() == 0 && len(r.stack) == 0 && r.endsHere() {
			r.entry.Span.End = r.lineSpan(l).End
			return
		}
	}
	r.row = len(r.lines) - 1
	r.flush()
	r.entry.Span.End = max(r.entry.Span.End, r.lineSpan(r.lines[r.row]).End)
}

// endsHere reports whether a declaration without braces ends with the line: a
// signature alone, as in pseudo-code.
func (r *braceReader) endsHere() bool {
	if r.row+1 >= len(r.lines) {
		return true
	}
	next := r.lines[r.row+1].trimmed()
	for _, p := range []string{"{", "->", "where", "+", ":", "="} {
		if strings.HasPrefix(next, p) {
			return false
		}
	}
	sig := strings.TrimSpace(r.signature.String())
	return next == "" || sig == "" || strings.IndexByte(":+=", sig[len(sig)-1]) < 0
}

// step takes one byte; it reports whether the declaration ends with it.
func (r *braceReader) step(l line, code string, i int) bool {
	c := code[i]
	switch c {
	case '{':
		r.stack = append(r.stack, c)
		if !r.body && len(r.stack) == 1 {
			r.body = true
			return false
		}
	case '(', '[':
		r.stack = append(r.stack, c)
	case '<':
		if i > 0 && (isWordByte(code[i-1])) && i+1 < len(code) && code[i+1] != ' ' {
			r.stack = append(r.stack, c)
		}
	case '>':
		if n := len(r.stack); n > 0 && r.stack[n-1] == '<' && (i == 0 || code[i-1] != '-' && code[i-1] != '=') {
			r.stack = r.stack[:n-1]
		}
	case ')', ']', '}':
		r.close(c)
		if c == '}' && len(r.stack) == 0 {
			r.flush()
			return true
		}
	case ',', ';':
		if r.body && len(r.stack) == 1 {
			r.flush()
			return false
		}
		if c == ';' && !r.body && len(r.stack) == 0 {
			return true
		}
	}
	r.take(l, i, c)
	if c == '}' && r.body && len(r.stack) == 1 {
		r.flush()
	}
	return false
}

var opener = map[byte]byte{')': '(', ']': '[', '}': '{'}

// close pops the stack to the bracket that c closes; one that nothing opened
// is text, except that a brace always closes.
func (r *braceReader) close(c byte) {
	for n := len(r.stack) - 1; n >= 0; n-- {
		if r.stack[n] == opener[c] {
			r.stack = r.stack[:n]
			return
		}
		if c != '}' && r.stack[n] != '<' {
			return
		}
	}
}

func (r *braceReader) take(l line, i int, c byte) {
	if !r.body {
		r.signature.WriteByte(c)
		return
	}
	if r.item.Len() == 0 {
		if c == ' ' || c == '\t' {
			return
		}
		r.itemSpan = source.Span{File: r.block.Span.File, Start: l.at(i)}
	}
	r.item.WriteByte(c)
	r.itemSpan.End = l.at(i + 1)
}

// endLine divides members that no comma divides, and gives a trailing comment
// to the member that ended on the line.
func (r *braceReader) endLine(note string) {
	if !r.body {
		r.signature.WriteByte(' ')
		return
	}
	if len(r.stack) == 1 && r.item.Len() > 0 && !r.goesOn() {
		r.flush()
	}
	if r.item.Len() > 0 {
		r.item.WriteByte(' ')
	}
	if n := len(r.entry.Members); n > 0 && r.noteTo == r.row && note != "" {
		r.entry.Members[n-1].Note = note
	}
}

// goesOn reports whether the member continues on the next line.
func (r *braceReader) goesOn() bool {
	item := strings.TrimSpace(r.item.String())
	if item == "" {
		return false
	}
	if strings.HasSuffix(item, "]") && strings.HasPrefix(item, "#[") {
		return true
	}
	if strings.IndexByte("=|+&:", item[len(item)-1]) >= 0 || strings.HasSuffix(item, "->") {
		return true
	}
	if r.row+1 >= len(r.lines) {
		return false
	}
	next := r.lines[r.row+1].trimmed()
	for _, p := range []string{"->", "where ", "{", "+", "|", "=", ":"} {
		if strings.HasPrefix(next, p) {
			return true
		}
	}
	return false
}

func (r *braceReader) flush() {
	item := strings.Join(strings.Fields(r.item.String()), " ")
	r.item.Reset()
	if !r.members || item == "" {
		return
	}
	if before, _, ok := strings.Cut(item, "{"); ok && r.entry.Kind != spec.Enum {
		item = strings.TrimSpace(before) // a method, without its body
	}
	m := memberOf(item)
	if m.Name == "" {
		return
	}
	m.Span = r.itemSpan
	r.entry.Members = append(r.entry.Members, m)
	r.noteTo = r.row
}

var (
	attribute  = regexp.MustCompile(`^#\[[^\]]*\] *`)
	memberWord = regexp.MustCompile(`^(?:pub(?:\([a-z]+\))? )?(?:(?:fn|type|const|let) )?([\pL_][\pL\pN_]*)(.*)$`)
)

// memberOf reads a member on one line: a name and what follows it.
func memberOf(item string) spec.Member {
	for attribute.MatchString(item) {
		item = attribute.ReplaceAllString(item, "")
	}
	m := memberWord.FindStringSubmatch(item)
	if m == nil {
		return spec.Member{}
	}
	name, rest := m[1], strings.TrimSpace(m[2])
	if before, after, ok := strings.Cut(item, ":"); ok && !strings.HasPrefix(after, ":") && !strings.ContainsAny(before, "(<=[{") {
		if _, word, two := strings.Cut(before, name); two {
			name, rest = strings.TrimSpace(name+word), ":"+after
		}
	}
	for _, op := range []string{":", "="} {
		if after, ok := strings.CutPrefix(rest, op); ok {
			return spec.Member{Name: name, Op: op, Text: strings.TrimSpace(after)}
		}
	}
	return spec.Member{Name: name, Text: rest}
}

// splitBrace cuts the comment off a line of code: `//`, or `--` after a blank.
// A string may hold either.
func splitBrace(s string) (code, comment string) {
	quoted := false
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case s[i:i+2] == "//", s[i:i+2] == "--" && (i == 0 || s[i-1] == ' ' || s[i-1] == '\t'):
			return s[:i], strings.TrimSpace(strings.TrimLeft(s[i:], "-/"))
		}
	}
	return s, ""
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
