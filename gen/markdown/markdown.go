// Package markdown turns a page of markdown into a spec.Page.
//
// goldmark finds the blocks (headings, fences, quotes, at any depth); what it
// returns are byte segments, so every position stays that of the file. Inline
// markup is not parsed: a page is full of `*` and `_` that mean other things.
//
// The work is a short list of steps over one parser value. The page is walked
// once, which collects fences, status quotes and candidates for the contract
// header; then one candidate is chosen and its fields are read; then come the
// pseudo-code outline, the citations and the references, each a single pass
// over the text. Nothing looks back, so a page of 100,000 lines takes its
// length in time.
//
// A contract header counts if it is before the second heading of the
// page, or under a heading of its own, `## CONTRACT`. A fence further down
// that begins with CONTRACT is an example, unless the page has a header
// already: then it is one header too many, and `text example` as its info
// string says that it is not meant.
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Parse reads a page. It returns what could be read together with what is
// wrong; the page is never nil.
func Parse(f *source.File) (*spec.Page, diag.List) {
	p := &parser{
		file: f,
		text: f.Text,
		page: &spec.Page{File: f, Status: spec.Status{Kind: spec.Active}},
	}
	p.checkUTF8()
	p.checkLines()
	p.skipBOM()
	p.frontMatter()
	p.walk()
	p.chooseHeader()
	p.checkFences()
	for _, b := range p.page.Blocks {
		p.page.Outline = append(p.page.Outline, outline(b)...)
	}
	p.page.Citations = Cite(p.page, nil)
	p.page.Refs = refs(f)
	return p.page, p.diags
}

type parser struct {
	file  *source.File
	text  string
	base  int // where goldmark begins to read
	page  *spec.Page
	diags diag.List

	candidates []candidate
	headings   int    // headings seen that are not CONTRACT
	ours       bool   // the page has blocks for the compiler
	section    string // text of the last one below the title
}

func (p *parser) span(start, end int) source.Span {
	return source.Span{File: p.file, Start: start, End: end}
}

func (p *parser) checkUTF8() {
	for i, r := range p.text {
		if r == utf8.RuneError && !strings.HasPrefix(p.text[i:], string(utf8.RuneError)) {
			p.diags.Errorf(diag.InvalidUTF8, p.span(i, i+1), "byte 0x%02x is not UTF-8", p.text[i]).
				Hint("save the page as UTF-8")
			return
		}
	}
}

// checkLines refuses a carriage return alone: whether it ends a line, readers differ.
func (p *parser) checkLines() {
	for i := range p.text {
		if p.text[i] == '\r' && !strings.HasPrefix(p.text[i+1:], "\n") {
			p.diags.Errorf(diag.LoneReturn, p.span(i, i+1), "a carriage return ends no line").
				Hint("save the page with lines that end in LF or CRLF")
			return
		}
	}
}

const bom = "\uFEFF"

func (p *parser) skipBOM() {
	if strings.HasPrefix(p.text, bom) {
		p.base = len(bom)
	}
}

// A line is one line of text with its place in the file: of a fence or of the
// page itself. The first pad bytes of text are part of a tab.
type line struct {
	text string
	off  int
	pad  int
}

// at returns the file offset of text[i].
func (l line) at(i int) int { return l.off + max(0, i-l.pad) }

// from returns the rest of the line from text[i] on.
func (l line) from(i int) line {
	return line{l.text[i:], l.at(i), max(0, l.pad-i)}
}

func (l line) blank() bool { return strings.TrimSpace(l.text) == "" }

func (l line) trimmed() string { return strings.TrimSpace(l.text) }

// lines divides the bytes [start, end) of the page into lines.
func (p *parser) lines(start, end int) []line {
	var out []line
	for start < end {
		l, next := p.lineAt(start)
		out = append(out, l)
		start = next
	}
	return out
}

// lineAt returns the line that starts at the offset and where the next starts.
func (p *parser) lineAt(start int) (l line, next int) {
	rest := p.text[start:]
	n := strings.IndexByte(rest, '\n')
	next = start + n + 1
	if n < 0 {
		n, next = len(rest), len(p.text)
	}
	return line{text: strings.TrimSuffix(rest[:n], "\r"), off: start}, next
}

// lineStart returns where the line starts that holds the offset.
func (p *parser) lineStart(off int) int {
	return strings.LastIndexByte(p.text[:off], '\n') + 1
}
