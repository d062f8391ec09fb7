package parser

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Expressions, from loose to tight, one function a level of precedence:
//
//	cond      a and b          also with a comma where commas separate nothing else
//	relation  a ≤ b < c        a chain is an And that shares its middle
//	union     a ∪ b
//	sum       a + b − c
//	term      −a               the minus negates the whole product
//	product   a · b            one of · ⊙ / mod ∘; two different ones need parentheses
//	row       a b c            juxtaposition
//	factor    a postfixes      primary.go
//
// Σ and Π are factors whose operand is a product; they end a row.

// cond reads relations joined by and.
func (p *parser) cond() notation.Expr { return p.conditions(false) }

// conditions reads relations joined by and, and by commas where comma is set.
func (p *parser) conditions(comma bool) notation.Expr {
	start := p.cur()
	x := p.relation()
	for p.gotWord("and") || comma && p.got(",") {
		y := p.relation()
		x = &notation.And{Span: p.since(start), X: x, Y: y}
	}
	return x
}

func (p *parser) relation() notation.Expr {
	start := p.cur()
	x := p.union()
	var all notation.Expr
	for p.cur().oneOf(relations) {
		op := p.next().text
		y := p.union()
		r := &notation.Relation{Span: p.since(start), Op: op, X: x, Y: y}
		if all == nil {
			all = r
		} else {
			all = &notation.And{Span: p.since(start), X: all, Y: r}
		}
		x = y
	}
	if all == nil {
		return x
	}
	return all
}

func (p *parser) union() notation.Expr { return p.leftToRight([]string{"∪"}, p.sum) }

func (p *parser) sum() notation.Expr { return p.leftToRight([]string{"+", "−"}, p.term) }

// leftToRight reads operands with operators of one level between them.
func (p *parser) leftToRight(operators []string, operand func() notation.Expr) notation.Expr {
	start := p.cur()
	x := operand()
	for p.cur().oneOf(operators) {
		op := p.next().text
		y := operand()
		x = &notation.Binary{Span: p.since(start), Op: op, X: x, Y: y}
	}
	return x
}

func (p *parser) term() notation.Expr {
	start := p.cur()
	if !start.is("−") {
		return p.product()
	}
	p.depth++
	defer func() { p.depth-- }()
	p.next()
	if p.tooDeep() {
		return p.hole()
	}
	x := p.term()
	return &notation.Unary{Span: p.since(start), X: x}
}

func (p *parser) product() notation.Expr {
	start := p.cur()
	x, _ := p.row()
	var first token
	for p.cur().oneOf(products) {
		op := p.next()
		if first.text == "" {
			first = op
		}
		if first.text != op.text {
			p.errorf(diag.MixedOperators, op, "%s and %s stand on one level", first.text, op.text).
				Labelf("which comes first?").Hint("put one of the two products in parentheses").
				See(p.span(first), "the other operator")
			return x
		}
		operand := p.cur()
		y, alone := p.row()
		if op.text == "/" {
			p.oneFactor(op, operand, y, alone)
		}
		x = &notation.Binary{Span: p.since(start), Op: op.text, X: x, Y: y}
		if p.halves && notation.IsHalf(x) {
			x = number(x.Where(), notation.HalfText)
		}
	}
	return x
}

// oneFactor reports a right operand of / that is more than one factor.
func (p *parser) oneFactor(op, operand token, y notation.Expr, alone bool) {
	switch {
	case !alone:
		p.errorAt(diag.DivideRow, y.Where(), "/ is followed by %d factors", len(y.(*notation.Juxt).Items)).
			Labelf("is this all below the line?").Hint("write a / (b c) or (a / b) c").See(p.span(op), "the division")
	case operand.is("Σ") || operand.is("Π"):
		p.errorf(diag.DivideRow, operand, "/ is followed by %s, which reaches to the next + or −", operand.text).
			Hint("put the sum in parentheses").See(p.span(op), "the division")
	}
}

// row reads factors side by side; alone says that it is one factor.
func (p *parser) row() (x notation.Expr, alone bool) {
	start := p.cur()
	x = p.factor()
	if !p.startsFactor() {
		return x, true
	}
	items := []notation.Expr{x}
	last := start
	for p.startsFactor() {
		t := p.cur()
		if isBar(t) && isBar(last) && p.bars == "" {
			p.errorf(diag.Bars, t, "bars are adjacent").Labelf("does this open or close?").
				Hint("write · between the two, or put one in parentheses").See(p.span(last), "the other bars")
			break
		}
		last = t
		items = append(items, p.factor())
	}
	return &notation.Juxt{Span: p.since(start), Items: items}, false
}

func isBar(t token) bool { return t.is("|") || t.is("‖") }

// startsFactor reports whether the next token can go on a row.
func (p *parser) startsFactor() bool {
	t := p.cur()
	switch t.kind {
	case tName, tNumber:
		return true
	case tWord:
		return t.text == "case" || t.text == "frozen"
	case tOp:
	default:
		return false
	}
	switch t.text {
	case "(", "[", "⟨", "Σ", "Π", "∇":
		return true
	case "|", "‖":
		return p.bars != t.text
	case "{":
		return !p.atTag()
	}
	return false
}

// atTag reports whether `{word}` is next, at the end of the statement.
func (p *parser) atTag() bool {
	i := 1
	for ; ; i++ {
		t := p.peek(i)
		if !(t.kind == tName && !t.bar || t.kind == tWord || t.kind == tNumber && i > 1 || t.is(":") || t.is(".") || t.is("−")) || i > 1 && t.space {
			break
		}
	}
	after := p.peek(i + 1)
	return i > 1 && p.peek(i).is("}") && (after.kind == tEnd || after.is("@eq") || after.kind == tString || after.word("with"))
}

// tooDeep reports nesting beyond the limit.
func (p *parser) tooDeep() bool {
	if p.depth <= maxDepth {
		return false
	}
	p.errorf(diag.TooDeep, p.cur(), "more than %d levels of nesting", maxDepth).Hint("name a part of the expression")
	return true
}

// hole is the node of a missing expression.
func (p *parser) hole() notation.Expr {
	t := p.cur()
	return &notation.Ident{Span: p.span(t), Name: notation.Word{Span: p.span(t)}}
}

func (p *parser) noExpression() notation.Expr {
	t := p.cur()
	if p.failed {
		return p.hole()
	}
	switch {
	case t.is("×") || t.is(")") || t.is("]") || t.is("}") || t.is("⟩"):
		p.expected("an expression")
	case t.kind == tWord && !isInner(t.text):
		p.errorf(diag.ReservedWord, t, "%s is a word of the language and cannot be a name", t.text).Labelf("expected an expression")
	case t.is("−"):
		p.errorf(diag.NoExpression, t, "a minus is after an operator").Hint("put the negative factor in parentheses")
	default:
		d := p.errorf(diag.NoExpression, t, "expected an expression, found %s", p.describe(t))
		p.hintLayout(d, t)
	}
	return p.hole()
}

func isInner(w string) bool { return slices.Contains(notation.InnerWords, w) }
