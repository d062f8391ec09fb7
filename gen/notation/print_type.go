package notation

import (
	"fmt"
)

// typeTail writes ∈ or a colon and the type, if there is one.
func (p *printer) typeTail(t *Type) {
	switch {
	case t == nil:
	case t.Kind == PageType:
		p.put(" : ", t.Page)
	case oneSided(t):
		p.put(" ", t)
	default:
		p.put(" ∈ ", t)
	}
}

// oneSided reports whether a range is written `> 0`.
func oneSided(t *Type) bool {
	return t.Kind == RangeType && (t.Lo == nil) != (t.Hi == nil) && len(t.Shape) == 0 && !t.AnyShape
}

func (p *printer) typeOf(t *Type) {
	switch t.Kind {
	case RealType:
		p.put("ℝ")
	case SphereType:
		p.put("𝕊")
	case SimplexType:
		p.put("Δ")
	case IntType:
		p.intType(t)
	case SetType:
		p.brackets("{", "}", false, t.Members, ",")
	case RangeType:
		if oneSided(t) {
			p.oneSided(t)
		} else {
			p.twoSided(t)
		}
	case PageType:
		p.put(t.Page)
	default:
		panic(fmt.Sprintf("notation: BUG: no type %d", t.Kind))
	}
	p.shape(t)
}

func (p *printer) shape(t *Type) {
	if !t.AnyShape && len(t.Shape) == 0 {
		return
	}
	p.put("^{")
	p.inside(true, func() {
		if t.AnyShape {
			p.put("…")
		}
		for i, a := range t.Shape {
			if i > 0 {
				p.put("×")
			}
			p.put(sum(a))
		}
	})
	p.put("}")
}

// intType writes `{0…V−1}` or, with other members, `({0…V−1} ∪ {ignore})`.
func (p *printer) intType(t *Type) {
	numbers := &Set{Lo: t.Lo, Hi: t.Hi}
	if len(t.Members) == 0 {
		p.put(numbers)
		return
	}
	p.put("(", numbers, " ∪ ")
	p.brackets("{", "}", false, t.Members, ",")
	p.put(")")
}

// twoSided writes `[a,b]`; an infinite end is open.
func (p *printer) twoSided(t *Type) {
	p.put(map[bool]string{false: "[", true: "("}[t.LoOpen || t.Lo == nil])
	p.end(t.Lo, "−∞", "-inf")
	p.put(",")
	if named(t.Lo) || named(t.Hi) {
		p.put(" ")
	}
	p.end(t.Hi, "∞", "inf")
	p.put(map[bool]string{false: "]", true: ")"}[t.HiOpen || t.Hi == nil])
}

// named reports whether the end of a range is more than a number.
func named(e Expr) bool { return e != nil && !isNumber(e) }

func (p *printer) end(e Expr, unicode, ascii string) {
	if e == nil {
		p.put(p.choose(unicode, ascii))
		return
	}
	p.inside(true, func() { p.put(e) })
}

func (p *printer) oneSided(t *Type) {
	e, signs := t.Lo, map[bool]string{false: "≥", true: ">"}
	open := t.LoOpen
	if t.Lo == nil {
		e, signs, open = t.Hi, map[bool]string{false: "≤", true: "<"}, t.HiOpen
	}
	p.put(signs[open], " ", sum(e))
}

// interval writes a range with both ends, as within and solve want it.
func (p *printer) interval(t *Type) {
	if oneSided(t) {
		p.twoSided(t)
		return
	}
	p.typeOf(t)
}
