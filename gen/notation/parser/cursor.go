package parser

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The cursor of the parser over the tokens of a line, and its errors.

// reset starts a logical line.
func (p *parser) reset(toks []token, at int) {
	p.toks, p.i, p.failed, p.depth, p.bars = toks, 0, false, 0, ""
	p.mute = slices.ContainsFunc(toks, func(t token) bool { return t.kind == tBad })
	p.end = token{kind: tEnd, pos: at, end: at, space: true}
	if n := len(toks); n > 0 {
		p.end.pos, p.end.end = toks[n-1].end, toks[n-1].end
	}
	if len(toks) > maxTokens {
		p.errorf(diag.TooLong, toks[maxTokens], "one line has more than %d words and signs", maxTokens).
			Hint("name the parts of the expression")
	}
}

func (p *parser) callable(name string) bool {
	return notation.Builtins[name] || p.known[name] || p.in.Known[name] || p.law && name == notation.Prediction
}

// callee is the word that a call of name calls: a function or a part of that
// name, or an operation, whose name is that of a unit. It is empty for others.
func (p *parser) callee(name string) string {
	if p.callable(name) {
		return name
	}
	if unit := notation.UnitName(name); p.callable(unit) {
		return unit
	}
	return ""
}

// cur returns the next token; after an error that is the end.
func (p *parser) cur() token { return p.peek(0) }

func (p *parser) peek(n int) token {
	if p.failed || p.i+n >= len(p.toks) {
		return p.end
	}
	return p.toks[p.i+n]
}

func (p *parser) next() token {
	t := p.cur()
	if t.kind != tEnd {
		p.i++
	}
	return t
}

// got takes the sign if it is next.
func (p *parser) got(op string) bool {
	if p.cur().is(op) {
		p.i++
		return true
	}
	return false
}

func (p *parser) gotWord(w string) bool {
	if p.cur().word(w) {
		p.i++
		return true
	}
	return false
}

func (p *parser) want(op string) {
	if !p.got(op) {
		p.expected(op)
	}
}

func (p *parser) wantWord(w string) {
	if !p.gotWord(w) {
		p.expected(w)
	}
}

func (p *parser) span(t token) notation.Span { return p.in.span(t.pos, t.end) }

// sequence reads items with a separator between them, at least one.
func sequence[T any](p *parser, separator string, item func() T) []T {
	items := []T{item()}
	for p.got(separator) {
		items = append(items, item())
	}
	return items
}

// since returns the span from the start of t to the last token read.
func (p *parser) since(t token) notation.Span {
	last := t
	if p.i > 0 && p.i <= len(p.toks) {
		last = p.toks[p.i-1]
	}
	return p.in.span(t.pos, max(last.end, t.end))
}

// errorf reports the one error of this line.
func (p *parser) errorf(code diag.Code, t token, format string, args ...any) *diag.Diagnostic {
	return p.errorAt(code, p.span(t), format, args...)
}

func (p *parser) errorAt(code diag.Code, s notation.Span, format string, args ...any) *diag.Diagnostic {
	if p.failed || p.mute {
		p.failed, p.last = true, &diag.Diagnostic{}
		return p.last
	}
	p.failed = true
	p.last = p.diags.Errorf(code, s, format, args...)
	return p.last
}

// expected reports that something else stood here. It knows the mistakes that
// look like something else.
func (p *parser) expected(what string) {
	if p.failed {
		return
	}
	t := p.cur()
	switch {
	case t.is(")") || t.is("]") || t.is("}") || t.is("⟩"):
		p.errorf(diag.Unopened, t, "%s closes nothing", t.text).Labelf("expected %s", what)
	case t.is("×"):
		p.errorf(diag.Times, t, "× multiplies only axes").Hint("write a product with a space, · or ⊙ (in ASCII `.` or `(*)`)")
	default:
		d := p.errorf(diag.Unexpected, t, "expected %s, found %s", what, p.describe(t))
		p.hintLayout(d, t)
	}
}

// hintLayout explains an unexpected word that starts a line.
func (p *parser) hintLayout(d *diag.Diagnostic, t token) {
	if p.i > 0 && (t.first || p.i > 1 && t.is("=") && p.toks[p.i-1].first) {
		d.Hint("this line continues the one above, because it starts deeper or with an operator; start it in the same column")
	}
}

func (p *parser) describe(t token) string {
	switch t.kind {
	case tEnd:
		return "the end of the line"
	case tString:
		return "a string"
	case tCite:
		return "a citation"
	case tWord:
		return fmt.Sprintf("the word %s", t.text)
	case tOp:
		if t.text == "_{" {
			return "a subscript"
		}
		return t.text
	}
	return p.in.Text[t.pos:t.end]
}

// finish reports what is left of the line.
func (p *parser) finish(what string) {
	if p.cur().kind != tEnd {
		p.expected(what)
	}
}

// open takes an opening bracket; bars inside are free of those outside. The
// returned function takes the closing one.
func (p *parser) open() (close func(op string)) {
	t := p.next()
	bars := p.bars
	p.bars = ""
	return func(op string) {
		p.bars = bars
		p.close(t, op)
	}
}

func (p *parser) close(opening token, op string) {
	if p.got(op) || p.failed {
		return
	}
	if t := p.cur(); t.kind == tEnd {
		p.errorf(diag.Unclosed, opening, "%s is not closed", opening.text).Labelf("opened here").Hint("write %s", op)
		return
	}
	if t := p.cur(); t.is(")") || t.is("]") || t.is("}") || t.is("⟩") {
		p.errorf(diag.Unopened, t, "%s does not close %s", t.text, opening.text).Labelf("expected %s", op)
	}
	p.expected(op)
	p.last.See(p.span(opening), "%s was opened here", opening.text)
}

// name takes a name that is being declared or referred to.
func (p *parser) name(what string) notation.Word {
	t := p.cur()
	switch {
	case t.kind == tName && notation.SubscriptWords[t.text] != "":
		p.errorf(diag.ReservedWord, t, "%s takes a subscript of its own and cannot be a name", t.text).Labelf("expected %s", what)
	case t.kind == tName && !t.bar:
		p.i++
		if s := p.cur(); s.is("_{") && !s.space {
			p.errorf(diag.Unexpected, s, "%s takes no time", what).Hint("write the name alone")
		}
		return notation.Word{Span: p.span(t), Text: t.text}
	case t.kind == tName:
		p.errorf(diag.Unexpected, t, "%s takes no bar", what).Hint("write the name alone")
	case t.kind == tWord || notation.SymbolWords[p.span(t).Text()] != "":
		p.errorf(diag.ReservedWord, t, "%s is a word of the language and cannot be a name", p.span(t).Text()).Labelf("expected %s", what)
	default:
		p.expected(what)
	}
	return notation.Word{Span: p.span(t), Text: t.text}
}

// enclosed takes a name in brackets, the first of which is next.
func (p *parser) enclosed(what, end string) notation.Word {
	closing := p.open()
	w := p.name(what)
	closing(end)
	return w
}

// text takes a string.
func (p *parser) text() *notation.Text {
	t := p.cur()
	if t.kind != tString {
		p.expected("a string")
		return &notation.Text{Span: p.span(t)}
	}
	p.i++
	return &notation.Text{Span: p.span(t), Value: t.text}
}
