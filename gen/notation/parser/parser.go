// Package parser reads and formats the notation.
//
// The scanner (scan.go) makes tokens of the lines of a block and joins physical lines to
// logical ones. The parser is a predictive recursive-descent parser over one logical line at
// a time; operators are read by precedence, one function a level (Aho, Sethi and Ullman,
// "Compilers", 4.4). An error ends its line (panic-mode recovery): from then on the next
// token is the end of the line, so that all loops stop and no second error is reported for
// it. The statement is dropped and the next line starts afresh. The formatter (format.go)
// prints every line again and keeps its breaks and comments.
package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// An Input is one `hecate` block of a page.
type Input struct {
	Text    string
	Offset  func(i int) int // from a byte of Text to a byte of File; nil if they are the same
	File    *source.File
	Example bool
	Known   map[string]bool // functions and parts of other pages, so that `name(` calls them
}

const (
	maxDepth  = 200    // brackets, exponents and nested parts
	maxTokens = 20_000 // tokens of one logical line: a sum is a tree as deep as it is long
)

type parser struct {
	in     *Input
	diags  *diag.List
	known  map[string]bool
	toks   []token
	i      int
	end    token
	failed bool
	mute   bool             // the scanner has reported this line already
	last   *diag.Diagnostic // the error of this line, for more detail
	depth  int
	halves bool   // read 1/2 as ½, for Format
	law    bool   // the line is a law's
	bars   string // the bar that is open at this depth of brackets: "|", "‖" or ""
}

// Parse reads the blocks of a page.
func Parse(f *source.File, blocks []Input) (*notation.File, diag.List) {
	return Scan(f, blocks).parse()
}

// A Scanned page is its blocks as tokens.
type Scanned struct {
	file   *source.File
	blocks []Input
	lines  [][]*logical
	names  map[string]bool
	diags  diag.List
}

// Scan reads the tokens of the blocks of a page.
func Scan(f *source.File, blocks []Input) *Scanned {
	s := &Scanned{file: f, blocks: blocks, names: map[string]bool{}}
	for i := range blocks {
		s.lines = append(s.lines, joinLines(scan(&blocks[i], &s.diags)))
		declared(s.lines[i], s.names)
	}
	return s
}

// Known are the names that the page defines as functions, operations or parts; it is
// not to be changed.
func (s *Scanned) Known() map[string]bool { return s.names }

// Parse reads the page where other pages define the known names.
func (s *Scanned) Parse(known map[string]bool) (*notation.File, diag.List) {
	for i := range s.blocks {
		s.blocks[i].Known = known
	}
	return s.parse()
}

func (s *Scanned) parse() (*notation.File, diag.List) {
	var diags diag.List
	diags.Append(s.diags)
	file := &notation.File{Source: s.file}
	for i := range s.blocks {
		b := newBody(&s.blocks[i], s.names, &diags)
		for _, l := range s.lines[i] {
			b.line(l)
		}
		file.Units = append(file.Units, b.units...)
	}
	return file, diags
}

// Known returns the names that blocks define as functions, operations or
// parts. A caller with several pages gathers them first, because `name(` is a
// call only where the name is known.
func Known(blocks []Input) map[string]bool { return Scan(nil, blocks).names }

// ParseExpr reads one expression or condition; known names functions.
func ParseExpr(f *source.File, text string, known ...string) (notation.Expr, diag.List) {
	p, diags := single(f, text, known)
	e := p.cond()
	p.finish("an operator or the end")
	return e, *diags
}

// single prepares a parser for a text that is one logical line.
func single(f *source.File, text string, known []string) (*parser, *diag.List) {
	if f == nil {
		f = source.NewFile("", text)
	}
	diags := &diag.List{}
	in := &Input{Text: text, File: f, Known: map[string]bool{}}
	for _, k := range known {
		in.Known[k] = true
	}
	var all logical
	for _, l := range scan(in, diags) {
		all.toks = append(all.toks, l.toks...)
	}
	names := map[string]bool{}
	declared([]*logical{&all}, names)
	p := &parser{in: in, diags: diags, known: names}
	p.reset(all.toks, 0)
	return p, diags
}

// The names that a `(` makes a call, found before parsing: `name(` is a product for all
// others.

// declared collects the words of a block that a `(` makes a call: units,
// functions, parts (`memory : Rule`) and the functions of `each fit`. It looks
// at tokens only, because the parser must know them before it reads a product.
func declared(lines []*logical, known map[string]bool) {
	for _, l := range lines {
		toks := l.toks
		switch {
		case len(toks) == 0:
		case isHeader(toks):
			known[notation.UnitName(toks[1].text)] = true
			parts(toks, known)
		case toks[0].word("each"):
			slots(toks, known)
		case toks[0].word("option") || toks[0].word("when"):
			parts(toks, known)
		case isFunction(toks) && closesBeforeEquals(toks):
			known[toks[0].text] = true
		}
	}
}

// parts finds `name : Kind` and `name[axis] : Kind`.
func parts(toks []token, known map[string]bool) {
	for i := 0; i+2 < len(toks); i++ {
		if toks[i].kind != tName {
			continue
		}
		rest := toks[i+1:]
		if len(rest) > 3 && rest[0].is("[") && rest[2].is("]") {
			rest = rest[3:]
		}
		if len(rest) > 1 && rest[0].is(":") && rest[1].kind == tName {
			known[toks[i].text] = true
		}
	}
}

// slots finds F and V of `each (W : F(W; s) → V(s)) of …`.
func slots(toks []token, known map[string]bool) {
	for i := 1; i+1 < len(toks) && !toks[i].word("of"); i++ {
		if toks[i].kind == tName && (toks[i-1].is(":") || toks[i-1].is("→")) {
			known[toks[i].text] = true
		}
	}
}

// closesBeforeEquals reports whether `name(…)` or `name(…)[…]` is defined.
func closesBeforeEquals(toks []token) bool {
	depth := 0
	for i := 1; i < len(toks); i++ {
		switch t := toks[i]; {
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			depth--
			if depth == 0 && !(i+1 < len(toks) && (toks[i+1].is("[") || toks[i+1].is("="))) {
				return false
			}
		case depth == 0:
			return t.is("=")
		}
	}
	return false
}
