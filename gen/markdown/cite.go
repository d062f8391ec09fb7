package markdown

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Citations are read line by line from left to right. A line is first cut
// into tokens: papers (a known name, an arXiv id, the word Paper), sections,
// and locators (Eq 13, Table 1); keys such as key#34 and graph keys carry
// their paper with them. Then a locator takes the paper that is within a
// few words before it, with the section between them; failing that the one
// after it (`Eq 13 of Name`); failing that, as implied, the last one on the
// line or on the line above, or the only paper that the Source field names.
// An equation that finds no paper stays in the list without one.

// near is the largest number of bytes between a paper or a section and an equation,
// nearer how many between a paper and a section or a table.
const (
	near   = 48
	nearer = 20
)

// Cite returns every citation of a page in order, resolved against the
// bibliography. Without one (nil) no paper is known, and names are taken at
// their word.
func Cite(p *spec.Page, bib *spec.Bibliography) []spec.Citation {
	c := &citer{page: p, bib: bib, names: newNames(bib)}
	if f := p.Header.Field(spec.Source); f != nil {
		c.source = f.ValueSpan
	}
	text := p.File.Text
	var prev previous
	for start := 0; start < len(text); {
		end := strings.IndexByte(text[start:], '\n')
		next := start + end + 1
		if end < 0 {
			end, next = len(text)-start, len(text)
		}
		l := text[start : start+end]
		if inSource := c.inSource(start, next); inSource || interesting(l) {
			prev = previous{l, c.line(l, start, prev, inSource)}
		} else {
			prev = previous{text: l}
		}
		start = next
	}
	c.implySource()
	for i := range c.out {
		c.resolve(&c.out[i])
	}
	return c.out
}

type citer struct {
	page   *spec.Page
	bib    *spec.Bibliography
	names  names
	source source.Span
	keys   bool // a bare key is a citation: the line is of the Source field
	out    []spec.Citation
}

func (c *citer) inSource(start, end int) bool {
	return !c.source.IsZero() && start < c.source.End && c.source.Start < end
}

// interesting tells at little cost whether a line can hold a citation.
func interesting(l string) bool {
	for _, s := range []string{"#", "§", "Eq", "eq", "Section", "Sec.", "Table", "Definition", "Proposition", "Theorem", "Appendix"} {
		if strings.Contains(l, s) {
			return true
		}
	}
	const idDigits = 5
	for i := 4; i+idDigits < len(l); i++ {
		if l[i] == '.' && strings.Trim(l[i-4:i]+l[i+1:i+1+idDigits], "0123456789") == "" {
			return true
		}
	}
	return false
}

// A chain is the paper that following locators belong to.
type chain struct {
	paper   token
	end     int // of the last token that belongs to it
	section string
	used    bool // a locator or section took it
	far     bool // from the line above
}

// previous is the line above, with its tokens if they were cut.
type previous struct {
	text   string
	tokens []token
}

func (c *citer) line(l string, off int, prev previous, inSource bool) []token {
	c.keys = inSource
	tokens := c.tokens(l)
	var ch *chain
	drop := func() {
		if ch != nil && !ch.used && !ch.far && (ch.paper.kind == arxivToken || inSource && ch.paper.known) {
			c.add(spec.Citation{Paper: ch.paper.text}, l, off, ch.paper.start, ch.end)
		}
	}
	if carried, ok := c.carried(prev); ok {
		ch = &chain{paper: carried, far: true}
	}
	for i, t := range tokens {
		switch t.kind {
		case nameToken, arxivToken, genericToken:
			if ch != nil && !ch.far && !ch.used && t.start-ch.end <= 8 && t.kind == arxivToken && ch.paper.kind == nameToken {
				ch.end = t.end // Name (2501.00663)
				if !ch.paper.known {
					ch.paper.text = t.text
				}
				ch.paper.kind = arxivToken
				continue
			}
			drop()
			ch = &chain{paper: t, end: t.end}
		case keyToken:
			c.add(t.citation, l, off, t.start, t.end)
		case sectionToken:
			c.sectionToken(ch, t, tokens[i+1:], l, off)
		case locatorToken, itemToken:
			c.locator(ch, t, l, off)
		}
	}
	drop()
	return tokens
}

// sectionToken remembers a section for the locator after it, or adds it as a
// citation of its own if a paper is before it and no locator after it.
func (c *citer) sectionToken(ch *chain, t token, rest []token, l string, off int) {
	if ch == nil || !ch.reaches(l, t, nearer) {
		return
	}
	if len(rest) > 0 && (rest[0].kind == locatorToken || rest[0].kind == itemToken) && rest[0].start-t.end <= near {
		ch.section, ch.end = t.text, t.end
		return
	}
	ch.used = true
	c.add(spec.Citation{Paper: ch.paper.text, Section: t.text}, l, off, ch.start(t), t.end)
	ch.end = t.end
}

// start is where the text of a citation begins: at the paper, if it is the
// first that the paper is cited for.
func (ch *chain) start(t token) int {
	if ch.paper.start < t.start && t.start-ch.paper.start <= 2*near && !ch.far {
		return ch.paper.start
	}
	return t.start
}

// reaches reports whether the token belongs to the paper by standing close
// after it, in the same sentence.
func (ch *chain) reaches(l string, t token, most int) bool {
	if ch.far || t.start-ch.end > most {
		return false
	}
	gap := strings.TrimPrefix(l[ch.end:max(ch.end, t.start)], " et al.")
	return !strings.Contains(gap, ". ")
}

func (c *citer) locator(ch *chain, t token, l string, off int) {
	cite := t.citation
	start, end, reach := t.start, t.end, near
	if t.kind == itemToken {
		reach = nearer
	}
	switch {
	case ch != nil && ch.reaches(l, t, reach):
		if !ch.used {
			start = ch.start(t)
		}
		cite.Paper, cite.Section = ch.paper.text, ch.section
		ch.used, ch.end, ch.section = true, t.end, ""
	case t.kind == itemToken:
		return // Table 1 of this page
	default:
		if paper, to, ok := c.after(l, t.end); ok {
			cite.Paper, end = paper, to
		} else if ch != nil && ch.paper.kind != genericToken {
			cite.Paper, cite.Implied = ch.paper.text, true
			ch.used = true
		}
	}
	c.add(cite, l, off, start, end)
}

// after finds the paper in `Eq 13 of Name` and `Eq 13 (Name)`.
func (c *citer) after(l string, at int) (paper string, end int, ok bool) {
	m := ofPaper.FindStringIndex(l[at:])
	if m == nil {
		return "", 0, false
	}
	name, end, ok := c.names.at(l, at+m[1])
	return name, end, ok
}

// carried returns the last paper of the line above, if the sentence goes on.
func (c *citer) carried(prev previous) (token, bool) {
	trimmed := strings.TrimRight(prev.text, " \t\r")
	if trimmed == "" || strings.HasSuffix(trimmed, ".") || strings.HasPrefix(trimmed, "```") {
		return token{}, false
	}
	tokens := prev.tokens
	if tokens == nil {
		tokens = c.tokens(prev.text)
	}
	for _, t := range slices.Backward(tokens) {
		if t.kind == arxivToken || t.kind == nameToken && t.known {
			return t, true
		}
	}
	return token{}, false
}

func (c *citer) add(cite spec.Citation, l string, off, start, end int) {
	if t := l[start:end]; strings.HasSuffix(t, ")") && !strings.Contains(t, "(") {
		end-- // (Eq 4)
	}
	if end < len(l) && l[end] == ')' && strings.Count(l[start:end], "(") > strings.Count(l[start:end], ")") {
		end++ // Name (2504.05646)
	}
	cite.Text = l[start:end]
	cite.Span = source.Span{File: c.page.File, Start: off + start, End: off + end}
	cite.InSource = c.inSource(off+start, off+end)
	c.out = append(c.out, cite)
}

// implySource gives equations without a paper the one that Source names, if
// it names exactly one.
func (c *citer) implySource() {
	only := ""
	for _, cite := range c.out {
		if !cite.InSource || cite.Paper == "" {
			continue
		}
		key := c.key(cite.Paper)
		if only != "" && key != only {
			return
		}
		only = key
	}
	for i := range c.out {
		if only != "" && c.out[i].Paper == "" {
			c.out[i].Paper, c.out[i].Implied = only, true
		}
	}
}

// key returns the key of the paper that a page calls name.
func (c *citer) key(name string) string {
	if p := c.find(name); p != nil {
		return p.Key
	}
	return strings.ToLower(name)
}

func (c *citer) find(name string) *spec.Paper {
	if p := c.bib.ByArXiv(name); p != nil && name != "" {
		return p
	}
	if p := c.bib.ByKey(name); p != nil {
		return p
	}
	return c.bib.ByName(name)
}

// resolve sets the state and the canonical form.
func (c *citer) resolve(cite *spec.Citation) {
	paper := c.find(cite.Paper)
	switch {
	case cite.Paper == "":
		cite.State = spec.NoPaper
	case paper == nil:
		cite.State = spec.UnknownPaper
		if key, _, ok := strings.Cut(cite.Paper, "@"); ok && len(c.bib.Editions(key)) > 0 {
			cite.State = spec.NoEdition
		}
	case paper.Unread != "" && cite.Eq != "":
		cite.State = spec.Unverifiable
	case cite.Eq == "?":
		cite.State = spec.NoNumber
	case cite.Eq == "":
		cite.State = spec.WholePaper
	case backwards(cite.Eq, cite.EqEnd):
		cite.State = spec.Backwards
	case !paper.HasEquation(cite.Eq) || cite.EqEnd != "" && !paper.HasEquation(cite.EqEnd):
		cite.State = spec.Absent
	case covers(paper, cite.Eq, cite.EqEnd):
		cite.State = spec.Read
	default:
		cite.State = spec.NotRead
	}
	cite.Paper = c.key(cite.Paper)
	cite.Canonical = cite.Canon()
}
