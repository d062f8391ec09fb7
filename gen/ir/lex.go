package ir

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The scanner of the text form. A line end is a token, for it ends a
// statement; `; …` up to the line end is one token, the id of an equation.

type tokenKind int

const (
	_ tokenKind = iota
	tokName
	tokNumber
	tokPunct // one of ( ) [ ] { } , : = + - · / @ >=
	tokEq
	tokLine
	tokEnd
)

type token struct {
	kind      tokenKind
	text      string // of a name: unquoted
	quoted    bool
	line, col int
}

func (t token) String() string {
	switch t.kind {
	case tokLine:
		return "end of line"
	case tokEnd:
		return "end of text"
	}
	return strconv.Quote(t.text)
}

// A ParseError says where the text form is wrong.
type ParseError struct {
	Line, Col int
	Msg       string
}

func (e *ParseError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Msg) }

type lexer struct {
	text      string
	pos       int
	line, col int
}

// lex returns the tokens of a text; the last is tokEnd.
func lex(text string) []token {
	l := &lexer{text: text, line: 1, col: 1}
	var out []token
	for {
		t := l.next()
		out = append(out, t)
		if t.kind == tokEnd {
			return out
		}
	}
}

func (l *lexer) peek() rune {
	r, _ := utf8.DecodeRuneInString(l.text[l.pos:])
	return r
}

func (l *lexer) take() {
	r, n := utf8.DecodeRuneInString(l.text[l.pos:])
	l.pos += n
	l.col++
	if r == '\n' {
		l.line, l.col = l.line+1, 1
	}
}

func (l *lexer) while(f func(r rune) bool) string {
	start := l.pos
	for l.pos < len(l.text) && f(l.peek()) {
		l.take()
	}
	return l.text[start:l.pos]
}

func (l *lexer) next() token {
	l.while(func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
	t := token{line: l.line, col: l.col}
	if l.pos >= len(l.text) {
		t.kind = tokEnd
		return t
	}
	switch r := l.peek(); {
	case r == '\n':
		l.take()
		t.kind = tokLine
	case r == ';':
		l.take()
		t.kind, t.text = tokEq, strings.TrimSpace(l.while(func(r rune) bool { return r != '\n' }))
	case r == '"':
		l.quoted(&t)
	case unicode.IsDigit(r):
		l.number(&t)
	case nameRune(r, true):
		l.take()
		t.kind = tokName
		l.while(func(r rune) bool { return nameRune(r, false) })
		t.text = l.text[l.back(t):l.pos]
	default:
		t.kind = tokPunct
		start := l.pos
		l.take()
		if r == '>' && l.pos < len(l.text) && l.text[l.pos] == '=' {
			l.take()
		}
		t.text = l.text[start:l.pos]
	}
	return t
}

// back is the offset at which a token on the current line starts.
func (l *lexer) back(t token) int {
	p := l.pos
	for c := l.col; c > t.col; c-- {
		_, n := utf8.DecodeLastRuneInString(l.text[:p])
		p -= n
	}
	return p
}

// quoted reads a Go string; one that is not well-formed stays a punctuation mark, which
// no rule accepts.
func (l *lexer) quoted(t *token) {
	s, err := strconv.QuotedPrefix(l.text[l.pos:])
	if err != nil || strings.HasPrefix(s, "`") {
		t.kind, t.text = tokPunct, `"`
		l.take()
		return
	}
	t.kind, t.quoted = tokName, true
	t.text, _ = strconv.Unquote(s)
	for end := l.pos + len(s); l.pos < end; {
		l.take()
	}
}

func (l *lexer) number(t *token) {
	digit := func(r rune) bool { return '0' <= r && r <= '9' }
	start := l.pos
	t.kind = tokNumber
	l.take()
	l.while(digit)
	rest := l.text[l.pos:]
	if len(rest) > 1 && rest[0] == '.' && digit(rune(rest[1])) {
		l.take()
		l.while(digit)
		rest = l.text[l.pos:]
	}
	if len(rest) > 1 && (rest[0] == 'e' || rest[0] == 'E') {
		n := 1
		if rest[1] == '+' || rest[1] == '-' {
			n = 2
		}
		if len(rest) > n && digit(rune(rest[n])) {
			for range n {
				l.take()
			}
			l.while(digit)
		}
	}
	t.text = l.text[start:l.pos]
}
