package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Statements that compute by iteration or over levels: solve, iterate, fit, each, level,
// guard.

// solve reads `solve ζ[i∈r] ∈ [lo, hi] : equation tol 1e-10`, which defines ζ
// as an equation does, with the clauses of one.
func (p *parser) solve() notation.Stmt {
	start := p.next()
	d := p.unknown()
	tr := p.trailers(false)
	d.With, d.Label, d.Cite = tr.with, tr.tag, tr.cite
	d.Span = p.since(start)
	return d
}

// unknown reads the unknown and its domain after the word solve.
func (p *parser) unknown() *notation.Define {
	d := &notation.Define{Target: p.target()}
	start := p.cur()
	s := &notation.Solve{}
	if p.got("∈") {
		s.Domain = p.typeAfter()
	}
	p.want(":")
	s.Left = p.union()
	p.want("=")
	s.Right = p.union()
	if p.gotWord("tol") {
		s.Tol = p.factor()
	}
	s.Span = p.since(start)
	d.Value = s
	return d
}

// iterate reads `iterate X from e for 5 : X ← e' with A = … orient rows ≤ cols`.
func (p *parser) iterate() notation.Stmt {
	start := p.next()
	s := &notation.Iterate{Name: p.name("the name to iterate")}
	p.wantWord("from")
	s.From = p.union()
	p.wantWord("for")
	if p.cur().kind == tName && p.peek(1).is("∈") {
		w := p.name("an index")
		s.Index = &w
		p.want("∈")
	}
	s.Count = p.sum()
	p.want(":")
	again := p.cur()
	if w := p.name(s.Name.Text); w.Text != s.Name.Text {
		p.errorf(diag.Unexpected, again, "the step sets %s, but %s is iterated", w.Text, s.Name.Text).See(s.Name.Span, "the name to iterate")
	}
	p.want("←")
	s.Step = p.union()
	for s.With == nil && p.cur().word("with") || !s.Orient && p.cur().word("orient") {
		if p.next().text == "with" {
			s.With = p.locals()
			continue
		}
		s.Orient = true // rows ≤ cols is the one form that there is
		if !p.cur().name("rows") || !p.peek(1).is("≤") || !p.peek(2).name("cols") {
			p.expected("rows ≤ cols")
		}
		p.i += 3
	}
	s.Span = p.since(start)
	return s
}

// fit reads `fit M : M k_t → v_t with …`.
func (p *parser) fit() notation.Stmt {
	start := p.next()
	f := &notation.Fit{Weights: sequence(p, ",", func() notation.Word { return p.name("a weight") })}
	p.want(":")
	f.Predict = p.union()
	p.want("→")
	f.Target = p.union()
	if p.gotWord("with") {
		f.With = p.locals()
	}
	f.Span = p.since(start)
	return f
}

// each reads the head of `each W of structure : body`, and the body where it
// is on the same line.
func (p *parser) each() notation.Stmt {
	start := p.next()
	e := &notation.Each{Fit: p.gotWord("fit")}
	if p.cur().is("(") {
		closing := p.open()
		e.Name = p.name("a weight")
		p.want(":")
		e.Predict = p.slot()
		p.want("→")
		e.Target = p.slot()
		closing(")")
	} else {
		e.Name = p.name("a weight")
	}
	p.wantWord("of")
	e.Of = p.apply()
	p.want(":")
	e.Span = p.since(start)
	if p.cur().kind == tEnd {
		return e
	}
	if s := p.unconditional(); s != nil {
		e.Body = []notation.Stmt{s}
	}
	return e
}

// slot reads F or F(W; s).
func (p *parser) slot() notation.Expr {
	t := p.cur()
	w := p.name("a function")
	if p.cur().is("(") {
		return p.call(t, w)
	}
	return &notation.Ident{Span: w.Span, Name: w}
}

// level reads `level l∈K : memory[l], period [1, 8] when a[l] = 1`.
func (p *parser) level() notation.Stmt {
	start := p.next()
	l := &notation.Level{}
	if !p.atBinder() {
		p.errorf(diag.BadBinder, p.cur(), "expected the name of a level, found %s", p.describe(p.cur()))
		return l
	}
	l.Binder = p.binder()
	p.want(":")
	l.Rule = p.union()
	if p.got(",") {
		if !p.cur().name("period") {
			p.expected("period")
			return l
		}
		p.next()
		l.Period = p.union()
	}
	if p.gotWord("when") {
		l.When = p.conditions(true)
	}
	l.Span = p.since(start)
	return l
}

// guard reads `guard cond else Name`.
func (p *parser) guard() notation.Stmt {
	start := p.next()
	g := &notation.Guard{Cond: p.conditions(true)}
	p.wantWord("else")
	g.Else = p.name("a strategy")
	g.Span = p.since(start)
	return g
}
