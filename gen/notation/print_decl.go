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

// paramTail writes the type of a parameter, which is always named behind ∈ or
// a colon: `a ∈ [0,∞)`, where a declaration has `a ≥ 0`.
func (p *printer) paramTail(t *Type) {
	if t != nil && oneSided(t) {
		p.WriteString(" " + p.sign("∈") + " ")
		p.twoSided(t)
		return
	}
	p.typeTail(t)
}

// typeTail writes ∈ or a colon and the type, if there is one.
func (p *printer) typeTail(t *Type) {
	switch {
	case t == nil:
	case t.Kind == PageType:
		p.WriteString(" : ")
		p.word(t.Page)
	case oneSided(t):
		p.WriteByte(' ')
		p.typeOf(t)
	default:
		p.WriteString(" " + p.sign("∈") + " ")
		p.typeOf(t)
	}
}

// oneSided reports whether a range is written `> 0`.
func oneSided(t *Type) bool {
	return t.Kind == RangeType && (t.Lo == nil) != (t.Hi == nil) && len(t.Shape) == 0 && !t.AnyShape
}

func (p *printer) typeOf(t *Type) {
	switch t.Kind {
	case RealType:
		p.WriteString(p.sign("ℝ"))
	case SphereType:
		p.WriteString(p.sign("𝕊"))
	case SimplexType:
		p.WriteString(p.sign("Δ"))
	case IntType:
		p.intType(t)
	case SetType:
		p.brackets("{", "}", false, t.Members, ",")
	case RangeType:
		p.rangeType(t)
	case PageType:
		p.word(t.Page)
	default:
		panic(fmt.Sprintf("notation: BUG: no type %d", t.Kind))
	}
	p.shape(t)
}

func (p *printer) shape(t *Type) {
	if !t.AnyShape && len(t.Shape) == 0 {
		return
	}
	p.WriteString("^{")
	p.inside(true, func() {
		if t.AnyShape {
			p.WriteString(p.sign("…"))
		}
		for i, a := range t.Shape {
			if i > 0 {
				p.WriteString(p.sign("×"))
			}
			p.expr(a, precSum)
		}
	})
	p.WriteByte('}')
}

// intType writes `{0…V−1}` or, with other members, `({0…V−1} ∪ {ignore})`.
func (p *printer) intType(t *Type) {
	numbers := &Set{Lo: t.Lo, Hi: t.Hi}
	if len(t.Members) == 0 {
		p.set(numbers)
		return
	}
	p.WriteByte('(')
	p.set(numbers)
	p.WriteString(" " + p.sign("∪") + " ")
	p.brackets("{", "}", false, t.Members, ",")
	p.WriteByte(')')
}

func (p *printer) rangeType(t *Type) {
	if oneSided(t) {
		p.oneSided(t)
		return
	}
	p.twoSided(t)
}

// twoSided writes `[a,b]`; an infinite end is open.
func (p *printer) twoSided(t *Type) {
	p.WriteString(map[bool]string{false: "[", true: "("}[t.LoOpen || t.Lo == nil])
	p.end(t.Lo, "−∞", "-inf")
	p.WriteByte(',')
	if named(t.Lo) || named(t.Hi) {
		p.WriteByte(' ')
	}
	p.end(t.Hi, "∞", "inf")
	p.WriteString(map[bool]string{false: "]", true: ")"}[t.HiOpen || t.Hi == nil])
}

// named reports whether the end of a range is more than a number.
func named(e Expr) bool { return e != nil && !isNumber(e) }

func (p *printer) end(e Expr, unicode, ascii string) {
	if e == nil {
		p.WriteString(p.choose(unicode, ascii))
		return
	}
	p.inside(true, func() { p.expr(e, precUnion) })
}

func (p *printer) oneSided(t *Type) {
	e, signs := t.Lo, map[bool]string{false: "≥", true: ">"}
	open := t.LoOpen
	if t.Lo == nil {
		e, signs, open = t.Hi, map[bool]string{false: "≤", true: "<"}, t.HiOpen
	}
	p.WriteString(p.sign(signs[open]) + " ")
	p.expr(e, precSum)
}

// declare writes names that share their clauses as a run.
func (p *printer) declare(d *Declare) {
	p.family(d.Family)
	p.when(d.When, "when ", " : ")
	p.WriteString(d.Keyword.Text + " ")
	p.commas(len(d.Names), func(i int) {
		n := d.Names[i]
		p.word(n.Name)
		if n.Member != nil {
			p.WriteByte('[')
			p.word(*n.Member)
			p.WriteByte(']')
		}
		if i+1 == len(d.Names) || !n.SharesClauses(d.Names[i+1]) {
			p.clauses(n)
		}
	})
}

func (p *printer) clauses(n *DeclName) {
	p.typeTail(n.Type)
	if n.Init != nil {
		p.WriteString(" = ")
		p.expr(n.Init, precUnion)
	}
	if n.ByLevel != nil {
		p.WriteString(" = by level ")
		p.brackets("[", "]", false, n.ByLevel, ",")
	}
	if n.Dist != nil {
		p.WriteString(" ~ ")
		p.expr(n.Dist, precFactor)
	}
	if n.Seed != nil {
		p.WriteString(" seed ")
		p.expr(n.Seed, precFactor)
	}
	if n.Within != nil {
		p.WriteString(" within ")
		p.interval(n.Within)
	}
	if n.Of != nil {
		p.WriteString(" of ")
		p.word(*n.Of)
	}
	if n.At != nil {
		p.WriteString(" at ")
		p.word(*n.At)
	}
	for _, a := range n.Attrs {
		p.WriteString(" " + a.Text)
		if a.Text == "nograd" && n.Reason != nil {
			p.WriteByte(' ')
			p.text(n.Reason)
		}
	}
}

// interval writes a range with both ends, as within and solve want it.
func (p *printer) interval(t *Type) {
	if oneSided(t) {
		p.twoSided(t)
		return
	}
	p.typeOf(t)
}
