package ir

import (
	"math"
	"strconv"
)

// Clauses of an instruction: loops, guards, reductions, the equation and numbers.

func (p *parser) loops(in *Instr) {
	p.scope.loops = map[string]int{}
	for p.peek().kind == tokName && !p.is("over") && !p.is("where") {
		n := p.name("a loop")
		p.want(":")
		if _, twice := p.scope.loops[n.text]; twice {
			p.fail(n, "loop %s is declared twice", n.text)
		}
		p.scope.loops[n.text] = len(in.Loops)
		in.Loops = append(in.Loops, p.axis())
	}
}

func (p *parser) clauses(in *Instr) {
	if p.accept("over") {
		for p.peek().kind == tokName && !p.is("where") {
			n := p.name("a loop")
			l, ok := p.scope.loops[n.text]
			if !ok {
				p.fail(n, "%s is no loop", n.text)
			}
			in.Over = append(in.Over, l)
		}
	}
	if p.accept("where") {
		for {
			in.Guard = append(in.Guard, p.sub())
			p.want(">=")
			if t := p.next(); t.text != "0" {
				p.fail(t, "expected 0, found %v", t)
			}
			if !p.accept(",") {
				break
			}
		}
	}
}

func (p *parser) solve(in *Instr) {
	p.want("tol")
	in.Solve = &Solve{Tol: p.number()}
	p.want("with")
	p.lines()
	loops := p.scope.loops
	in.Solve.Residual = p.function()
	p.scope.loops = loops
	p.lines()
	p.want("end")
}

// eq reads the id of the equation, when there is one.
func (p *parser) eq() string {
	t := p.peek()
	if t.kind != tokEq {
		return ""
	}
	p.at++
	if len(t.text) > 0 && t.text[0] == '"' {
		s, err := strconv.Unquote(t.text)
		if err != nil {
			p.fail(t, "the id is no quoted text")
		}
		return s
	}
	return t.text
}

// number = ["-"] digits | ["-"] "inf" | "nan"
func (p *parser) number() float64 {
	neg := p.accept("-")
	t := p.next()
	c := math.NaN()
	switch {
	case t.kind == tokName && !t.quoted && t.text == "inf":
		c = math.Inf(1)
	case t.kind == tokName && !t.quoted && t.text == "nan":
	case t.kind == tokNumber:
		var err error
		if c, err = strconv.ParseFloat(t.text, 64); err != nil {
			p.fail(t, "%s is out of range", t.text)
		}
	default:
		p.fail(t, "expected a number, found %v", t)
	}
	if neg {
		return math.Copysign(c, -1)
	}
	return c
}

// starts reports whether a number comes next.
func (p *parser) starts() bool {
	return p.peek().kind == tokNumber || p.is("-") || p.is("inf") || p.is("nan")
}
