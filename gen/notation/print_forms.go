package notation

import (
	"slices"
)

// call writes `f(a, b; c)` and `rule[l](x)`.
func (p *printer) call(c *Call) {
	p.WriteString(spell(c.Fun.Text, c.Bar, p.style))
	if len(c.At) > 0 {
		p.brackets("[", "]", true, c.At, ",")
	}
	p.WriteByte('(')
	p.inside(false, func() {
		for i, a := range c.Args {
			if i > 0 {
				sep := ","
				if slices.Contains(c.Semi, i) {
					sep = "; "
				} else if !p.tight {
					sep = ", "
				}
				p.WriteString(sep)
			}
			p.expr(a, precUnion)
		}
	})
	p.WriteByte(')')
}

// norm writes bars. Both styles have parentheses in the same places, so that a
// broken line is broken at the same sign.
func (p *printer) norm(x Expr, bar, word string) {
	left, right := bar, bar
	if p.style == ASCII {
		left, right = word+"(", ")"
	}
	p.WriteString(left)
	bars := p.bars
	p.bars = true
	p.expr(x, precUnion)
	p.bars = bars
	p.WriteString(right)
}

func (p *printer) inner(e *Inner) {
	left, right := "⟨", "⟩"
	if p.style == ASCII {
		left, right = "inner(", ")"
	}
	p.brackets(left, right, false, []Expr{e.X, e.Y}, ",")
}

// grad writes `∇_M ℓ(…)`; a parameter that is not a single letter is printed in braces.
func (p *printer) grad(e *Grad) {
	p.WriteString(p.sign("∇"))
	name := spell(e.Wrt.Text, false, p.style)
	if len([]rune(e.Wrt.Text)) == 1 {
		p.WriteString("_" + name + " ")
	} else {
		p.WriteString("_{" + name + "} ")
	}
	p.call(e.Call)
}

func (p *printer) reduce(r *Reduce) {
	p.WriteString(p.sign(r.Op))
	p.subscript(r.Binders)
	if IsOpen(r) {
		p.WriteByte(' ')
		p.expr(r.Body, precProduct)
		return
	}
	p.WriteByte('(')
	p.inside(false, func() { p.expr(r.Body, precUnion) })
	p.WriteByte(')')
	if r.Empty == nil {
		return
	}
	p.WriteString(", empty = ")
	if u, ok := r.Empty.(*Unary); ok {
		p.WriteString(p.sign("−"))
		p.expr(u.X, precFactor)
		return
	}
	p.expr(r.Empty, precFactor)
}

// subscript writes `_i` for a bare binder of one letter, else braces.
func (p *printer) subscript(bs []*Binder) {
	if len(bs) == 1 && bs[0].IsBare() && len([]rune(bs[0].Name.Text)) == 1 {
		p.WriteByte('_')
		p.word(bs[0].Name)
		return
	}
	p.WriteString("_{")
	p.inside(true, func() { p.binders(bs) })
	p.WriteByte('}')
}

func (p *printer) binders(bs []*Binder) {
	for i, b := range bs {
		if i > 0 {
			p.WriteString(", ")
		}
		p.binder(b)
	}
}

func (p *printer) binder(b *Binder) {
	if len(b.Tuple) > 0 {
		p.WriteByte('(')
		p.binders(b.Tuple)
		p.WriteByte(')')
	} else {
		p.word(b.Name)
	}
	if b.Range != nil {
		p.WriteString(p.spacedIn())
		p.inside(true, func() { p.expr(b.Range, precUnion) })
	}
	if b.PerChunk {
		p.WriteString(" per chunk")
	}
	p.binderCond(b)
}

func (p *printer) spacedIn() string {
	if p.style == ASCII {
		return " in "
	}
	return "∈"
}

// binderCond writes conditions that start with a name after a comma (`i∈C, i<t`), all others
// after if.
func (p *printer) binderCond(b *Binder) {
	if b.Cond == nil {
		return
	}
	conds := conjuncts(b.Cond)
	if b.Tuple != nil || slices.ContainsFunc(conds, func(e Expr) bool { return !commaCond(e) }) {
		if b.Tuple != nil {
			p.commaConds(conds)
			return
		}
		p.WriteString(" if ")
		tight := p.tight
		p.tight = false
		p.expr(b.Cond, precCond)
		p.tight = tight
		return
	}
	p.commaConds(conds)
}

func (p *printer) commaConds(conds []Expr) {
	for _, c := range conds {
		p.WriteString(", ")
		p.inside(true, func() { p.commaCond(c) })
	}
}

// commaCond writes a condition so that it does not read as a binder.
func (p *printer) commaCond(c Expr) {
	if r, ok := c.(*Relation); ok && !(isName(r.X) && r.Op == "∈") {
		p.bare(c)
		return
	}
	p.paren(c)
}

// conjuncts takes apart what a left-leaning And joins.
func conjuncts(e Expr) []Expr {
	if a, ok := e.(*And); ok && lastOfChain(a) == nil {
		return append(conjuncts(a.X), a.Y)
	}
	return []Expr{e}
}

// commaCond reports whether e is `i < t`, and cannot be read as a binder.
func commaCond(e Expr) bool {
	r, ok := e.(*Relation)
	return ok && r.Op != "∈" && isName(r.X)
}

func (p *printer) set(e *Set) {
	if e.Lo == nil {
		p.brackets("{", "}", false, e.Items, ",")
		return
	}
	p.WriteByte('{')
	p.inside(true, func() {
		p.expr(e.Lo, precUnion)
		p.WriteString(p.sign("…"))
		p.expr(e.Hi, precUnion)
	})
	p.WriteByte('}')
}

func (p *printer) piecewise(e *Piecewise) {
	p.WriteString("{ ")
	p.loosely(func() {
		for i, a := range e.Arms {
			if i > 0 {
				p.WriteString(" ; ")
			}
			p.expr(a.Value, precUnion)
			if a.Cond == nil {
				p.WriteString(" otherwise")
				continue
			}
			p.WriteString(" if ")
			p.expr(a.Cond, precCond)
		}
	})
	p.WriteString(" }")
}

// loosely writes what is long enough to want its spaces even in a subscript.
func (p *printer) loosely(write func()) {
	tight, bars := p.tight, p.bars
	p.tight, p.bars = false, false
	write()
	p.tight, p.bars = tight, bars
}

func (p *printer) caseOf(e *Case) {
	p.WriteString("case ")
	p.expr(e.On, precFactor)
	p.WriteString(" { ")
	p.loosely(func() {
		for i, a := range e.Arms {
			if i > 0 {
				p.WriteString(" ; ")
			}
			p.caseArm(a)
		}
	})
	p.WriteString(" }")
}

func (p *printer) caseArm(a *Arm) {
	switch {
	case a.Cond == nil:
		p.WriteString("otherwise")
	case a.Rel == "":
		p.expr(a.Cond, precFactor)
	default:
		p.WriteString(p.sign(a.Rel) + " ")
		p.expr(a.Cond, precUnion)
	}
	p.WriteString(" : ")
	p.expr(a.Value, precUnion)
}

// memberAt writes an entry of a member, `M_t[k,i]`; false for other names.
func (p *printer) memberAt(id *Ident, at []Expr) bool {
	name, member := CutMember(id.Name.Text)
	if member == "" {
		return false
	}
	plain := *id
	plain.Name.Text = name
	p.ident(&plain)
	p.brackets("[", "]", true, append([]Expr{&Ident{Name: Word{Text: member}}}, at...), ",")
	return true
}
