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
	p.put("(")
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
			p.put(a)
		}
	})
	p.put(")")
}

// norm writes bars. Both styles have parentheses in the same places, so that a
// broken line is broken at the same sign.
func (p *printer) norm(x Expr, bar, word string) {
	bars := p.bars
	p.put(p.choose(bar, word+"("))
	p.bars = true
	p.put(x)
	p.bars = bars
	p.put(p.choose(bar, ")"))
}

// grad writes `∇_M ℓ(…)`; a parameter that is not a single letter is printed in braces.
func (p *printer) grad(e *Grad) {
	if len([]rune(e.Wrt.Text)) == 1 {
		p.put("∇", "_", e.Wrt, " ", e.Call)
	} else {
		p.put("∇", "_{", e.Wrt, "} ", e.Call)
	}
}

func (p *printer) reduce(r *Reduce) {
	p.put(r.Op)
	p.subscript(r.Binders)
	if IsOpen(r) {
		p.put(" ", operand{r.Body, precProduct})
		return
	}
	p.enclose(false, "(", ")", r.Body)
	if u, ok := r.Empty.(*Unary); ok {
		p.put(", empty = ", "−", factor(u.X))
		return
	}
	p.clause(", empty = ", factor(r.Empty))
}

// subscript writes `_i` for a bare binder of one letter, else braces.
func (p *printer) subscript(bs []*Binder) {
	if len(bs) == 1 && bs[0].IsBare() && len([]rune(bs[0].Name.Text)) == 1 {
		p.put("_", bs[0].Name)
		return
	}
	p.put("_{")
	p.inside(true, func() { commas(p, bs) })
	p.put("}")
}

func (p *printer) binder(b *Binder) {
	if len(b.Tuple) > 0 {
		p.put("(")
		commas(p, b.Tuple)
		p.put(")")
	} else {
		p.put(b.Name)
	}
	if b.Range != nil {
		p.enclose(true, p.choose("∈", " in "), "", b.Range)
	}
	if b.PerChunk {
		p.put(" per chunk")
	}
	p.binderCond(b)
}

// binderCond writes conditions that start with a name after a comma (`i∈C, i<t`), all others
// after if.
func (p *printer) binderCond(b *Binder) {
	if b.Cond == nil {
		return
	}
	conds := conjuncts(b.Cond)
	if b.Tuple == nil && slices.ContainsFunc(conds, func(e Expr) bool { return !commaCond(e) }) {
		tight := p.tight
		p.tight = false
		p.put(" if ", cond(b.Cond))
		p.tight = tight
		return
	}
	for _, c := range conds {
		p.put(", ")
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
	p.enclose(true, "{", "}", e.Lo, "…", e.Hi)
}

func (p *printer) piecewise(e *Piecewise) {
	p.put("{ ")
	p.loosely(func() {
		for i, a := range e.Arms {
			if i > 0 {
				p.put(" ; ")
			}
			p.put(a.Value)
			if a.Cond == nil {
				p.put(" otherwise")
			}
			p.clause(" if ", cond(a.Cond))
		}
	})
	p.put(" }")
}

// loosely writes what is long enough to want its spaces even in a subscript.
func (p *printer) loosely(write func()) {
	tight, bars := p.tight, p.bars
	p.tight, p.bars = false, false
	write()
	p.tight, p.bars = tight, bars
}

func (p *printer) caseOf(e *Case) {
	p.put("case ", factor(e.On), " { ")
	p.loosely(func() {
		for i, a := range e.Arms {
			if i > 0 {
				p.put(" ; ")
			}
			p.put(a)
		}
	})
	p.put(" }")
}

func (p *printer) caseArm(a *Arm) {
	switch {
	case a.Cond == nil:
		p.put("otherwise")
	case a.Rel == "":
		p.put(factor(a.Cond))
	default:
		p.put(a.Rel, " ", a.Cond)
	}
	p.put(" : ", a.Value)
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
