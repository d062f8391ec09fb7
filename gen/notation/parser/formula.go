package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Formulas: knobs over a front, and the arguments of pages.

// formula reads `A + B(p = 3) over F(unit = on)`.
func (p *parser) formula() *notation.Formula {
	start := p.cur()
	f := &notation.Formula{}
	if !start.word("over") {
		f.Parts = sequence(p, "+", p.apply)
	}
	if p.gotWord("over") {
		f.Over = p.apply()
	}
	f.Span = p.since(start)
	return f
}

// apply reads `Name(part, option = value)`.
func (p *parser) apply() *notation.Apply {
	start := p.cur()
	p.depth++
	defer func() { p.depth-- }()
	a := &notation.Apply{}
	if p.tooDeep() {
		return a
	}
	a.Name = p.unitName("the name of a page")
	if p.cur().is("(") {
		closing := p.open()
		if !p.cur().is(")") {
			a.Args = sequence(p, ",", p.argument)
		}
		closing(")")
	}
	a.Span = p.since(start)
	return a
}

func (p *parser) argument() *notation.Override {
	start := p.cur()
	o := &notation.Override{}
	if named := start.kind == tName && p.peek(1).is("="); p.listAhead(named) {
		if named {
			o.Name = p.name("a part")
			p.next()
		}
		closing := p.open()
		o.List = sequence(p, ",", p.apply)
		closing("]")
		o.Span = p.since(start)
		return o
	}
	if start.kind == tName && p.peek(1).is("=") {
		o.Name = p.name("an option")
		p.next()
		if page, options := p.pageAhead(); page && (options || p.callee(p.cur().text) == "") {
			o.Apply = p.apply()
		} else {
			o.Value = p.pageValue(p.sum())
		}
	} else if page, _ := p.pageAhead(); page || start.kind == tName && !start.bar && (p.peek(1).is(",") || p.peek(1).is(")")) {
		o.Apply = p.apply()
	} else {
		o.Value = p.sum()
	}
	o.Span = p.since(start)
	return o
}

// listAhead reports whether a list of pages is next, after a name and a sign.
func (p *parser) listAhead(named bool) bool {
	at := 0
	if named {
		at = 2
	}
	item, behind := p.peek(at+1), p.peek(at+2)
	return p.peek(at).is("[") && item.kind == tName && !item.bar && (behind.is("(") || behind.is(",") || behind.is("]"))
}

// unitName takes the name of a unit.
func (p *parser) unitName(what string) notation.Word {
	w := p.name(what)
	w.Text = notation.UnitName(w.Text)
	return w
}

// pageValue spells a lone name as a unit's where there is such a unit: the
// value may be a page in a part's place.
func (p *parser) pageValue(e notation.Expr) notation.Expr {
	if id, ok := e.(*notation.Ident); ok && id.Time == nil && !id.Bar && !p.callable(id.Name.Text) {
		if name := notation.UnitName(id.Name.Text); p.callable(name) {
			id.Name.Text = name
		}
	}
	return e
}

// pageAhead reports whether `Name(…)` is next as a whole argument, and
// whether an option is set in its parentheses.
func (p *parser) pageAhead() (page, options bool) {
	if t, n := p.cur(), p.peek(1); t.kind != tName || t.bar || !n.is("(") || n.space {
		return false, false
	}
	depth := 0
	for i := 1; ; i++ {
		t := p.peek(i)
		switch {
		case t.kind == tEnd:
			return true, options
		case t.is("(") || t.is("[") || t.is("{") || t.is("_{"):
			depth++
		case t.is(")") || t.is("]") || t.is("}"):
			if depth--; depth == 0 {
				after := p.peek(i + 1)
				return after.is(",") || after.is(")"), options
			}
		case depth == 1 && t.is("="):
			options = true
		}
	}
}

// overrides reads `with θ := 1, conv := 0`, if with is next.
func (p *parser) overrides() []*notation.Override {
	if !p.gotWord("with") {
		return nil
	}
	return sequence(p, ",", func() *notation.Override {
		start := p.cur()
		o := &notation.Override{Name: p.name("an option")}
		if p.cur().is("=") {
			p.errorf(diag.Unexpected, p.cur(), "= defines, it does not override").Labelf("expected :=").Hint("write with %s := …", o.Name.Text)
		}
		p.want(":=")
		o.Value = p.sum()
		o.Span = p.since(start)
		return o
	})
}
