package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A declaration is a keyword and names with clauses. Names without a clause share the clauses
// of the next name that has some: in `outer W, U ∈ ℝ^{d×d} ~ normal(0, 1)` both names have
// the type and the start. Shared clauses are one node, so that the printer can tell them
// from equal ones.

func (p *parser) declare() notation.Stmt {
	start := p.cur()
	p.next()
	d := &notation.Declare{Keyword: notation.Word{Span: p.span(start), Text: start.text}}
	run := 0 // names before this index have their clauses
	for {
		n := p.declName()
		d.Names = append(d.Names, n)
		if n.HasClauses() {
			for _, waiting := range d.Names[run : len(d.Names)-1] {
				share(waiting, n)
			}
			run = len(d.Names)
		}
		if !p.got(",") {
			break
		}
	}
	d.Span = p.since(start)
	return d
}

// share gives n the clauses of m.
func share(n, m *notation.DeclName) {
	span, name, member := n.Span, n.Name, n.Member
	*n = *m
	n.Span, n.Name, n.Member = span, name, member
}

func (p *parser) declName() *notation.DeclName {
	start := p.cur()
	n := &notation.DeclName{Name: p.name("the name to declare")}
	if b := p.cur(); b.is("[") && !b.space {
		m := p.enclosed("the letter of a family", "]")
		n.Member = &m
	}
	for p.clause(n) {
	}
	n.Span = p.since(start)
	return n
}

// clause reads one clause of a declared name; false when none is next.
func (p *parser) clause(n *notation.DeclName) bool {
	t := p.cur()
	switch {
	case t.oneOf(bounds), t.is("∈"), t.is(":"):
		p.typeClause(n)
	case t.is("="):
		p.once(n.Init == nil && n.ByLevel == nil && n.Dist == nil, t)
		p.next()
		if p.cur().word("by") && p.peek(1).word("level") {
			p.i += 2
			p.byLevel(n)
		} else {
			n.Init = p.union()
		}
	case t.is("~"):
		p.once(n.Init == nil && n.ByLevel == nil && n.Dist == nil, t)
		p.next()
		n.Dist = p.factor()
		if _, ok := n.Dist.(*notation.Call); !ok {
			p.errorAt(diag.Clause, n.Dist.Where(), "a start is drawn from a distribution").Hint("write ~ uniform(a, b) or ~ normal(0, σ)")
		}
	case t.kind == tWord:
		return p.wordClause(n, t)
	default:
		return false
	}
	return true
}

func (p *parser) typeClause(n *notation.DeclName) {
	t := p.cur()
	p.once(n.Type == nil, t)
	switch {
	case p.got("∈"):
		n.Type = p.typeAfter()
	case p.got(":"):
		n.Type = p.pageType()
	default:
		n.Type = p.bound()
	}
}

// byLevel reads the list of `= by level [3.0, 4.0]`.
func (p *parser) byLevel(n *notation.DeclName) {
	t := p.cur()
	if !t.is("[") {
		p.expected("[ and one value a level")
		return
	}
	l, ok := p.list().(*notation.List)
	if !ok {
		p.errorf(diag.Clause, t, "levels are separated by commas").Hint("write by level [3.0, 4.0]")
		return
	}
	n.ByLevel = l.Items
}

func (p *parser) wordClause(n *notation.DeclName, t token) bool {
	switch t.text {
	case "within":
		p.once(n.Within == nil, t)
		p.next()
		if b := p.cur(); !b.is("[") && !b.is("(") {
			p.expected("an interval such as [a, b]")
			return true
		}
		n.Within = p.typeAfter()
	case "of", "at":
		p.next()
		w := p.name("a name")
		if t.text == "of" {
			p.once(n.Of == nil, t)
			n.Of = &w
		} else {
			p.once(n.At == nil, t)
			n.At = &w
		}
	case "seed":
		p.once(n.Seed == nil, t)
		p.next()
		n.Seed = p.factor()
	case "nodecay", "entrywise", "nograd", "per", "replicate":
		p.attribute(n, t)
	default:
		return false
	}
	return true
}

func (p *parser) attribute(n *notation.DeclName, t token) {
	p.next()
	a := &notation.Word{Span: p.span(t), Text: t.text}
	switch t.text {
	case "per":
		if c := p.name("chunk"); c.Text != "chunk" {
			p.errorAt(diag.Unexpected, c.Span, "per is followed by chunk")
		}
		a.Text, a.Span = "per chunk", p.since(t)
	case "nograd":
		if p.cur().kind == tString {
			n.Reason = p.text()
		}
	}
	for _, b := range n.Attrs {
		p.once(b.Text != a.Text, t)
	}
	n.Attrs = append(n.Attrs, a)
}

// once refuses a clause that is written twice.
func (p *parser) once(ok bool, t token) {
	if !ok {
		p.errorf(diag.Clause, t, "a second clause of this kind for one name").Labelf("the first is before").
			Hint("keep one of the two, or separate two names with a comma")
	}
}
