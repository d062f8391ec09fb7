package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A body collects the units of one block.
type body struct {
	*parser
	units []*notation.Unit
	unit  *notation.Unit // the last header, also when it was broken
	items []item
	each  *notation.Each // the `each … :` whose lines are being read
	below int            // lines deeper than this belong to it; -1: all to the unit's end
	fresh bool           // its first line has not come yet
}

// An item is what one logical line was read as; Format prints them.
type item struct {
	line *logical
	node any // *Unit, Stmt, or nil after an error
	deep bool
}

func newBody(in *Input, known map[string]bool, diags *diag.List) *body {
	return &body{parser: &parser{in: in, diags: diags, known: known}}
}

// line reads one logical line and puts it where it belongs.
func (b *body) line(l *logical) {
	b.reset(l.toks, l.toks[0].pos)
	b.law = b.unit != nil && (b.unit.Kind == notation.LawUnit || b.unit.Kind == notation.AlgorithmUnit)
	first := l.toks[0]
	if isHeader(l.toks) {
		b.start(l, b.header())
		return
	}
	if (b.unit == nil || b.unit.Kind == notation.FuncUnit) && isFunction(l.toks) {
		b.start(l, b.function())
		return
	}
	s := b.statement()
	if b.unit == nil && s == nil {
		b.unit = &notation.Unit{} // a header that is none: said
	}
	if b.unit == nil {
		b.unit = &notation.Unit{}
		b.failed = false
		b.errorf(diag.StrayStatement, first, "this line stands before any unit").
			Hint("start with a header such as `rule Name`, or define a function `f(x) = …`")
	}
	deep := b.inEach(l)
	b.items = append(b.items, item{l, s, deep})
	if s == nil {
		return
	}
	if e, ok := s.(*notation.Each); ok && l.opens() {
		b.each, b.below, b.fresh = e, l.indent, true
		b.unit.Body = append(b.unit.Body, e)
		return
	}
	if deep {
		b.each.Body = append(b.each.Body, s)
		return
	}
	b.unit.Body = append(b.unit.Body, s)
}

// inEach reports whether the line belongs to the open `each … :`. Where the
// first line below it is not deeper, the body reaches to the unit's end.
func (b *body) inEach(l *logical) bool {
	if b.each == nil || l.opens() {
		return false
	}
	if b.fresh {
		b.fresh = false
		if l.indent <= b.below {
			b.below = -1
		}
	}
	if l.indent <= b.below {
		b.each = nil
	}
	return b.each != nil
}

// start opens a unit; a broken one takes its body but is not returned.
func (b *body) start(l *logical, u *notation.Unit) {
	b.unit, b.each = u, nil
	var node any
	if !b.failed {
		b.units = append(b.units, u)
		node = u
	}
	b.items = append(b.items, item{l, node, false})
}

// isHeader reports whether a line opens a unit.
func isHeader(toks []token) bool {
	return len(toks) > 1 && toks[0].kind == tName && !toks[0].bar && notation.UnitKinds[toks[0].text] != 0 &&
		toks[1].space && (toks[1].kind == tName || toks[1].kind == tWord)
}

// isFunction reports whether a line reads `name(…)… = …`.
func isFunction(toks []token) bool {
	return len(toks) > 1 && toks[0].kind == tName && toks[1].is("(")
}

func (b *body) function() *notation.Unit {
	u := &notation.Unit{Kind: notation.FuncUnit, Example: b.in.Example}
	u.Result = b.define()
	b.finish("the end of the definition")
	u.Name, u.Cite, u.Span = u.Result.Target.Name.Name, u.Result.Cite, u.Result.Span
	return u
}

// header reads the line that opens a unit.
func (b *body) header() *notation.Unit {
	start := b.next()
	u := &notation.Unit{Kind: notation.UnitKinds[start.text], Sched: start.text == "schedule", Example: b.in.Example}
	u.Name = b.unitName("the name of the " + start.text)
	if b.cur().is("(") {
		u.Params = b.params()
	}
	switch {
	case u.Kind == notation.OpUnit:
		b.opResult(u)
	case b.cur().is("=") || b.cur().word("over"):
		b.got("=")
		u.Formula = b.formula()
	case b.cur().word("for"):
		b.next()
		u.For = b.formula()
	case u.Kind == notation.UpdateUnit && b.cur().word("else"):
		b.next()
		u.Else = b.apply()
	}
	for {
		switch {
		case b.cur().word("with") && u.With == nil:
			u.With = b.overrides()
			continue
		case b.cur().is("@eq") && u.Cite == nil:
			u.Cite = b.cite()
			continue
		}
		break
	}
	b.finish("the end of the header")
	u.Span = b.since(start)
	return u
}

// opResult reads `→ out[idx] = expr` and its trailers.
func (b *body) opResult(u *notation.Unit) {
	b.want("→")
	u.Result = b.define()
	u.Cite = u.Result.Cite
}

// params reads `(A ∈ ℝ^{m×k}, memory : Rule; s)`. As in a declaration, bare
// names share the type of the next name of their group that has one.
func (p *parser) params() []*notation.Param {
	closing := p.open()
	var ps []*notation.Param
	group, run := 0, 0
	for len(ps) > 0 || !p.cur().is(")") {
		q := p.param(group)
		ps = append(ps, q)
		if q.Type != nil {
			for _, waiting := range ps[run : len(ps)-1] {
				waiting.Type = q.Type
			}
			run = len(ps)
		}
		if p.got(";") {
			group++
			run = len(ps)
		} else if !p.got(",") {
			break
		}
	}
	closing(")")
	return ps
}

func (p *parser) param(group int) *notation.Param {
	start := p.cur()
	q := &notation.Param{Name: p.name("a parameter"), Group: group}
	if p.cur().is("[") {
		closing := p.open()
		w := p.name("the axis that counts the parts")
		closing("]")
		q.List = &w
		if !p.cur().is(":") {
			p.expected(": and a kind of page")
		}
	}
	switch {
	case p.got("∈"):
		q.Type = p.typeAfter()
	case p.got(":"):
		q.Type = p.pageType()
	case p.cur().is("="):
		p.errorf(diag.HeaderDefault, p.cur(), "a parameter has no default").Labelf("%s is a configuration value", q.Name.Text).
			Hint("declare it in the body: option %s = …", q.Name.Text)
	}
	q.Span = p.since(start)
	return q
}

// formula reads `A + B(p = 3) over F(unit = on)`.
func (p *parser) formula() *notation.Formula {
	start := p.cur()
	f := &notation.Formula{}
	if !start.word("over") {
		f.Parts = append(f.Parts, p.apply())
		for p.got("+") {
			f.Parts = append(f.Parts, p.apply())
		}
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
		for len(a.Args) > 0 || !p.cur().is(")") {
			a.Args = append(a.Args, p.argument())
			if !p.got(",") {
				break
			}
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
		o.List = p.pages()
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

// listAhead reports whether a list of pages stands here, behind a name and a sign.
func (p *parser) listAhead(named bool) bool {
	at := 0
	if named {
		at = 2
	}
	item, behind := p.peek(at+1), p.peek(at+2)
	return p.peek(at).is("[") && item.kind == tName && !item.bar && (behind.is("(") || behind.is(",") || behind.is("]"))
}

// pages reads `[Page, Page(w = 3)]`.
func (p *parser) pages() []*notation.Apply {
	closing := p.open()
	list := []*notation.Apply{p.apply()}
	for p.got(",") {
		list = append(list, p.apply())
	}
	closing("]")
	return list
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

// pageAhead reports whether `Name(…)` stands here as a whole argument, and
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

// overrides reads `with θ := 1, conv := 0`; nothing when there is no with.
func (p *parser) overrides() []*notation.Override {
	if !p.gotWord("with") {
		return nil
	}
	var os []*notation.Override
	for {
		start := p.cur()
		o := &notation.Override{Name: p.name("an option")}
		if p.cur().is("=") {
			p.errorf(diag.Unexpected, p.cur(), "= defines, it does not override").Labelf("expected :=").Hint("write with %s := …", o.Name.Text)
		}
		p.want(":=")
		o.Value = p.sum()
		o.Span = p.since(start)
		os = append(os, o)
		if !p.got(",") {
			return os
		}
	}
}
