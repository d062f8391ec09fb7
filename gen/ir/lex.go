package ir

import (
	"fmt"
	"strconv"
	"strings"
	"text/scanner"
)

// The tokens of the text form. A line end is a token, for it ends a statement; `; …` up to
// the line end is one token, the id of an equation.

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

// lex returns the tokens of a text; the last is tokEnd. Characters that belong to no token
// become punctuation marks, which no rule of the grammar accepts.
func lex(text string) []token {
	s := &scanner.Scanner{}
	s.Init(strings.NewReader(text))
	s.Mode = scanner.ScanIdents | scanner.ScanFloats | scanner.ScanStrings
	s.Whitespace = 1<<' ' | 1<<'\t' | 1<<'\r'
	s.IsIdentRune = func(r rune, i int) bool { return nameRune(r, i == 0) }
	s.Error = func(*scanner.Scanner, string) {}
	var out []token
	for {
		r := s.Scan()
		t := token{kind: tokPunct, text: s.TokenText(), line: s.Line, col: s.Column}
		switch r {
		case scanner.EOF:
			end := s.Pos()
			t.kind, t.line, t.col = tokEnd, end.Line, end.Column
		case '\n':
			t.kind = tokLine
		case scanner.Ident:
			t.kind = tokName
		case scanner.Int, scanner.Float:
			t.kind = tokNumber
		case scanner.String:
			if name, err := strconv.Unquote(t.text); err == nil {
				t.kind, t.text, t.quoted = tokName, name, true
			}
		case '>':
			if s.Peek() == '=' {
				s.Next()
				t.text = ">="
			}
		case ';':
			var eq strings.Builder
			for c := s.Peek(); c != '\n' && c != scanner.EOF; c = s.Peek() {
				eq.WriteRune(s.Next())
			}
			t.kind, t.text = tokEq, strings.TrimSpace(eq.String())
		}
		if out = append(out, t); t.kind == tokEnd {
			return out
		}
	}
}
