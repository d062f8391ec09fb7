package markdown

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// A candidate is a place that looks like a contract header.
type candidate struct {
	form  spec.Form // of a headed one: zero until its first line is seen
	mark  source.Span
	end   int
	lines []line
	late  bool // a fence or bare lines after the second heading of the page
	open  bool // under a heading, not yet ended
}

// frontMatter finds a header between two `---` lines before anything but
// blank lines and HTML comments, and lets goldmark begin after it.
func (p *parser) frontMatter() {
	off := p.skipComments(p.base)
	if off >= len(p.text) {
		return
	}
	l, next := p.lineAt(off)
	if l.trimmed() != "---" {
		return
	}
	var body []line
	for next < len(p.text) {
		l, next = p.lineAt(next)
		if l.trimmed() == "---" {
			break
		}
		if len(body) > 0 || !l.blank() {
			body = append(body, l)
		}
		if body != nil && body[0].trimmed() != "CONTRACT" {
			return
		}
	}
	if len(body) == 0 || l.trimmed() != "---" {
		return
	}
	for len(body) > 1 && (body[len(body)-1].blank() || body[len(body)-1].trimmed() == "CONTRACT") {
		body = body[:len(body)-1]
	}
	p.addCandidate(spec.FrontMatter, body[0], l.off+len(l.text), body[1:])
	p.base = next
}

// skipComments returns the offset after blank lines and HTML comments.
func (p *parser) skipComments(off int) int {
	for off < len(p.text) {
		l, next := p.lineAt(off)
		switch {
		case l.blank():
			off = next
		case strings.HasPrefix(l.trimmed(), "<!--"):
			end := strings.Index(p.text[off:], "-->")
			if end < 0 {
				return off
			}
			_, off = p.lineAt(off + end)
		default:
			return off
		}
	}
	return off
}

func (p *parser) addCandidate(form spec.Form, mark line, end int, body []line) *candidate {
	lead := len(mark.text) - len(strings.TrimLeft(mark.text, " \t"))
	start := mark.at(lead)
	p.candidates = append(p.candidates, candidate{
		form: form, mark: p.span(start, start+len(mark.trimmed())), end: end, lines: body,
	})
	return &p.candidates[len(p.candidates)-1]
}

// bare takes the lines from the word CONTRACT to the first blank one.
func (p *parser) bare(mark line) {
	if p.inside(mark.off) {
		return
	}
	_, next := p.lineAt(p.lineStart(mark.off))
	var body []line
	end := mark.off + len(mark.text)
	for next < len(p.text) {
		var l line
		l, next = p.lineAt(next)
		if l.blank() || l.trimmed() == "---" {
			break
		}
		body = append(body, l)
		end = l.off + len(l.text)
	}
	p.addCandidate(spec.Bare, mark, end, body).late = p.headings >= 2
}

// topFence takes a fence that begins with the word CONTRACT, or that is all
// that a CONTRACT heading has below it.
func (p *parser) topFence(b *spec.Block) {
	if b.IsHecate || strings.HasSuffix(b.Info, " example") {
		return
	}
	body := blockLines(b)
	first := slices.IndexFunc(body, func(l line) bool { return !l.blank() })
	named := first >= 0 && body[first].trimmed() == "CONTRACT"
	if c := p.headed(); c != nil && strings.TrimSpace(p.text[c.end:b.Span.Start]) == "" {
		c.form, c.lines, c.end, c.open = spec.HeadedFence, body, b.Span.End, false
		if named {
			c.lines = body[first+1:]
		}
		return
	}
	if !named || p.inside(b.Span.Start) {
		return
	}
	form := spec.Fenced
	if b.Info != "" {
		form = spec.FencedText
	}
	p.addCandidate(form, body[first], b.Span.End, body[first+1:]).late = p.headings >= 2
}

func blockLines(b *spec.Block) []line {
	texts := strings.Split(b.Text, "\n")
	out := make([]line, len(b.Lines))
	for i, l := range b.Lines {
		out[i] = line{texts[i], l.Offset, l.Pad}
	}
	return out
}

// openHeaded begins a header under a heading; endHeaded gives it everything
// up to the next heading or break.
func (p *parser) openHeaded(mark line) {
	_, next := p.lineAt(mark.off)
	c := p.addCandidate(spec.HeadedPlain, mark, next, nil)
	c.open = true
}

// headed returns the open candidate, or nil.
func (p *parser) headed() *candidate {
	if n := len(p.candidates); n > 0 && p.candidates[n-1].open {
		return &p.candidates[n-1]
	}
	return nil
}

// inside reports whether the offset is in the section of a CONTRACT heading.
func (p *parser) inside(off int) bool { return p.headed() != nil && off >= p.headed().end }

func (p *parser) endHeaded(end int) {
	c := p.headed()
	if c == nil {
		return
	}
	c.open = false
	c.lines = p.lines(c.end, max(c.end, end))
	for len(c.lines) > 0 && c.lines[len(c.lines)-1].blank() {
		c.lines = c.lines[:len(c.lines)-1]
	}
	c.end = c.mark.End
	if n := len(c.lines); n > 0 {
		c.end = c.lines[n-1].off + len(c.lines[n-1].text)
	}
}

// chooseHeader makes the first candidate that counts the header of the page
// and reports every further one.
func (p *parser) chooseHeader() {
	p.ours = p.page.Ours()
	var chosen *candidate
	for i := range p.candidates {
		c := &p.candidates[i]
		if c.late && chosen == nil {
			continue
		}
		if chosen != nil {
			p.diags.Errorf(diag.HeaderTwice, c.mark, "page has a second contract header").
				Hint("delete one of them, or write `example` after the fence's info string").
				See(chosen.mark, "the first one is here")
			p.page.ExtraHeaders = append(p.page.ExtraHeaders, p.contract(c, false))
			continue
		}
		chosen = c
		p.page.Header = p.contract(c, true)
	}
	if chosen == nil && p.ours {
		p.missingHeader()
	}
}

func (p *parser) missingHeader() {
	i := slices.IndexFunc(p.page.Blocks, func(b *spec.Block) bool { return b.IsHecate && !b.IsExample })
	b := p.page.Blocks[i]
	d := p.diags.Errorf(diag.MissingHeader, b.InfoSpan, "page has a hecate block but no contract header").
		Hint("begin the page with a fence whose first line is CONTRACT")
	if len(p.candidates) > 0 {
		d.See(p.candidates[0].mark, "this one is after the first section: move it before")
	}
}

// checkFences reports fences that the page ends in.
func (p *parser) checkFences() {
	for _, b := range p.page.Blocks {
		if b.Closed {
			continue
		}
		span := p.span(b.Span.Start, max(b.Span.Start, b.InfoSpan.End))
		marks := fenceRun(p.text[b.Span.Start:])
		if b.IsHecate {
			p.diags.Errorf(diag.UnclosedFence, span, "hecate fence is not closed").Hint("end it with a line %s", marks)
		} else {
			p.diags.Warnf(diag.UnclosedFence, span, "fence is not closed").Hint("end it with a line %s", marks)
		}
	}
}
