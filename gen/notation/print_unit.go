package notation

import (
	"fmt"
)

func (p *printer) header(u *Unit) {
	if u.Kind == FuncUnit {
		p.define(u.Result)
		return
	}
	p.WriteString(u.Keyword() + " ")
	p.word(u.Name)
	if u.Params != nil {
		p.params(u.Params)
	}
	switch {
	case u.Result != nil:
		p.WriteString(" " + p.sign("→") + " ")
		p.define(u.Result)
		return
	case u.Formula != nil && len(u.Formula.Parts) == 0:
		p.WriteByte(' ')
		p.formula(u.Formula)
	case u.Formula != nil:
		p.WriteString(" = ")
		p.formula(u.Formula)
	case u.For != nil:
		p.WriteString(" for ")
		p.formula(u.For)
	case u.Else != nil:
		p.WriteString(" else ")
		p.apply(u.Else)
	}
	p.overrides(u.With)
	p.citeTail(u.Cite)
}

// Keyword is the word that opens the header.
func (u *Unit) Keyword() string {
	if u.Sched {
		return "schedule"
	}
	return u.Kind.String()
}

// String returns the keyword of the header.
func (k UnitKind) String() string {
	for w, u := range UnitKinds {
		if w == "schedule" {
			continue // a composition, by its keyword
		}
		if u == k {
			return w
		}
	}
	if k == FuncUnit {
		return "function"
	}
	return fmt.Sprintf("UnitKind(%d)", int(k))
}

func (p *printer) formula(f *Formula) {
	for i, a := range f.Parts {
		if i > 0 {
			p.WriteString(" + ")
		}
		p.apply(a)
	}
	if f.Over != nil {
		if len(f.Parts) > 0 {
			p.WriteByte(' ')
		}
		p.WriteString("over ")
		p.apply(f.Over)
	}
}

func (p *printer) apply(a *Apply) {
	p.word(a.Name)
	if len(a.Args) == 0 {
		return
	}
	p.WriteByte('(')
	p.commas(len(a.Args), func(i int) {
		o := a.Args[i]
		if o.Name.Text != "" {
			p.word(o.Name)
			p.WriteString(" = ")
		}
		if o.List != nil {
			p.WriteByte('[')
			p.commas(len(o.List), func(i int) { p.apply(o.List[i]) })
			p.WriteByte(']')
			return
		}
		switch o.Value.(type) {
		case nil:
			p.apply(o.Apply)
			if o.Name.Text != "" && len(o.Apply.Args) == 0 {
				p.WriteString("()") // a page, not a value
			}
		case *Ident, *Call:
			if o.Name.Text == "" {
				p.paren(o.Value) // a value, not a page
				break
			}
			p.expr(o.Value, precSum)
		default:
			p.expr(o.Value, precSum)
		}
	})
	p.WriteByte(')')
}

func (p *printer) overrides(os []*Override) {
	if len(os) == 0 {
		return
	}
	p.WriteString(" with ")
	p.commas(len(os), func(i int) {
		p.word(os[i].Name)
		p.WriteString(" := ")
		p.expr(os[i].Value, precSum)
	})
}

// params writes names that share a type as a run.
func (p *printer) params(ps []*Param) {
	p.WriteByte('(')
	for i, q := range ps {
		if i > 0 {
			sep := ", "
			for g := ps[i-1].Group; g < q.Group; g++ {
				sep = "; "
			}
			p.WriteString(sep)
		}
		p.word(q.Name)
		if q.List != nil {
			p.WriteByte('[')
			p.word(*q.List)
			p.WriteByte(']')
		}
		if i+1 < len(ps) && q.Type != nil && ps[i+1].Type == q.Type && ps[i+1].Group == q.Group {
			continue
		}
		p.paramTail(q.Type)
	}
	p.WriteByte(')')
}

// paramTail writes the type of a parameter, which is always named after ∈ or
// a colon: `a ∈ [0,∞)`, where a declaration has `a ≥ 0`.
func (p *printer) paramTail(t *Type) {
	if t != nil && oneSided(t) {
		p.WriteString(" " + p.sign("∈") + " ")
		p.twoSided(t)
		return
	}
	p.typeTail(t)
}
