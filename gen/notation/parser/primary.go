package parser

import (
	"math"
	"strconv"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// factor reads a primary and what is attached to it.
func (p *parser) factor() notation.Expr {
	p.depth++
	defer func() { p.depth-- }()
	if p.tooDeep() {
		return p.hole()
	}
	start := p.cur()
	x := p.primary()
	for {
		t := p.cur()
		switch {
		case t.is("ᵀ"):
			p.next()
			x = &notation.Transpose{Span: p.since(start), X: x}
		case t.kind == tSup:
			p.next()
			x = &notation.Power{Span: p.since(start), X: x, Exp: p.supExpr(t)}
		case t.is("^"):
			x = p.power(start, x)
		case t.is("."):
			p.next()
			name := p.name("the part's name")
			x = &notation.Field{Span: p.since(start), X: x, Name: name}
		case t.is("[") && !t.space:
			x = p.index(start, x)
		default:
			return x
		}
	}
}

// supExpr is the exponent that a run of superscripts means.
func (p *parser) supExpr(t token) notation.Expr {
	s := p.span(t)
	if t.text == "n" {
		return &notation.Ident{Span: s, Name: notation.Word{Span: s, Text: "n"}}
	}
	if t.text[0] == '-' {
		return &notation.Unary{Span: s, X: number(s, t.text[1:])}
	}
	return number(s, t.text)
}

func number(s notation.Span, text string) *notation.Number {
	switch text {
	case "½":
		return &notation.Number{Span: s, Value: 0.5, Text: text}
	case "∞":
		return &notation.Number{Span: s, Value: math.Inf(1), Text: text}
	}
	v, _ := strconv.ParseFloat(text, 64) // the scanner has read it once
	return &notation.Number{Span: s, Value: v, Text: text}
}

// power reads `^n`, `^−2`, `^{expr}` and `^⊤`.
func (p *parser) power(start token, x notation.Expr) notation.Expr {
	p.next()
	t := p.cur()
	switch {
	case t.is("{"):
		closing := p.open()
		e := p.union()
		closing("}")
		return &notation.Power{Span: p.since(start), X: x, Exp: e}
	case t.is("ᵀ"):
		p.next()
		return &notation.Transpose{Span: p.since(start), X: x}
	case t.is("−") && p.peek(1).kind == tNumber:
		p.next()
		n := p.next()
		e := &notation.Unary{Span: p.since(t), X: number(p.span(n), n.text)}
		return &notation.Power{Span: p.since(start), X: x, Exp: e}
	case t.kind == tNumber:
		p.next()
		return &notation.Power{Span: p.since(start), X: x, Exp: number(p.span(t), t.text)}
	case t.kind == tName:
		p.next()
		return &notation.Power{Span: p.since(start), X: x, Exp: p.ident(t)}
	}
	p.expected("an exponent")
	return x
}

// index reads `[i, j]` after x, and the call of a family's member.
func (p *parser) index(start token, x notation.Expr) notation.Expr {
	closing := p.open()
	at := sequence(p, ",", p.indexItem)
	closing("]")
	id, plain := x.(*notation.Ident)
	if t := p.cur(); plain && id.Time == nil && !id.Bar && t.is("(") && !t.space && p.callable(id.Name.Text) {
		c := p.call(start, id.Name)
		c.At = at
		return c
	}
	return &notation.Index{Span: p.since(start), X: x, At: at}
}

// indexItem reads one index; `(h,i)` is two names for one axis.
func (p *parser) indexItem() notation.Expr {
	start := p.cur()
	if !start.is("(") || !p.commaInside() {
		return p.union()
	}
	closing := p.open()
	items := sequence(p, ",", p.union)
	closing(")")
	return &notation.Tuple{Span: p.since(start), Items: items}
}

// commaInside reports whether the bracket that is next holds a comma or a
// semicolon of its own.
func (p *parser) commaInside() bool {
	depth := 0
	for i := 0; ; i++ {
		t := p.peek(i)
		switch {
		case t.kind == tEnd:
			return false
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{") || t.is("⟨"):
			depth++
		case t.is(")") || t.is("]") || t.is("}") || t.is("⟩"):
			if depth--; depth == 0 {
				return false
			}
		case depth == 1 && (t.is(",") || t.is(";")):
			return true
		}
	}
}

func (p *parser) primary() notation.Expr {
	t := p.cur()
	switch t.kind {
	case tNumber:
		p.next()
		return number(p.span(t), t.text)
	case tName:
		return p.named()
	case tWord:
		switch t.text {
		case "case":
			return p.caseOf()
		case "frozen":
			return p.frozen()
		}
	case tOp:
		return p.bracketed(t)
	}
	return p.noExpression()
}

// bracketed reads a primary that starts with a sign.
func (p *parser) bracketed(t token) notation.Expr {
	switch t.text {
	case "(":
		return p.paren()
	case "[":
		return p.list()
	case "{":
		return p.braces()
	case "|", "‖":
		return p.barred()
	case "⟨":
		closing := p.open()
		x := p.union()
		p.want(",")
		y := p.union()
		closing("⟩")
		return &notation.Inner{Span: p.since(t), X: x, Y: y}
	case "Σ", "Π":
		p.next()
		binders := p.subscript()
		body := p.product()
		return &notation.Reduce{Span: p.since(t), Op: t.text, Binders: binders, Body: body}
	case "∇":
		return p.grad()
	}
	return p.noExpression()
}

func (p *parser) paren() notation.Expr {
	t := p.cur()
	closing := p.open()
	x := p.cond()
	if c := p.cur(); c.is(",") || c.is(";") {
		p.errorf(diag.Unexpected, c, "a list is in parentheses").Labelf("expected )").
			Hint("write [a, b] for a list and [a; b] for a stack").See(p.span(t), "( was opened here")
	}
	closing(")")
	return x
}

// list reads `[a, b]` and `[a; b]`.
func (p *parser) list() notation.Expr {
	t := p.cur()
	closing := p.open()
	items := []notation.Expr{p.union()}
	sep := ","
	if p.cur().is(";") {
		sep = ";"
	}
	for p.got(sep) {
		items = append(items, p.union())
	}
	closing("]")
	if sep == ";" {
		return &notation.Stack{Span: p.since(t), Items: items}
	}
	return &notation.List{Span: p.since(t), Items: items}
}

// braces reads a piecewise value or a set.
func (p *parser) braces() notation.Expr {
	t := p.cur()
	closing := p.open()
	x := p.union()
	switch {
	case p.cur().word("if") || p.cur().word("otherwise"):
		arms := []*notation.Arm{p.arm(x)}
		for p.got(";") {
			arms = append(arms, p.arm(p.union()))
		}
		closing("}")
		return &notation.Piecewise{Span: p.since(t), Arms: arms}
	case p.got("…"):
		hi := p.union()
		closing("}")
		return &notation.Set{Span: p.since(t), Lo: x, Hi: hi}
	}
	items := []notation.Expr{x}
	for p.got(",") {
		items = append(items, p.union())
	}
	closing("}")
	return &notation.Set{Span: p.since(t), Items: items}
}

// arm reads the rest of `value if cond` or `value otherwise`.
func (p *parser) arm(value notation.Expr) *notation.Arm {
	a := &notation.Arm{Span: value.Where(), Value: value}
	if !p.gotWord("otherwise") {
		p.wantWord("if")
		a.Cond = p.conditions(true)
		a.Span = a.Span.To(a.Cond.Where())
	}
	return a
}

// caseOf reads `case x { = 1 : a ; nodecay : b ; otherwise : c }`.
func (p *parser) caseOf() notation.Expr {
	start := p.next()
	on := p.factor()
	c := &notation.Case{On: on}
	if !p.cur().is("{") {
		p.expected("{")
		return p.hole()
	}
	closing := p.open()
	c.Arms = sequence(p, ";", p.caseArm)
	closing("}")
	c.Span = p.since(start)
	return c
}

func (p *parser) caseArm() *notation.Arm {
	start := p.cur()
	a := &notation.Arm{}
	switch {
	case start.word("otherwise"):
		p.next()
	case start.oneOf(relations):
		a.Rel = p.next().text
		a.Cond = p.union()
	case start.kind == tName && !start.bar || start.word("nodecay"):
		p.next()
		a.Cond = &notation.Ident{Span: p.span(start), Name: notation.Word{Span: p.span(start), Text: start.text}}
	default:
		p.expected("a relation such as `= 1`, a word or otherwise")
	}
	p.want(":")
	a.Value = p.union()
	a.Span = p.since(start)
	return a
}

// barred reads |x| and ‖x‖.
func (p *parser) barred() notation.Expr {
	t := p.next()
	if p.bars != "" {
		p.errorf(diag.Bars, t, "bars are nested").Labelf("does this open or close?").
			Hint("put the inner bars in parentheses, or write norm(x) and abs(x)")
		return p.hole()
	}
	p.bars = t.text
	x := p.union()
	p.bars = ""
	p.close(t, t.text)
	if t.text == "|" {
		return &notation.Abs{Span: p.since(t), X: x}
	}
	return &notation.Norm{Span: p.since(t), X: x}
}

// grad reads `∇_M ℓ(…)`.
func (p *parser) grad() notation.Expr {
	start := p.next()
	var wrt notation.Word
	switch t := p.cur(); {
	case p.got("_"):
		wrt = p.name("a parameter of the function")
	case t.is("_{"):
		wrt = p.enclosed("a parameter of the function", "}")
	default:
		p.errorf(diag.BadGradient, start, "∇ does not say by which parameter").Hint("write ∇_M f(M, …), with M a parameter of f")
	}
	f := p.cur()
	if f.kind != tName || f.bar || !p.peek(1).is("(") {
		p.errorf(diag.BadGradient, f, "∇_%s needs one call", wrt.Text).Labelf("expected f(…)").
			Hint("define a function first, then write ∇_%s f(…)", wrt.Text)
		return p.hole()
	}
	p.next()
	c := p.call(f, notation.Word{Span: p.span(f), Text: f.text})
	return &notation.Grad{Span: p.since(start), Wrt: wrt, Call: c}
}

// frozen reads `frozen r(x)`.
func (p *parser) frozen() notation.Expr {
	start := p.next()
	x := p.factor()
	c, ok := x.(*notation.Call)
	if !ok {
		p.errorAt(diag.Unexpected, x.Where(), "frozen needs a call").Hint("write frozen r(x), with r a declared part")
		return p.hole()
	}
	return &notation.Frozen{Span: p.since(start), X: c}
}
