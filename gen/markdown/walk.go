package markdown

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	gm "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/nl-hecate/hecate/gen/spec"
)

// walk lets goldmark find the blocks of the page and collects what counts:
// title and sections, fences, status quotes, candidates for the header.
func (p *parser) walk() {
	blocks := gm.NewParser(gm.WithBlockParsers(gm.DefaultBlockParsers()...))
	doc := blocks.Parse(text.NewReader([]byte(p.text[p.base:])))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			p.heading(n)
		case *ast.ThematicBreak:
			p.endHeaded(p.base + n.Pos())
		case *ast.Paragraph:
			p.paragraph(n)
		case *ast.FencedCodeBlock:
			p.topFence(p.fence(n))
		case *ast.Blockquote:
			p.quote(n)
			p.nested(n)
		default:
			p.nested(n)
		}
	}
	p.endHeaded(len(p.text))
}

// nested collects the fences inside lists and quotes.
func (p *parser) nested(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if f, ok := c.(*ast.FencedCodeBlock); ok {
			p.fence(f)
			continue
		}
		p.nested(c)
	}
}

func (p *parser) heading(h *ast.Heading) {
	segs := h.Lines()
	start := p.lineStart(max(p.base, min(p.base+h.Pos(), len(p.text))))
	p.endHeaded(start)
	if segs.Len() == 0 {
		p.headings++
		return
	}
	first := segs.At(0)
	l := line{text: p.text[p.base+first.Start : p.base+first.Stop], off: p.base + first.Start}
	l = l.from(len(l.text) - len(strings.TrimLeft(l.text, " \t")))
	l.text = l.trimmed()
	if l.text == "CONTRACT" {
		if segs.Len() > 1 { // bare lines that end at a `---`
			p.bare(l)
			return
		}
		p.openHeaded(l)
		return
	}
	p.headings++
	title := unmark(l.text)
	if p.page.Title == "" {
		p.page.Title = title
		p.page.TitleSpan = p.span(l.off, l.off+len(l.text))
	} else {
		p.section = title
	}
}

// unmark removes the marks of bold and code.
func unmark(s string) string {
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(s))
}

func (p *parser) paragraph(n *ast.Paragraph) {
	if n.Lines().Len() == 0 {
		return
	}
	l, _ := p.lineAt(p.lineStart(p.base + n.Lines().At(0).Start))
	if l.trimmed() == "CONTRACT" {
		p.bare(l)
	}
}

// fence turns a goldmark fence into a block of the page.
func (p *parser) fence(n *ast.FencedCodeBlock) *spec.Block {
	open, marks := p.opening(p.base + n.Pos())
	first, next := p.lineAt(p.lineStart(open))
	info := ""
	infoAt := open + len(marks)
	if n.Info != nil {
		infoAt = p.base + n.Info.Segment.Start
		info = p.text[infoAt : p.base+n.Info.Segment.Stop]
	}
	b := spec.NewBlock(p.file, info)
	b.InfoSpan = p.span(infoAt, infoAt+len(info))
	b.Section = p.section
	end := first.off + len(first.text)
	var text strings.Builder
	segs := n.Lines()
	for i := range segs.Len() {
		s := segs.At(i)
		b.Lines = append(b.Lines, spec.Line{Start: text.Len(), Offset: p.base + s.Start, Pad: s.Padding})
		text.WriteString(strings.Repeat(" ", s.Padding))
		content := strings.TrimSuffix(p.text[p.base+s.Start:p.base+s.Stop], "\n")
		content = strings.TrimSuffix(content, "\r")
		text.WriteString(content)
		text.WriteByte('\n')
		end, next = p.base+s.Start+len(content), p.base+s.Stop
	}
	b.Text = text.String()
	if close, ok := p.closing(next, marks); ok {
		b.Closed, end = true, close
	}
	b.Span = p.span(open, end)
	p.page.Blocks = append(p.page.Blocks, b)
	return b
}

// opening finds the marks of a fence on the line that holds the offset;
// goldmark's own offset may be off by the width of a tab.
func (p *parser) opening(near int) (int, string) {
	start := p.lineStart(max(0, min(near, len(p.text))))
	l, _ := p.lineAt(start)
	for _, from := range []int{min(max(0, near-start), len(l.text)), 0} {
		for i := from; i < len(l.text); i++ {
			if run := fenceRun(l.text[i:]); len(run) >= 3 {
				return start + i, run
			}
		}
	}
	return start, "```"
}

// fenceRun returns the backticks or tildes that s begins with.
func fenceRun(s string) string {
	n := 0
	for n < len(s) && (s[0] == '`' || s[0] == '~') && s[n] == s[0] {
		n++
	}
	return s[:n]
}

// closing reports whether the line at the offset closes a fence opened by
// marks, and where it ends.
func (p *parser) closing(off int, marks string) (end int, ok bool) {
	if off >= len(p.text) {
		return 0, false
	}
	l, _ := p.lineAt(off)
	body := strings.TrimLeft(l.text, " \t>")
	run := fenceRun(body)
	if len(run) < len(marks) || run[0] != marks[0] || strings.TrimSpace(body[len(run):]) != "" {
		return 0, false
	}
	return l.off + len(strings.TrimRight(l.text, " \t")), true
}

// statusWord finds the word that a status quote opens with, after what people
// put before it: STATUS:, Note:, "This page is".
var statusWord = regexp.MustCompile(`(?i)^(?:(?:status|note|notice|warning)\b\W*)?` +
	`(?:this (?:page|spec|document|file)\b\W*(?:is |has been |was )?)?` +
	`(archived|superseded|updated)\b`)

// quote reads a block quote as a status. The words that end a page's life
// count before its second heading only: further down they speak of a section.
func (p *parser) quote(n *ast.Blockquote) {
	const alertAndText = 3 // lines to read: `> [!NOTE]`, a blank one, the text
	off := p.lineStart(max(p.base, min(p.base+n.Pos(), len(p.text))))
	for range alertAndText {
		if off >= len(p.text) {
			return
		}
		l, next := p.lineAt(off)
		body := strings.TrimLeft(l.text, " \t>")
		if body == "" || strings.HasPrefix(body, "[!") {
			off = next
			continue
		}
		text := strings.TrimLeft(unmark(body), "#*_~⚠️ \t—-:")
		m := statusWord.FindStringSubmatch(text)
		if m == nil {
			return
		}
		start := l.off + len(l.text) - len(body)
		s := spec.Status{Kind: statusKind(m[1]), Text: text, Span: p.span(start, l.off+len(strings.TrimRight(l.text, " \t")))}
		p.page.Notes = append(p.page.Notes, s)
		if p.page.Status.Kind < s.Kind && (p.headings < 2 || s.Kind == spec.Updated) {
			p.page.Status = s
		}
		return
	}
}

func statusKind(word string) spec.StatusKind {
	switch strings.ToLower(word) {
	case "archived":
		return spec.Archived
	case "superseded":
		return spec.Superseded
	}
	return spec.Updated
}
