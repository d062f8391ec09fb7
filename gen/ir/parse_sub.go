package ir

import (
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/shape"
)

// payload reads what an instruction computes from.
func (p *parser) payload(in *Instr) {
	switch in.Op {
	case SizeOf:
		in.Poly = p.poly()
		return
	case Lin:
		p.lin(in)
		return
	case Const:
		in.Coef = []float64{p.number()}
		return
	case Prod:
		in.Coef = []float64{1}
		if p.starts() {
			in.Coef[0] = p.number()
		}
	}
	for p.isArg() {
		in.Args = append(in.Args, p.arg())
	}
}

func (p *parser) isArg() bool {
	t := p.peek()
	return t.kind == tokName && (t.quoted || !keyword[t.text])
}

// lin = ["-"] term {("+" | "-") term}, with term = [number] arg | number
func (p *parser) lin(in *Instr) {
	constant, done := 0.0, false
	for first := true; first || p.is("+") || p.is("-"); first = false {
		t := p.peek()
		if done {
			p.fail(t, "the constant comes last")
		}
		neg := p.accept("-")
		if !neg {
			p.accept("+")
		}
		c := 1.0
		number := p.starts() && !p.is("-")
		if number {
			c = p.number()
		}
		if neg {
			c = math.Copysign(c, -1)
		}
		switch {
		case p.isArg():
			in.Args, in.Coef = append(in.Args, p.arg()), append(in.Coef, c)
		case number:
			constant, done = c, true
		default:
			p.fail(p.peek(), "expected a term, found %v", p.peek())
		}
	}
	in.Coef = append(in.Coef, constant)
}

func (p *parser) arg() Arg {
	a := Arg{Val: p.value()}
	if p.is("[") {
		a.Sub = p.subs()
	}
	return a
}

// subs = "[" [sub {"," sub}] "]"
func (p *parser) subs() []Sub {
	defer p.nest(p.peek())()
	var out []Sub
	p.want("[")
	for !p.accept("]") {
		out = append(out, p.sub())
		if !p.is("]") {
			p.want(",")
		}
	}
	return out
}

// sub is a sum of loops with whole factors, sizes and at most one entry of an
// integer tensor.
func (p *parser) sub() Sub {
	var s Sub
	p.sum(func(neg bool) {
		t := p.peek()
		if t.kind == tokName && p.toks[p.at+1].kind == tokPunct && p.toks[p.at+1].text == "[" {
			a := p.arg()
			if neg || s.Indirect != nil {
				p.fail(t, "a subscript has one integer tensor, with no factor")
			}
			s.Indirect = &a
			return
		}
		c, loop, ok := p.monomial()
		if neg {
			c = c.Mul(shape.Int(-1))
		}
		if !ok {
			s.Const = s.Const.Add(c)
			return
		}
		n, whole := c.Const()
		if !whole || n != int64(int(n)) {
			p.fail(t, "the factor of a loop is a whole number")
		}
		s.Terms = append(s.Terms, Term{loop, int(n)})
	})
	return s
}

// poly is a sum of products of sizes.
func (p *parser) poly() shape.Poly {
	var out shape.Poly
	loops := p.scope.loops
	p.scope.loops = nil
	p.sum(func(neg bool) {
		c, _, _ := p.monomial()
		if neg {
			c = c.Mul(shape.Int(-1))
		}
		out = out.Add(c)
	})
	p.scope.loops = loops
	return out
}

func (p *parser) sum(item func(neg bool)) {
	neg := p.accept("-")
	item(neg)
	for p.is("+") || p.is("-") {
		neg = p.next().text == "-"
		item(neg)
	}
}

// monomial = factor {"·" factor}, with factor = whole ["/" whole] | name; at
// most one name is a loop, which is returned apart.
func (p *parser) monomial() (c shape.Poly, loop int, hasLoop bool) {
	c = shape.Int(1)
	for {
		t := p.next()
		switch {
		case t.kind == tokNumber:
			n, d := p.whole(t), int64(1)
			if p.accept("/") {
				u := p.next()
				if d = p.whole(u); d == 0 {
					p.fail(u, "division by zero")
				}
			}
			c = c.Mul(shape.Ratio(n, d))
		case t.kind == tokName && (t.quoted || !keyword[t.text]):
			l, ok := p.scope.loops[t.text]
			if ok && hasLoop {
				p.fail(t, "a subscript is not a product of loops")
			}
			if ok {
				loop, hasLoop = l, true
			} else {
				c = c.Mul(shape.Sym(t.text))
			}
		default:
			p.fail(t, "expected a subscript or a size, found %v", t)
		}
		if !p.accept("·") {
			return c, loop, hasLoop
		}
	}
}

func (p *parser) whole(t token) int64 {
	n, err := strconv.ParseInt(t.text, 10, 64)
	if t.kind != tokNumber || err != nil || strings.HasPrefix(t.text, "-") {
		p.fail(t, "expected a whole number, found %v", t)
	}
	return n
}
