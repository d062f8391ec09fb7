package parser

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Statements about a unit: claims, invariants, properties, special cases, costs.

// claim reads claim, eval, adjoint and relax.
func (p *parser) claim() notation.Stmt {
	start := p.next()
	c := &notation.Claim{Keyword: notation.Word{Span: p.span(start), Text: start.text}}
	if p.got("≡") {
		c.Right = p.union()
	} else {
		c.Left = p.union()
		p.want("=")
		c.Right = p.union()
	}
	tr := p.trailers(true)
	c.With, c.Reason, c.Tag, c.Cite = tr.with, tr.reason, tr.tag, tr.cite
	c.Span = p.since(start)
	return c
}

// kink reads `kink |ℓ.r[i]| = δ : C¹`.
func (p *parser) kink() notation.Stmt {
	start := p.next()
	k := &notation.Kink{Left: p.union()}
	p.want("=")
	k.Right = p.union()
	p.want(":")
	t := p.next()
	switch up := p.cur(); {
	case t.name("C⁰"):
		k.Class = notation.Word{Span: p.span(t), Text: "C⁰"}
	case t.name("C") && up.kind == tSup && up.text == "1":
		p.next()
		k.Class = notation.Word{Span: p.since(t), Text: "C¹"}
	case t.name("C") && up.is("^") && p.peek(1).kind == tNumber && p.peek(1).text == "1":
		p.i += 2
		k.Class = notation.Word{Span: p.since(t), Text: "C¹"}
	default:
		p.errorf(diag.Unexpected, t, "a kink is of class C⁰ or C¹, found %s", p.describe(t))
	}
	k.Span = p.since(start)
	return k
}

// invariant reads `invariant ∀ i∈m : ‖S_t[i]‖ = 1 {tag}`.
func (p *parser) invariant() notation.Stmt {
	start := p.next()
	v := &notation.Invariant{}
	if p.got("∀") {
		v.Binders = p.binders()
		p.want(":")
	}
	v.Cond = p.conditions(true)
	if p.atTag() && p.cur().is("{") {
		v.Tag = p.tag()
	}
	v.Span = p.since(start)
	return v
}

// provides reads `provides A, B(M)` and `requires A(M) "reason"`.
func (p *parser) provides() notation.Stmt {
	start := p.next()
	s := &notation.Provides{Needs: start.text == "requires"}
	s.Marks = sequence(p, ",", p.mark)
	if s.Needs {
		s.Reason = p.text()
	}
	s.Span = p.since(start)
	return s
}

func (p *parser) mark() *notation.Mark {
	start := p.cur()
	m := &notation.Mark{Name: p.name("a marker")}
	if p.cur().is("(") {
		closing := p.open()
		m.Args = sequence(p, ",", func() notation.Word { return p.memberName("a name") })
		closing(")")
	}
	m.Span = p.since(start)
	return m
}

// special reads `special A with drive := decode = B + C with η := 0`.
func (p *parser) special() notation.Stmt {
	start := p.next()
	s := &notation.Special{Left: p.formula()}
	s.LWith = p.overrides()
	p.want("=")
	s.Right = p.formula()
	s.With = p.overrides()
	s.Span = p.since(start)
	return s
}

// trial reads `trial Composition(Rule, Attention)`.
func (p *parser) trial() notation.Stmt {
	start := p.next()
	s := &notation.Trial{Formula: p.formula()}
	s.Span = p.since(start)
	return s
}

// erratum reads `erratum paper#11 "text" by claim write.gradient`.
func (p *parser) erratum() notation.Stmt {
	start := p.next()
	e := &notation.Erratum{Cite: p.citation()}
	e.Text = p.text()
	p.wantWord("by")
	p.wantWord("claim")
	e.By = p.claimName()
	e.Span = p.since(start)
	return e
}

// claimName reads the text of a tag, `adj:q`, as it is written: a tag's text
// has one spelling in both styles.
func (p *parser) claimName() notation.Word {
	start := p.cur()
	if start.kind != tName && start.kind != tWord || start.bar {
		p.expected("the name of a claim")
		return notation.Word{Span: p.span(start)}
	}
	p.next()
	for t := p.cur(); !t.space && (t.kind == tName && !t.bar || t.kind == tWord || t.kind == tNumber || t.is(":") || t.is(".") || t.is("−") || t.is("_")); t = p.cur() {
		p.next()
	}
	s := p.since(start)
	return notation.Word{Span: s, Text: s.Text()}
}

// noGrad reads `nograd x "reason"`.
func (p *parser) noGrad() notation.Stmt {
	start := p.next()
	n := &notation.NoGrad{Name: p.memberName("a name")}
	n.Reason = p.text()
	n.Span = p.since(start)
	return n
}

// cost reads `cost write+read = 4·d_k·d_v + O(d_k + d_v)`.
func (p *parser) cost() notation.Stmt {
	start := p.next()
	c := &notation.Cost{}
	first := p.cur()
	var names []string
	for {
		t := p.next()
		if t.kind != tName && t.kind != tWord {
			p.errorf(diag.Unexpected, t, "expected what is counted, found %s", p.describe(t)).Hint("write cost write+read = …")
		}
		names = append(names, t.text)
		if !p.got("+") {
			break
		}
	}
	c.Name = notation.Word{Span: p.since(first), Text: strings.Join(names, "+")}
	p.want("=")
	c.Value = p.sum()
	c.Value, c.Big = splitBig(c.Value)
	if p.cur().is("{") && p.atTag() {
		c.Tag = p.tag()
	}
	c.Span = p.since(start)
	return c
}

// splitBig takes a last summand O(…) off a sum.
func splitBig(e notation.Expr) (value, big notation.Expr) {
	isBig := func(e notation.Expr) notation.Expr {
		if c, ok := e.(*notation.Call); ok && c.Fun.Text == "O" && len(c.Args) == 1 && len(c.At) == 0 {
			return c.Args[0]
		}
		return nil
	}
	if b, ok := e.(*notation.Binary); ok && b.Op == "+" {
		if o := isBig(b.Y); o != nil {
			return b.X, o
		}
	}
	if o := isBig(e); o != nil {
		return nil, o
	}
	return e, nil
}
