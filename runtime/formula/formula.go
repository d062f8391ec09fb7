// Package formula reads what a model is made of at run time, in the words of the
// pages: ByteLM(MAG(CMS([DeltaRule, TitansLMM]), SlidingWindow(w = 32))).
//
// A formula is the name of a page; in parentheses are the pages in the places of
// its parts, by place or by name, and its sizes, by name. A list in brackets fills a
// list of parts. Parse reads the text, Bind finds the pages in a table and puts
// everything into its place. What is wrong is an *Error that points into the text.
package formula

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Formula is one page with what its parentheses say.
type Formula struct {
	Name string
	At   int // byte offset of the name in the text
	Args []Arg

	text string
}

// An Arg is one argument: a page, a list of pages, or a size.
type Arg struct {
	Name  string // "" by place
	At    int
	Pages []Formula
	List  bool // Pages stood in brackets
	Size  int  // where Pages is empty and List is not set
}

// An Error says what is wrong at a byte offset of a text.
type Error struct {
	Text string
	At   int
	Msg  string
	Hint string // "" for none
}

// Error is the message, a caret under the place, and the hint.
func (e *Error) Error() string {
	s := fmt.Sprintf("formula:%d: %s\n  %s\n  %s^", len([]rune(e.Text[:e.At]))+1, e.Msg, e.Text, strings.Repeat(" ", len([]rune(e.Text[:e.At]))))
	if e.Hint != "" {
		s += "\n  help: " + e.Hint
	}
	return s
}

// String prints a formula in canonical form.
func (f Formula) String() string {
	if len(f.Args) == 0 {
		return f.Name
	}
	var args []string
	for _, a := range f.Args {
		s := strconv.Itoa(a.Size)
		if a.List || len(a.Pages) > 0 {
			var pages []string
			for _, p := range a.Pages {
				pages = append(pages, p.String())
			}
			s = strings.Join(pages, ", ")
			if a.List {
				s = "[" + s + "]"
			}
		}
		if a.Name != "" {
			s = a.Name + " = " + s
		}
		args = append(args, s)
	}
	return f.Name + "(" + strings.Join(args, ", ") + ")"
}

// maxDepth bounds the nesting of formulas.
const maxDepth = 64

// Parse reads a formula. Any error is an *Error.
func Parse(text string) (Formula, error) {
	p := &parser{text: text}
	f := p.formula(0)
	p.space()
	if p.err == nil && p.at < len(text) {
		p.fail("expected the end of the formula")
	}
	if p.err != nil {
		return Formula{}, p.err
	}
	return f, nil
}

type parser struct {
	text string
	at   int
	err  error
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Text: p.text, At: min(p.at, len(p.text)), Msg: fmt.Sprintf(format, args...)}
	}
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// got consumes a sign if it is next.
func (p *parser) got(sign byte) bool {
	p.space()
	if p.err == nil && p.at < len(p.text) && p.text[p.at] == sign {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(sign byte) {
	if !p.got(sign) {
		p.fail("expected %c", sign)
	}
}

// word reads a name: letters, digits, _ and, between words, a dot.
func (p *parser) word(what string) (string, int) {
	p.space()
	from := p.at
	for _, r := range p.text[p.at:] {
		if r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		p.at += len(string(r))
	}
	if w := p.text[from:p.at]; w != "" && !unicode.IsDigit(rune(w[0])) && w[0] != '.' {
		return w, from
	}
	p.at = from
	p.fail("expected %s", what)
	return "", from
}

func (p *parser) formula(depth int) Formula {
	if depth > maxDepth {
		p.fail("more than %d pages in one another", maxDepth)
	}
	name, at := p.word("the name of a page")
	f := Formula{Name: name, At: at, text: p.text}
	if p.err != nil || !p.got('(') {
		return f
	}
	if p.got(')') {
		return f
	}
	for {
		f.Args = append(f.Args, p.arg(depth))
		if p.err != nil || !p.got(',') {
			break
		}
	}
	p.want(')')
	return f
}

// arg reads `Page(…)`, `[Page, …]`, `name = 3`, `name = Page` or `name = […]`.
func (p *parser) arg(depth int) Arg {
	p.space()
	a := Arg{At: p.at}
	if !p.next('[') {
		from := p.at
		name, _ := p.word("a page, a list of pages or a name")
		if p.got('=') {
			a.Name = name
		} else {
			p.at = from
		}
	}
	p.space()
	switch {
	case p.err != nil:
	case p.got('['):
		a.List = true
		for !p.got(']') && p.err == nil {
			a.Pages = append(a.Pages, p.formula(depth+1))
			if !p.next(']') {
				p.want(',')
			}
		}
	case a.Name != "" && p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] >= '0' && p.text[p.at] <= '9'):
		a.Size = p.number()
	default:
		a.Pages = []Formula{p.formula(depth + 1)}
	}
	return a
}

// next reports whether a sign is next.
func (p *parser) next(sign byte) bool {
	p.space()
	return p.at < len(p.text) && p.text[p.at] == sign
}

// number reads a whole number.
func (p *parser) number() int {
	from := p.at
	for p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '.' || unicode.IsLetter(rune(p.text[p.at])) || unicode.IsDigit(rune(p.text[p.at]))) {
		p.at++
	}
	n, err := strconv.Atoi(p.text[from:p.at])
	if err != nil {
		word := p.text[from:p.at]
		p.at = from
		p.fail("%s is not a whole number", word)
	}
	return n
}
