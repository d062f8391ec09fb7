package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// named reads what starts with a name: a reduction, a call, a norm in words or
// a name with its time.
func (p *parser) named() notation.Expr {
	t := p.next()
	after := p.cur()
	if !t.bar && notation.SubscriptWords[t.text] == t.text && (after.is("_{") || after.is("_")) && !after.space {
		return p.reduce(t)
	}
	if t.bar || !after.is("(") || after.space {
		return p.ident(t)
	}
	name := notation.Word{Span: p.span(t), Text: p.callee(t.text)}
	if name.Text == "" {
		name.Text = t.text
		if !p.commaInside() {
			return p.ident(t)
		}
		c := p.call(t, name)
		p.errorf(diag.NoFunction, t, "%s is called, but no function or part has that name", t.text).
			Labelf("a product holds no comma").Hint("define %s(…) = … or declare it as a part", t.text)
		return c
	}
	c := p.call(t, name)
	if len(c.Semi) == 0 {
		switch {
		case t.text == "norm" && len(c.Args) == 1:
			return &notation.Norm{Span: c.Span, X: c.Args[0]}
		case t.text == "abs" && len(c.Args) == 1:
			return &notation.Abs{Span: c.Span, X: c.Args[0]}
		case t.text == "inner" && len(c.Args) == 2:
			return &notation.Inner{Span: c.Span, X: c.Args[0], Y: c.Args[1]}
		}
	}
	return c
}

// ident reads the time in braces after the name t.
func (p *parser) ident(t token) *notation.Ident {
	id := &notation.Ident{Span: p.span(t), Name: notation.Word{Span: p.span(t), Text: t.text}, Bar: t.bar}
	if s := p.cur(); s.is("_{") && !s.space {
		closing := p.open()
		id.Time = p.union()
		closing("}")
		id.Span = p.since(t)
	}
	return id
}

// call reads the arguments of a function.
func (p *parser) call(start token, fun notation.Word) *notation.Call {
	c := &notation.Call{Fun: fun}
	closing := p.open()
	if !p.cur().is(")") {
		c.Args = append(c.Args, p.union())
		for {
			if p.got(";") {
				c.Semi = append(c.Semi, len(c.Args))
			} else if !p.got(",") {
				break
			}
			c.Args = append(c.Args, p.union())
		}
	}
	closing(")")
	c.Span = p.since(start)
	return c
}

// reduce reads `softmax_{j∈c}(x)` and `mean_{t∈T}(x), empty = 0`.
func (p *parser) reduce(t token) notation.Expr {
	r := &notation.Reduce{Op: t.text, Binders: p.subscript()}
	if !p.cur().is("(") {
		p.errorf(diag.Unexpected, p.cur(), "%s needs parentheses that end it", t.text).Labelf("expected (").
			Hint("write %s_{…}(…); only Σ and Π reach to the next + or −", t.text)
		return p.hole()
	}
	closing := p.open()
	r.Body = p.union()
	closing(")")
	if p.cur().is(",") && p.peek(1).name("empty") && p.peek(2).is("=") {
		p.i += 3
		minus := p.cur()
		if p.got("−") {
			x := p.factor()
			r.Empty = &notation.Unary{Span: p.since(minus), X: x}
		} else {
			r.Empty = p.factor()
		}
	}
	r.Span = p.since(t)
	return r
}

// subscript reads `_i` or `_{binders}`.
func (p *parser) subscript() []*notation.Binder {
	t := p.cur()
	if p.got("_") {
		w := p.name("the name that is bound")
		return []*notation.Binder{{Span: w.Span, Name: w}}
	}
	if !t.is("_{") {
		p.errorf(diag.BadBinder, t, "the range is missing").Labelf("expected _{i∈…}").Hint("write Σ_{i∈n} or Σ_i where the range of i is known")
		return nil
	}
	closing := p.open()
	bs := p.binders()
	closing("}")
	return bs
}

// binders reads `i∈r, (h∈H, i∈d), i<t` up to a closing bracket.
func (p *parser) binders() []*notation.Binder {
	var bs []*notation.Binder
	for {
		t := p.cur()
		switch {
		case p.atBinder():
			bs = append(bs, p.binder())
		case t.is("(") && p.tupleAhead() && p.commaInside():
			bs = append(bs, p.tuple())
		case len(bs) == 0:
			p.errorf(diag.BadBinder, t, "nothing is bound before this").Labelf("expected a name").Hint("write i∈r, then conditions")
		default:
			c := p.relation()
			b := bs[len(bs)-1]
			if b.Cond != nil {
				c = &notation.And{Span: b.Cond.Where().To(c.Where()), X: b.Cond, Y: c}
			}
			b.Cond = c
			b.Span = b.Span.To(c.Where())
		}
		if !p.got(",") {
			return bs
		}
	}
}

// atBinder reports whether a bound name is next, and not the start
// of a condition.
func (p *parser) atBinder() bool {
	t, n := p.cur(), p.peek(1)
	return t.kind == tName && !t.bar &&
		(n.is("∈") || n.is(",") || n.is("}") || n.is("]") || n.is(")") || n.is(":") || n.kind == tEnd || n.word("if"))
}

func (p *parser) binder() *notation.Binder {
	t := p.next()
	b := &notation.Binder{Name: notation.Word{Span: p.span(t), Text: t.text}}
	if p.got("∈") {
		b.Range = p.union()
	}
	if p.gotWord("per") {
		if w := p.name("chunk"); w.Text != "chunk" {
			p.errorAt(diag.Unexpected, w.Span, "per is followed by chunk")
		}
		b.PerChunk = true
	}
	if p.gotWord("if") {
		b.Cond = p.cond()
	}
	b.Span = p.since(t)
	return b
}

// tupleAhead reports whether `(h∈H` or `(h, i` is next.
func (p *parser) tupleAhead() bool {
	name, sep := p.peek(1), p.peek(2)
	return name.kind == tName && (sep.is("∈") || sep.is(","))
}

// tuple reads `(h∈H, i∈d_h)`: two names for one axis.
func (p *parser) tuple() *notation.Binder {
	t := p.cur()
	closing := p.open()
	b := &notation.Binder{}
	for {
		if !p.atBinder() {
			p.errorf(diag.BadBinder, p.cur(), "expected a bound name, found %s", p.describe(p.cur()))
			break
		}
		b.Tuple = append(b.Tuple, p.binder())
		if !p.got(",") {
			break
		}
	}
	closing(")")
	b.Span = p.since(t)
	return b
}
