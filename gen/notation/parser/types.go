package parser

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// typeAfter reads the type after ∈.
func (p *parser) typeAfter() *notation.Type {
	t := p.cur()
	ty := &notation.Type{}
	switch {
	case t.is("ℝ") || t.name("R"):
		p.next()
		ty.Kind = notation.RealType
	case t.is("𝕊") || t.name("S"):
		p.next()
		ty.Kind = notation.SphereType
	case t.name("Δ") || t.name("Simplex"):
		p.next()
		ty.Kind = notation.SimplexType
	case t.is("{"):
		p.setType(ty)
	case t.is("(") && p.peek(1).is("{"):
		closing := p.open()
		p.setType(ty)
		closing(")")
	case t.is("(") || t.is("["):
		p.interval(ty)
	default:
		p.errorf(diag.BadType, t, "expected a type, found %s", p.describe(t)).
			Hint("write ℝ^{m×k}, 𝕊^{m×d}, Δ^{n}, {0…V−1}^{T}, (0,1), [0,1] or {off, on}")
		return ty
	}
	if p.got("^") {
		p.shape(ty)
	}
	ty.Span = p.since(t)
	return ty
}

// shape reads `{m×k}`, `{…}` or one word.
func (p *parser) shape(ty *notation.Type) {
	t := p.cur()
	if !t.is("{") {
		switch t.kind {
		case tName, tNumber:
			ty.Shape = []notation.Expr{p.axis()}
		default:
			p.expected("{ and the axes")
		}
		return
	}
	closing := p.open()
	if p.got("…") {
		ty.AnyShape = true
	} else {
		ty.Shape = sequence(p, "×", p.sum)
	}
	closing("}")
}

// axis reads a lone name or number.
func (p *parser) axis() notation.Expr {
	t := p.next()
	if t.kind == tNumber {
		return number(p.span(t), t.text)
	}
	return p.ident(t)
}

// setType reads `{off, on}`, `{0…V−1}` and the union of the two.
func (p *parser) setType(ty *notation.Type) {
	ty.Kind = notation.SetType
	for {
		t := p.cur()
		if !t.is("{") {
			p.errorf(diag.BadType, t, "expected a set in braces, found %s", p.describe(t))
			return
		}
		s, ok := p.braces().(*notation.Set)
		if !ok {
			p.errorf(diag.BadType, t, "a choice is not a set").Hint("write {a, b} or {0…V−1}")
			return
		}
		switch {
		case s.Lo == nil:
			ty.Members = append(ty.Members, s.Items...)
		case ty.Kind == notation.IntType:
			p.errorAt(diag.BadType, s.Span, "a type has one range of integers")
			return
		default:
			ty.Kind, ty.Lo, ty.Hi = notation.IntType, s.Lo, s.Hi
			p.ascending(ty, s.Span)
		}
		if !p.got("∪") {
			return
		}
	}
}

// interval reads `(0,1)`, `[0,1]` and their mixtures.
func (p *parser) interval(ty *notation.Type) {
	t := p.next()
	ty.Kind, ty.LoOpen = notation.RangeType, t.is("(")
	bars := p.bars
	p.bars = ""
	ty.Lo = p.union()
	p.want(",")
	ty.Hi = p.union()
	p.bars = bars
	switch {
	case p.got(")"):
		ty.HiOpen = true
	case p.got("]"):
	default:
		p.close(t, map[string]string{"(": ")", "[": "]"}[t.text])
	}
	p.ascending(ty, p.since(t))
	if isInfinite(ty.Lo) {
		ty.Lo, ty.LoOpen = nil, false
	}
	if isInfinite(ty.Hi) {
		ty.Hi, ty.HiOpen = nil, false
	}
}

// ascending refuses a range whose ends are written the wrong way round.
func (p *parser) ascending(ty *notation.Type, where notation.Span) {
	lo, okLo := literal(ty.Lo)
	hi, okHi := literal(ty.Hi)
	if okLo && okHi && hi < lo {
		p.errorAt(diag.BadType, where, "this range is empty: it ends at %v, below its start %v", hi, lo)
	}
}

// literal is a number as it is written, with or without a minus.
func literal(e notation.Expr) (float64, bool) {
	if u, ok := e.(*notation.Unary); ok {
		x, ok := literal(u.X)
		return -x, ok
	}
	n, ok := e.(*notation.Number)
	if !ok {
		return 0, false
	}
	return n.Value, true
}

func isInfinite(e notation.Expr) bool {
	if u, ok := e.(*notation.Unary); ok {
		e = u.X
	}
	n, ok := e.(*notation.Number)
	return ok && n.Text == "∞"
}

// bound reads `> 0` and its like as a range.
func (p *parser) bound() *notation.Type {
	t := p.next()
	e := p.sum()
	ty := &notation.Type{Span: p.since(t), Kind: notation.RangeType}
	switch t.text {
	case ">":
		ty.Lo, ty.LoOpen = e, true
	case "≥":
		ty.Lo = e
	case "<":
		ty.Hi, ty.HiOpen = e, true
	case "≤":
		ty.Hi = e
	}
	return ty
}

// pageType reads the word after a colon.
func (p *parser) pageType() *notation.Type {
	w := p.name("the kind of a part, such as Rule")
	return &notation.Type{Span: w.Span, Kind: notation.PageType, Page: w}
}

// dims reads `dims d, d_q = d_k, d = H × d_h`.
func (p *parser) dims() notation.Stmt {
	start := p.next()
	d := &notation.Dims{Items: sequence(p, ",", p.dimsItem)}
	d.Span = p.since(start)
	return d
}

func (p *parser) dimsItem() *notation.DimsItem {
	start := p.cur()
	item := &notation.DimsItem{Name: p.name("an axis")}
	if p.got("=") {
		item.Size = p.sum()
		if p.cur().is("×") {
			if id, ok := item.Size.(*notation.Ident); ok && id.Time == nil && !id.Bar {
				item.Size, item.Factors = nil, []notation.Word{id.Name}
			} else {
				p.errorAt(diag.BadType, item.Size.Where(), "the factors of an axis are names").Hint("write d = H × d_h")
			}
			for p.got("×") {
				item.Factors = append(item.Factors, p.name("an axis"))
			}
		}
	}
	item.Span = p.since(start)
	return item
}
