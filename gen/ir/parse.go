package ir

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/shape"
)

// Parse reads the text form of a program. It checks what the text needs to be
// read (names, marks, numbers), not what a program must be: Verify does that.
// The error is a *ParseError.
func Parse(text string) (f *Func, err error) {
	p := &parser{toks: lex(text), axes: map[string]*Axis{}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *ParseError:
			f, err = nil, e
		default:
			panic(e)
		}
	}()
	p.lines()
	f = p.function()
	p.lines()
	if t := p.peek(); t.kind != tokEnd {
		p.fail(t, "expected the end of the text, found %v", t)
	}
	return f, nil
}

// maxDepth bounds nested subscripts, scans and bodies.
const maxDepth = 50

type parser struct {
	toks  []token
	at    int
	axes  map[string]*Axis
	scope *scope
	depth int
}

// A scope holds the names of one program or scan body while it is read.
type scope struct {
	f      *Func
	vals   map[string]*Value
	labels map[string]*labelled
	loops  map[string]int // of the instruction being read
}

// A labelled scan keeps the names of its body for those that replay it.
type labelled struct {
	in   *Instr
	vals map[string]*Value
}

func (p *parser) open(f *Func) *scope {
	s := &scope{f: f, vals: map[string]*Value{}, labels: map[string]*labelled{}}
	p.scope = s
	return s
}

func (p *parser) fail(t token, format string, args ...any) {
	panic(&ParseError{t.line, t.col, fmt.Sprintf(format, args...)})
}

func (p *parser) peek() token { return p.toks[p.at] }

func (p *parser) next() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

func (p *parser) is(text string) bool {
	t := p.peek()
	return !t.quoted && (t.kind == tokPunct || t.kind == tokName) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(text string) {
	if t := p.peek(); !p.accept(text) {
		p.fail(t, "expected %q, found %v", text, t)
	}
}

func (p *parser) lines() {
	for p.peek().kind == tokLine {
		p.at++
	}
}

func (p *parser) endLine() {
	if t := p.next(); t.kind != tokLine && t.kind != tokEnd {
		p.fail(t, "expected the end of the line, found %v", t)
	}
	p.lines()
}

func (p *parser) name(what string) token {
	t := p.next()
	if t.kind != tokName || (!t.quoted && keyword[t.text]) {
		p.fail(t, "expected %s, found %v", what, t)
	}
	return t
}

func (p *parser) nest(t token) func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(t, "nested too deeply")
	}
	return func() { p.depth-- }
}

// function = "func" name "(" params ")" "{" body results "}"
func (p *parser) function() *Func {
	defer p.nest(p.peek())()
	p.want("func")
	f := &Func{Name: p.name("the name of the program").text, names: map[string]int{}}
	outer := p.scope
	p.open(f)
	p.want("(")
	for p.lines(); !p.accept(")"); p.lines() {
		p.param()
		p.lines()
		if !p.is(")") {
			p.want(",")
		}
	}
	p.want("{")
	p.endLine()
	p.body(f)
	for p.accept("return") {
		state := p.accept("state")
		n := p.name("the name of a result").text
		p.want("=")
		f.Results = append(f.Results, Result{Name: n, Val: p.value(), State: state})
		p.endLine()
	}
	p.want("}")
	p.scope = outer
	return f
}

// param = name ":" role type ["nograd"]; its axes need no declaration before.
func (p *parser) param() {
	n := p.name("a parameter")
	p.want(":")
	role := p.role()
	v := p.typed(n)
	v.Role = role
	v.NoGrad = v.Elem != Real || p.accept("nograd")
	p.scope.f.Params = append(p.scope.f.Params, v)
}

func (p *parser) role() Role {
	t := p.next()
	for r := Input; r <= Saved; r++ {
		if t.kind == tokName && t.text == r.String() {
			return r
		}
	}
	p.fail(t, "expected a role such as input or state, found %v", t)
	return 0
}

// typed reads [elem] "[" axes "]" and defines the value.
func (p *parser) typed(n token) *Value {
	v := p.untied(n)
	p.define(p.scope, n, v)
	return v
}

func (p *parser) untied(n token) *Value {
	v := &Value{Name: n.text, Elem: Real}
	for e := Real; e <= Bool; e++ {
		if p.is(e.String()) {
			p.next()
			v.Elem = e
			break
		}
	}
	p.want("[")
	for !p.accept("]") {
		v.Axes = append(v.Axes, p.axis())
		if !p.is("]") {
			p.want(",")
		}
	}
	return v
}

func (p *parser) define(s *scope, n token, v *Value) {
	if s.vals[n.text] != nil {
		p.fail(n, "%s is defined twice", n.text)
	}
	s.vals[n.text] = v
	if s.f.names == nil {
		s.f.names = map[string]int{}
	}
	s.f.names[n.text]++
}

// axis reads the name of an axis; one that is not known yet is free.
func (p *parser) axis() *Axis {
	n := p.name("an axis").text
	if p.axes[n] == nil {
		p.axes[n] = &Axis{Name: n, Size: shape.Sym(n)}
	}
	return p.axes[n]
}

func (p *parser) value() *Value { return p.lookup(p.scope, p.name("a value")) }

func (p *parser) lookup(s *scope, n token) *Value {
	v := s.vals[n.text]
	if v == nil {
		p.fail(n, "%s is not defined", n.text)
	}
	return v
}

// body reads axes declarations and instructions up to what ends it.
func (p *parser) body(f *Func) {
	for {
		p.lines()
		t := p.peek()
		switch {
		case p.accept("axes"):
			p.declareAxes(f)
		case p.is("scan"), p.is("primal"):
			p.scan()
		case t.kind == tokName && (t.quoted || !keyword[t.text]):
			p.instr(f)
		default:
			return
		}
	}
}

// declareAxes = name ["=" size] {"," name ["=" size]}
func (p *parser) declareAxes(f *Func) {
	for {
		a := p.axis()
		f.Axes = append(f.Axes, a)
		if p.accept("=") {
			a.Size = p.poly()
		}
		if !p.accept(",") {
			break
		}
	}
	p.endLine()
}

// instr = name type ["at" subs] "=" op loops ["over" …] ["where" …] ":" payload
func (p *parser) instr(f *Func) {
	n := p.name("a value")
	in := &Instr{Out: p.untied(n)}
	in.Out.Def = in
	var at int
	if p.is("at") {
		at = p.at
		p.skipLine("=")
	}
	p.want("=")
	op := p.next()
	var ok bool
	if in.Op, ok = opByName(op.text); !ok || op.kind != tokName || in.Op == ScanOp {
		p.fail(op, "%v is no primitive", op)
	}
	p.loops(in)
	if at > 0 {
		back := p.at
		p.at = at + 1
		in.To = p.subs()
		p.at = back
	} else if in.To = Ls(len(in.Out.Axes)); len(in.Loops) < len(in.To) && !in.Op.Info().View {
		p.fail(op, "%s has %d axes but %d loops", n.text, len(in.To), len(in.Loops))
	}
	if in.Op.Info().View {
		in.To = nil
	}
	p.clauses(in)
	if in.Op != Iota || p.is(":") {
		p.want(":")
		p.payload(in)
	}
	if in.Op == SolveOp {
		p.solve(in)
	}
	in.Eq = p.eq()
	p.endLine()
	p.define(p.scope, n, in.Out)
	f.Body = append(f.Body, in)
	p.scope.loops = nil
}

// skipLine moves to the mark, which must come on this line.
func (p *parser) skipLine(mark string) {
	for !p.is(mark) {
		if t := p.peek(); t.kind == tokLine || t.kind == tokEnd {
			p.fail(t, "expected %q, found %v", mark, t)
		}
		p.at++
	}
}
