package parser

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
)

// The scanner turns a block into physical lines of tokens, and joins these to logical lines.
// It normalises spelling: every sign and every name has one spelling after it, for pages in
// Unicode and in ASCII, and a subscript in small letters has become `_t` or `_{t−1}`.

// A physical line of the block.
type physical struct {
	pos, end int // bytes, without the line ending
	indent   int // columns before the first token
	toks     []token
	comment  string // with its slashes; empty if none
}

// A logical line is a physical line and those that continue it.
type logical struct {
	indent   int
	from, to int // indices of its physical lines
	toks     []token
}

type scanner struct {
	in    *Input
	text  string
	diags *diag.List
	line  *physical
	space bool
	bad   bool // the line had an error already: report no other
}

// span returns the place in the file of bytes of the block.
func (in *Input) span(pos, end int) source.Span {
	at := in.Offset
	if at == nil {
		at = func(i int) int { return i }
	}
	if end <= pos {
		return source.Span{File: in.File, Start: at(pos), End: at(pos)}
	}
	return source.Span{File: in.File, Start: at(pos), End: at(end-1) + 1}
}

// scan returns the physical lines of a block.
func scan(in *Input, diags *diag.List) []*physical {
	s := &scanner{in: in, text: in.Text, diags: diags}
	var lines []*physical
	for pos := 0; pos <= len(s.text); {
		end := strings.IndexByte(s.text[pos:], '\n')
		if end < 0 {
			end = len(s.text)
		} else {
			end += pos
		}
		s.line = &physical{pos: pos, end: pos + len(strings.TrimRight(s.text[pos:end], "\r"))}
		s.scanLine()
		lines = append(lines, s.line)
		pos = end + 1
	}
	return lines
}

// join groups physical lines into logical ones.
func joinLines(lines []*physical) []*logical {
	var out []*logical
	var cur *logical
	for i, l := range lines {
		if len(l.toks) == 0 {
			continue
		}
		opens := cur != nil && cur.opens()
		if cur != nil && (l.indent > cur.indent && !opens || l.toks[0].continues()) {
			cur.toks = append(cur.toks, l.toks...)
			cur.to = i + 1
			continue
		}
		cur = &logical{indent: l.indent, from: i, to: i + 1, toks: l.toks[:len(l.toks):len(l.toks)]}
		out = append(out, cur)
	}
	return out
}

// opens reports whether the line is an `each … :` whose body follows.
func (l *logical) opens() bool {
	return l.toks[0].word("each") && l.toks[len(l.toks)-1].is(":")
}

func (s *scanner) errorf(code diag.Code, pos, end int, format string, args ...any) *diag.Diagnostic {
	if s.bad {
		return &diag.Diagnostic{}
	}
	s.bad = true
	return s.diags.Errorf(code, s.in.span(pos, end), format, args...)
}

func (s *scanner) emit(k kind, text string, pos, end int) {
	l := s.line
	if l.toks == nil {
		l.toks = make([]token, 0, 8+(l.end-l.pos)/2)
	}
	l.toks = append(l.toks, token{kind: k, text: text, space: s.space || len(l.toks) == 0, first: len(l.toks) == 0, pos: pos, end: end})
	s.space = false
}

func (s *scanner) scanLine() {
	s.space, s.bad = true, false
	indenting := true
	for i := s.line.pos; i < s.line.end; {
		r, w := utf8.DecodeRuneInString(s.text[i:s.line.end])
		if unicode.IsSpace(r) {
			if indenting {
				s.line.indent += indentOf(r, s.line.indent)
			}
			s.space, i = true, i+w
			continue
		}
		indenting = false
		if strings.HasPrefix(s.text[i:s.line.end], "//") {
			s.line.comment = strings.TrimRightFunc(s.text[i:s.line.end], unicode.IsSpace)
			return
		}
		i = s.scanToken(i, r, w)
	}
}

func indentOf(r rune, column int) int {
	if r == '\t' {
		return 4 - column%4
	}
	return 1
}

// scanToken reads one token at i and returns where it ends.
func (s *scanner) scanToken(i int, r rune, w int) int {
	rest := s.text[i:s.line.end]
	switch {
	case r == '"':
		return s.scanString(i)
	case r == '@':
		return s.scanCite(i)
	case isDigit(r):
		return s.scanNumber(i)
	case r == '½' || r == '∞':
		s.emit(tNumber, string(r), i, i+w)
		return i + w
	case raised(r) != 0:
		return s.scanSup(i)
	case isLetter(r):
		if n := citeLength(rest); n > 0 {
			s.emit(tCite, rest[:n], i, i+n)
			return i + n
		}
		return s.scanName(i)
	}
	for _, o := range operators {
		if o.from[0] == rest[0] && strings.HasPrefix(rest, o.from) {
			s.emit(tOp, o.to, i, i+len(o.from))
			return i + len(o.from)
		}
	}
	if sign := signOf(r); sign != "" {
		s.emit(tOp, sign, i, i+w)
		return i + w
	}
	if r == '.' {
		return s.scanDot(i)
	}
	s.badRune(i, r, w)
	return i + w
}

// scanDot reads `a . b` as a product and `a.b` as a field.
func (s *scanner) scanDot(i int) int {
	next, _ := utf8.DecodeRuneInString(s.text[i+1 : s.line.end])
	switch {
	case s.space && (unicode.IsSpace(next) || i+1 == s.line.end):
		s.emit(tOp, "·", i, i+1)
	case !s.space && isLetter(next):
		s.emit(tOp, ".", i, i+1)
	default:
		s.errorf(diag.BadCharacter, i, i+1, "a lone dot").Hint("write `a . b` for a product and `l.r` for a part")
		s.emit(tBad, ".", i, i+1)
	}
	return i + 1
}

// foreign are signs of other notations, with what to do about them.
var foreign = map[rune]string{
	'\\': "a block is no LaTeX: write the sign itself, ∈, or its word, in",
	'$':  "a block is no LaTeX: take it away",
	'–':  "a minus is − or -",
	'—':  "a minus is − or -",
	'“':  "write a straight quote, \"",
	'”':  "write a straight quote, \"",
	'‘':  "take it away; a transpose is ᵀ or '",
	'’':  "take it away; a transpose is ᵀ or '",
}

func (s *scanner) badRune(i int, r rune, w int) {
	switch {
	case r == utf8.RuneError && w == 1:
		s.errorf(diag.BadCharacter, i, i+1, "byte 0x%02X is not UTF-8", s.text[i])
	case unicode.Is(unicode.Mn, r):
		s.errorf(diag.CombiningMark, i, i+w, "a combining mark %U stands on nothing", r)
	case lowered(r) != 0:
		s.errorf(diag.BadCharacter, i, i+w, "a subscript follows no name").Hint("name the expression first")
	case r == '⁰':
		s.errorf(diag.BadCharacter, i, i+w, "⁰ belongs to names").Hint("write ^{0} for a power")
	case !unicode.IsPrint(r):
		s.errorf(diag.BadCharacter, i, i+w, "invisible character %U", r).Hint("delete it")
	default:
		d := s.errorf(diag.BadCharacter, i, i+w, "'%c' is no sign of the notation", r)
		if hint := foreign[r]; hint != "" {
			d.Hint("%s", hint)
		}
	}
	s.emit(tBad, string(r), i, i+w)
}

func (s *scanner) scanString(i int) int {
	var b strings.Builder
	for j := i + 1; j < s.line.end; j++ {
		switch c := s.text[j]; {
		case c == '"':
			s.emit(tString, b.String(), i, j+1)
			return j + 1
		case c == '\\' && j+1 < s.line.end && s.text[j+1] == '"':
			b.WriteByte('"')
			j++
		default:
			b.WriteByte(c)
		}
	}
	s.errorf(diag.OpenString, i, i+1, "the string is not closed on its line").Labelf("it starts here").
		Hint("close it with \"; inside a string write \\\"")
	s.emit(tBad, "", i, s.line.end)
	return s.line.end
}

// maxCite bounds the look-ahead, so that a long line is read once.
const maxCite = 200

// citeLength returns how many bytes of s are paper#eq or paper#eq-eq, where the paper may
// have an edition: paper@edition#eq.
func citeLength(s string) int {
	isWord := func(c byte) bool { return isDigit(rune(c)) || isLetter(rune(c)) && c < 0x80 || c == '.' || c == '_' }
	s = s[:min(len(s), maxCite)]
	i := 0
	for i < len(s) && (isWord(s[i]) || s[i] == '-' || s[i] == '@' && i > 0) {
		i++
	}
	if i == 0 || i >= len(s) || s[i] != '#' {
		return 0
	}
	j := i + 1
	if j < len(s) && s[j] == '?' {
		return j + 1
	}
	for j < len(s) && (isWord(s[j]) || s[j] == '-' && j > i+1) {
		j++
	}
	if j == i+1 {
		return 0
	}
	return j
}

// scanCite reads `@eq paper#eq`.
func (s *scanner) scanCite(i int) int {
	rest := s.text[i:s.line.end]
	body := strings.TrimLeft(strings.TrimPrefix(rest, "@eq"), " \t")
	n := citeLength(body)
	if !strings.HasPrefix(rest, "@eq") || n == 0 {
		end := i + len(rest)
		if k := strings.Index(rest, "//"); k > 0 {
			end = i + len(strings.TrimRight(rest[:k], " \t"))
		}
		s.errorf(diag.BadCite, i, end, "a citation is `@eq paper#eq`, `@eq paper#eq-eq` or `@eq paper#?`")
		s.emit(tBad, "", i, end)
		return end
	}
	s.emit(tOp, "@eq", i, i+3)
	at := s.line.end - len(body)
	s.space = true
	s.emit(tCite, body[:n], at, at+n)
	return at + n
}

func (s *scanner) scanSup(i int) int {
	var b strings.Builder
	j := i
	for j < s.line.end {
		r, w := utf8.DecodeRuneInString(s.text[j:s.line.end])
		a, ok := above[r]
		if r == '⁰' && j > i {
			a, ok = '0', true
		}
		if !ok {
			break
		}
		b.WriteRune(a)
		j += w
	}
	text := b.String()
	if text != "n" && !allDigits(strings.TrimPrefix(text, "-")) {
		s.errorf(diag.BadNumber, i, j, "%s is not an exponent", s.text[i:j]).Hint("write ^{…}")
		s.emit(tBad, text, i, j)
		return j
	}
	s.emit(tSup, text, i, j)
	return j
}

// scanNumber reads 12, 0.5, 1e-8; the exponent may have a minus of either kind.
func (s *scanner) scanNumber(i int) int {
	j := s.digits(i)
	if j+1 < s.line.end && s.text[j] == '.' && isDigit(rune(s.text[j+1])) {
		j = s.digits(j + 1)
	}
	text := s.text[i:j]
	if e, tail := s.exponent(j); e > j {
		text, j = text+tail, e
	}
	switch r, _ := utf8.DecodeRuneInString(s.text[j:s.line.end]); {
	case isLetter(r):
		s.errorf(diag.RunTogether, i, j, "a name follows the number %s without a space", text).Hint("write a space between factors")
		s.emit(tBad, text, i, j)
		return j
	case r == '.' && j+1 < s.line.end && isDigit(rune(s.text[j+1])):
		s.errorf(diag.BadNumber, i, j+1, "a number has one decimal point")
		s.emit(tBad, text, i, j)
		return j + 1
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		s.errorf(diag.BadNumber, i, j, "%s does not fit in a float64", text)
		s.emit(tBad, text, i, j)
		return j
	}
	s.emit(tNumber, text, i, j)
	return j
}

func (s *scanner) digits(i int) int {
	for i < s.line.end && isDigit(rune(s.text[i])) {
		i++
	}
	return i
}

// exponent reads the tail `e-8` at j and returns its end and ASCII spelling.
func (s *scanner) exponent(j int) (end int, tail string) {
	if j >= s.line.end || s.text[j] != 'e' && s.text[j] != 'E' {
		return j, ""
	}
	k, sign := j+1, ""
	r, w := utf8.DecodeRuneInString(s.text[k:s.line.end])
	if signOf(r) == "−" {
		k, sign = k+w, "-"
	} else if r == '+' {
		k += w
	}
	end = s.digits(k)
	if end == k {
		return j, ""
	}
	return end, "e" + sign + s.text[k:end]
}
