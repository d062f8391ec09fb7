package docs

import (
	"bytes"
	"html"
	"html/template"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// The notation of a page is Unicode already; what HTML adds are the positions
// of its indices. `_t` and `_{t−1}` go below the line and `^{n}` above it,
// single letters are slanted and words upright, as in a paper. Words
// that open a line are set apart, and so are comments.

// opening are the words that open a line.
var opening = regexp.MustCompile(`^(\s*)(op|front|structure|bias|retention|algorithm|law|rule|compose|model|update|schedule|strategy|` +
	`input|outer|gate|state|weight|slot|anchor|const|snap|clock|option|dims|claim|eval|adjoint|relax|kink|invariant|provides|requires|special|` +
	`erratum|cost|solve|iterate|nograd|fit|read|each|level|guard|when|family|with)\b`)

// aside is the text beside an equation: a comment, a tag, a citation.
var aside = regexp.MustCompile(`//.*$|\s+(@eq \S+|\{[^{}\s]+\})(\s+(@eq \S+|\{[^{}\s]+\}))*$`)

// index is a letter with an index, inside of prose.
var index = regexp.MustCompile(`\p{L}\p{M}*([_^](\{[^{}]*\}|[\p{L}\p{N}]+))+`)

// indexed sets the letters with indices in prose, and nothing else of it.
func indexed(s string) string {
	var b strings.Builder
	for {
		at := index.FindStringIndex(s)
		if at == nil {
			return b.String() + html.EscapeString(s)
		}
		b.WriteString(html.EscapeString(s[:at[0]]) + "<span class=math>" + setMath(s[at[0]:at[1]]) + "</span>")
		s = s[at[1]:]
	}
}

// textHTML sets one paragraph of prose, with what is between two backticks as code.
func textHTML(s string) template.HTML {
	parts := strings.Split(oneLine(s), "`")
	for i, p := range parts {
		switch {
		case i%2 == 0:
			parts[i] = indexed(p)
		case i < len(parts)-1:
			parts[i] = "<code>" + html.EscapeString(p) + "</code>"
		default: // nothing closes it
			parts[i] = "`" + indexed(p)
		}
	}
	return template.HTML(strings.Join(parts, "")) //nolint:gosec // every rune is escaped
}

// mathHTML sets one line of notation.
func mathHTML(s string) template.HTML {
	return template.HTML(setMath(oneLine(s))) //nolint:gosec // every rune is escaped
}

// blockHTML sets several lines and keeps their breaks.
func blockHTML(s string) template.HTML {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		line = strings.TrimRight(line, "\n")
		rest, comment := line, ""
		if at := aside.FindStringIndex(line); at != nil {
			rest, comment = line[:at[0]], line[at[0]:]
		}
		b.WriteString("<span class=line>")
		if m := opening.FindStringSubmatch(rest); m != nil {
			b.WriteString(m[1] + "<b>" + m[2] + "</b>")
			rest = rest[len(m[0]):]
		}
		b.WriteString(setMath(rest))
		if comment != "" {
			b.WriteString("<span class=note>" + strings.TrimPrefix(indexed(comment), "// ") + "</span>")
		}
		b.WriteString("\n</span>")
	}
	return template.HTML(b.String()) //nolint:gosec // as above
}

// setMath sets text without line ends.
func setMath(s string) string {
	m := &setter{in: []rune(s)}
	m.run(false)
	return m.out.String()
}

// A setter walks over the runes of a line.
type setter struct {
	in  []rune
	i   int
	out strings.Builder
}

// run sets what follows, inside braces up to the one that closes them.
func (m *setter) run(inside bool) {
	for m.i < len(m.in) {
		r := m.in[m.i]
		switch {
		case inside && r == '}':
			m.i++
			return
		case inside && r == '{':
			m.i++
			m.out.WriteByte('{')
			m.run(true)
			m.out.WriteByte('}')
		case r == '"':
			m.quoted()
		case (r == '_' || r == '^') && m.i+1 < len(m.in) && m.script(r):
		case unicode.IsLetter(r):
			m.word()
		default:
			m.out.WriteString(html.EscapeString(string(r)))
			m.i++
		}
	}
}

// quoted copies a string.
func (m *setter) quoted() {
	from := m.i
	for m.i++; m.i < len(m.in) && m.in[m.i] != '"'; m.i++ {
	}
	m.i = min(m.i+1, len(m.in))
	m.out.WriteString("<q>" + html.EscapeString(strings.Trim(string(m.in[from:m.i]), `"`)) + "</q>")
}

// script sets an index or an exponent; several indices in a row are one.
func (m *setter) script(sign rune) bool {
	tag := map[rune]string{'_': "sub", '^': "sup"}[sign]
	next := m.in[m.i+1]
	if next != '{' && !inName(next) {
		return false
	}
	m.out.WriteString("<" + tag + ">")
	for first := true; m.i+1 < len(m.in) && m.in[m.i] == sign && (m.in[m.i+1] == '{' || inName(m.in[m.i+1])); first = false {
		if !first {
			m.out.WriteString("&#8201;")
		}
		m.i++
		if m.in[m.i] == '{' {
			m.i++
			m.run(true)
		} else {
			m.word()
		}
	}
	m.out.WriteString("</" + tag + ">")
	return true
}

func part(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// word sets a name: one letter slanted, with its bar, more letters upright.
func (m *setter) word() {
	from, letters, end := m.i, 0, 0
	for ; m.i < len(m.in) && (inName(m.in[m.i]) || unicode.Is(unicode.Mn, m.in[m.i])); m.i++ {
		if unicode.IsLetter(m.in[m.i]) {
			letters++
		}
		if !unicode.IsDigit(m.in[m.i]) {
			end = m.i + 1
		}
	}
	if m.i == from { // a raised letter: as it is
		m.i++
		end = m.i
	}
	name, digits := html.EscapeString(string(m.in[from:max(from, end)])), html.EscapeString(string(m.in[max(from, end):m.i]))
	if letters == 1 && !strings.ContainsAny(name, "ℝ𝕊ΔΣΠ∇") {
		name = "<i>" + name + "</i>"
	}
	m.out.WriteString(name + digits)
}

// inName reports whether a rune is part of a name: no raised letter, which is a
// transpose.
func inName(r rune) bool { return part(r) && !unicode.Is(unicode.Lm, r) }

var prose = goldmark.New(goldmark.WithExtensions(extension.Table))

// proseHTML sets the prose of a page; its raw HTML is left out.
func proseHTML(s string) (template.HTML, error) {
	var b bytes.Buffer
	err := prose.Convert([]byte(s), &b)
	return template.HTML(b.String()), err //nolint:gosec // goldmark leaves raw HTML out
}
