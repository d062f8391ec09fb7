package parser

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// looksDefined reports whether an = outside brackets follows on this line, or
// a bracket is open that may hide it.
func (p *parser) looksDefined() bool {
	depth := 0
	for i := 0; ; i++ {
		t := p.peek(i)
		switch {
		case t.kind == tEnd:
			return depth > 0
		case t.kind == tWord && depth == 0:
			return false
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			depth--
		case depth == 0 && t.is("="):
			return true
		}
	}
}

// markedDefine reads `read y_t = …` and `match M_t = …`.
func (p *parser) markedDefine() notation.Stmt {
	start := p.next()
	d := p.define()
	d.Read, d.Match, d.Span = start.text == "read", start.text == "match", p.since(start)
	return d
}

// define reads `target = value` and its trailers.
func (p *parser) define() *notation.Define {
	start := p.cur()
	d := &notation.Define{Target: p.target()}
	p.want("=")
	d.Value = p.union()
	if p.cur().is("∈") && p.peek(1).name("log") {
		p.i += 2
		d.InLog = true
	}
	tr := p.trailers(false)
	d.With, d.Label, d.Cite = tr.with, tr.tag, tr.cite
	d.Span = p.since(start)
	return d
}

// target reads `k_t`, `out[t∈T]` or `f(A ∈ …; k)[i∈r]`.
func (p *parser) target() *notation.Target {
	start := p.cur()
	if start.kind != tName || notation.SubscriptWords[start.text] != "" {
		w := p.name("the name to define")
		return &notation.Target{Span: w.Span, Name: &notation.Ident{Span: w.Span, Name: w}}
	}
	p.next()
	t := &notation.Target{Name: p.ident(start)}
	if p.cur().is("(") {
		t.IsFunc = true
		t.Params = p.params()
	}
	if p.cur().is("[") {
		closing := p.open()
		t.Index = p.binders()
		closing("]")
	}
	t.Span = p.since(start)
	return t
}

// trailers are the clauses that may follow the value of a statement.
type trailers struct {
	with   []*notation.Define
	reason *notation.Text
	tag    *notation.Word
	cite   *notation.Cite
}

// trailers reads them in any order, each once; a reason only where one belongs.
func (p *parser) trailers(reason bool) (tr trailers) {
	for {
		t := p.cur()
		switch {
		case t.word("with") && tr.with == nil:
			p.next()
			tr.with = p.locals()
		case t.is("{") && tr.tag == nil && p.atTag():
			tr.tag = p.tag()
		case t.is("@eq") && tr.cite == nil:
			tr.cite = p.cite()
		case t.kind == tString && reason && tr.reason == nil:
			tr.reason = p.text()
		default:
			return tr
		}
	}
}

// locals reads `a = 1, b = 2` after with.
func (p *parser) locals() []*notation.Define {
	return sequence(p, ",", func() *notation.Define {
		start := p.cur()
		d := p.localDefine()
		d.Span = p.since(start)
		return d
	})
}

// localDefine reads `a = 1`, or `solve ζ ∈ [lo, hi] : equation`.
func (p *parser) localDefine() *notation.Define {
	if p.gotWord("solve") {
		return p.unknown()
	}
	d := &notation.Define{Target: p.target()}
	if p.cur().is(":=") {
		p.errorf(diag.Unexpected, p.cur(), ":= overrides an option of a page").Labelf("expected =").Hint("write with name = value for a local definition")
	}
	p.want("=")
	d.Value = p.union()
	return d
}

// tag reads `{inv:unit}` as it is written; atTag has looked ahead.
func (p *parser) tag() *notation.Word {
	open := p.next()
	for !p.cur().is("}") && p.cur().kind != tEnd {
		p.next()
	}
	text := strings.TrimSpace(p.in.Text[open.end:p.cur().pos])
	p.want("}")
	return &notation.Word{Span: p.since(open), Text: text}
}

// cite reads the citation after @eq, the string that says in what the line differs, and further
// citations.
func (p *parser) cite() *notation.Cite {
	start := p.next()
	c := p.citation()
	if p.cur().kind == tString {
		c.Differs = p.text()
	}
	c.Span = p.since(start)
	if p.cur().is("@eq") {
		c.Next = p.cite()
	}
	return c
}

// citation reads paper#eq.
func (p *parser) citation() *notation.Cite {
	t := p.cur()
	if t.kind != tCite {
		p.expected("a citation such as paper#13")
		return &notation.Cite{Span: p.span(t)}
	}
	p.next()
	paper, eq, _ := strings.Cut(t.text, "#")
	return &notation.Cite{Span: p.span(t), Paper: paper, Eq: eq}
}
