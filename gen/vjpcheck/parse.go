package vjpcheck

import "strings"

// A parser reads one expression of the pseudo-language.
type parser struct {
	toks []token
	i    int
	err  error
}

// parseExpr reads a text that is one expression and nothing else.
func parseExpr(text string) (*node, error) {
	p := &parser{toks: lex(text)}
	n := p.relation()
	if p.err == nil && p.i < len(p.toks) {
		p.fail("it goes on in words at column %d", p.cur().column)
	}
	if p.err != nil {
		return nil, p.err
	}
	return n, nil
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = open(format, args...)
	}
	p.i = len(p.toks)
}

func (p *parser) cur() token {
	if p.i < len(p.toks) {
		return p.toks[p.i]
	}
	return token{}
}

func (p *parser) got(text string) bool {
	if p.i < len(p.toks) && p.cur().text == text {
		p.i++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if !p.got(text) {
		p.unexpected()
	}
}

// unexpected names what cannot be read without quoting the line.
func (p *parser) unexpected() {
	switch t := p.cur(); {
	case p.i >= len(p.toks):
		p.fail("it ends where an operand should stand")
	case t.text == "...":
		p.fail("an ellipsis leaves open how many parts there are")
	case t.word:
		p.fail("there are words where a sign should stand, at column %d", t.column)
	default:
		p.fail("the sign at column %d is not understood", t.column)
	}
}

func (p *parser) relation() *node {
	n := p.sum()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.got(op) {
			return &node{kind: relation, text: op, kids: []*node{n, p.sum()}}
		}
	}
	return n
}

func (p *parser) sum() *node {
	n := p.product()
	for p.cur().text == "+" || p.cur().text == "-" {
		op := p.cur().text
		p.i++
		n = &node{kind: binary, text: op, kids: []*node{n, p.product()}}
	}
	return n
}

func (p *parser) product() *node {
	n := p.unary()
	for strings.Contains("*/@⊗", p.cur().text) && p.cur().text != "" {
		op := p.cur().text
		p.i++
		n = &node{kind: binary, text: op, kids: []*node{n, p.unary()}}
	}
	return n
}

func (p *parser) unary() *node {
	if p.got("-") {
		return &node{kind: negate, kids: []*node{p.unary()}}
	}
	return p.postfix()
}

func (p *parser) postfix() *node {
	n := p.primary()
	for p.err == nil {
		switch {
		case p.got("["):
			n = &node{kind: index, kids: append([]*node{n}, p.list("]", p.position)...)}
		case p.got("^"):
			if p.got("T") {
				n = &node{kind: transpose, kids: []*node{n}}
				break
			}
			n = &node{kind: power, kids: []*node{n, p.primary()}}
		case p.cur().text == "as" && p.cur().word:
			p.i++
			if t := p.cur(); !t.word {
				p.unexpected()
			}
			p.i++
			n = &node{kind: truth, kids: []*node{n}}
		default:
			return n
		}
	}
	return n
}

// position is what stands in an index: an expression or a range.
func (p *parser) position() *node {
	n := p.relation()
	if p.got("..") {
		return &node{kind: span, kids: []*node{n, p.relation()}}
	}
	return n
}

func (p *parser) list(end string, item func() *node) []*node {
	var out []*node
	for p.err == nil {
		out = append(out, item())
		if p.got(end) {
			break
		}
		p.want(",")
	}
	return out
}

func (p *parser) primary() *node {
	switch t := p.cur(); {
	case t.num:
		p.i++
		return &node{kind: number, value: t.value, text: t.text}
	case t.word:
		p.i++
		if p.got("(") {
			return function(t.text, p.list(")", p.relation))
		}
		return named(t.text)
	case p.got("("):
		n := p.relation()
		p.want(")")
		return n
	case p.got("||"):
		n := p.sum()
		p.want("||")
		if s := p.cur(); s.word && s.text == "_2" {
			p.i++
		}
		return &node{kind: norm, kids: []*node{n}}
	case p.got("1_{"):
		n := p.relation()
		p.want("}")
		return &node{kind: truth, kids: []*node{n}}
	}
	p.unexpected()
	return &node{kind: number}
}

// reductions are the words that take letters as a subscript.
var reductions = map[string]bool{"sum": true, "mean": true}

// function is a call, or a reduction such as sum_ij(…) or sum(…).
func function(text string, args []*node) *node {
	word, letters, _ := strings.Cut(text, "_")
	if reductions[word] && len(args) == 1 {
		n := &node{kind: reduce, text: word, kids: args}
		switch {
		case letters != "" && args[0].mentions(letters):
			n.letters = []string{letters}
		case letters != "":
			n.letters = strings.Split(letters, "")
		}
		return n
	}
	return &node{kind: call, text: text, kids: args}
}
