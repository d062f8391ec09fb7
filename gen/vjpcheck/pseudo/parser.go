// Package pseudo is the pseudo-language of tables of adjoints: its lexer, its
// parser, and its expressions. It has the signs @ * / + - ^T ^2 ⊗ ||x||, sums and
// means (sum_ij, mean_t), indices, 1_{condition}, and ranges a..b.
package pseudo

import "strings"

// A recursive descent parser, one method per level of precedence.

// A parser reads one expression of the pseudo-language.
type parser struct {
	toks []token
	i    int
	err  error
}

// Parse reads a text that is one expression and nothing else.
func Parse(text string) (*Node, error) {
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
		p.err = Gapf(format, args...)
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

func (p *parser) relation() *Node {
	n := p.sum()
	for _, op := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if p.got(op) {
			return &Node{Kind: Relation, Text: op, Kids: []*Node{n, p.sum()}}
		}
	}
	return n
}

func (p *parser) sum() *Node {
	n := p.product()
	for p.cur().text == "+" || p.cur().text == "-" {
		op := p.cur().text
		p.i++
		n = &Node{Kind: Binary, Text: op, Kids: []*Node{n, p.product()}}
	}
	return n
}

func (p *parser) product() *Node {
	n := p.unary()
	for strings.Contains("*/@⊗", p.cur().text) && p.cur().text != "" {
		op := p.cur().text
		p.i++
		n = &Node{Kind: Binary, Text: op, Kids: []*Node{n, p.unary()}}
	}
	return n
}

func (p *parser) unary() *Node {
	if p.got("-") {
		return &Node{Kind: Negate, Kids: []*Node{p.unary()}}
	}
	return p.postfix()
}

func (p *parser) postfix() *Node {
	n := p.primary()
	for p.err == nil {
		switch {
		case p.got("["):
			n = &Node{Kind: Index, Kids: append([]*Node{n}, p.list("]", p.position)...)}
		case p.got("^"):
			if p.got("T") {
				n = &Node{Kind: Transpose, Kids: []*Node{n}}
				break
			}
			n = &Node{Kind: Power, Kids: []*Node{n, p.primary()}}
		case p.cur().text == "as" && p.cur().word:
			p.i++
			if t := p.cur(); !t.word {
				p.unexpected()
			}
			p.i++
			n = &Node{Kind: Truth, Kids: []*Node{n}}
		default:
			return n
		}
	}
	return n
}

// position reads an index: an expression or a range.
func (p *parser) position() *Node {
	n := p.relation()
	if p.got("..") {
		return &Node{Kind: Span, Kids: []*Node{n, p.relation()}}
	}
	return n
}

func (p *parser) list(end string, item func() *Node) []*Node {
	var out []*Node
	for p.err == nil {
		out = append(out, item())
		if p.got(end) {
			break
		}
		p.want(",")
	}
	return out
}

func (p *parser) primary() *Node {
	switch t := p.cur(); {
	case t.num:
		p.i++
		return &Node{Kind: Number, Value: t.value, Text: t.text}
	case t.word:
		p.i++
		if p.got("(") {
			return function(t.text, p.list(")", p.relation))
		}
		return NameOf(t.text)
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
		return &Node{Kind: Norm, Kids: []*Node{n}}
	case p.got("1_{"):
		n := p.relation()
		p.want("}")
		return &Node{Kind: Truth, Kids: []*Node{n}}
	}
	p.unexpected()
	return &Node{Kind: Number}
}

// reductions are the words that take letters as a subscript.
var reductions = map[string]bool{"sum": true, "mean": true}

// function is a call, or a reduction such as sum_ij(…) or sum(…).
func function(text string, args []*Node) *Node {
	word, letters, _ := strings.Cut(text, "_")
	if reductions[word] && len(args) == 1 {
		n := &Node{Kind: Reduce, Text: word, Kids: args}
		switch {
		case letters != "" && args[0].Mentions(letters):
			n.Letters = []string{letters}
		case letters != "":
			n.Letters = strings.Split(letters, "")
		}
		return n
	}
	return &Node{Kind: Call, Text: text, Kids: args}
}
