package notation

import (
	"fmt"
)

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

// interval writes a range with both ends, as within and solve want it.
func (p *printer) interval(t *Type) {
	if oneSided(t) {
		p.twoSided(t)
		return
	}
	p.typeOf(t)
}
