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
		b.unit = &notation.Unit{} // a header with an error, already reported
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
		b.want("→")
		u.Result = b.define()
		u.Cite = u.Result.Cite
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
	for u.With == nil && b.cur().word("with") || u.Cite == nil && b.cur().is("@eq") {
		if b.cur().is("@eq") {
			u.Cite = b.cite()
		} else {
			u.With = b.overrides()
		}
	}
	b.finish("the end of the header")
	u.Span = b.since(start)
	return u
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
		w := p.enclosed("the axis that counts the parts", "]")
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
