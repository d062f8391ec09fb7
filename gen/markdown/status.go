package markdown

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/nl-hecate/hecate/gen/spec"
)

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
