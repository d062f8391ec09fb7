package ir

// A scanParser reads one scan: two scopes are open, that of the program around
// it and that of its body.
type scanParser struct {
	*parser
	in      *Instr
	outer   *scope
	outs    *scope // where its outputs are defined
	body    *scope
	primal  *labelled
	pending []token // carries whose next state has not come yet
}

// scan = ["primal"] "scan" name "over" batch "," time "as" "@n" ["reverse"] ["of" "@n"] "{" … "}"
func (p *parser) scan() {
	defer p.nest(p.peek())()
	detached := p.accept("primal")
	p.want("scan")
	s := &Scan{Body: &Func{Name: p.name("the name of the body").text, names: map[string]int{}}}
	q := &scanParser{parser: p, in: &Instr{Op: ScanOp, Scan: s}, outer: p.scope, outs: p.scope}
	if detached {
		q.outs = &scope{f: &Func{}, vals: map[string]*Value{}}
	}
	p.want("over")
	s.Batch = p.axis()
	p.want(",")
	s.Time = p.axis()
	p.want("as")
	label := p.peek()
	id := p.label()
	if p.scope.labels[id] != nil {
		p.fail(label, "@%s is defined twice", id)
	}
	s.Reverse = p.accept("reverse")
	if p.accept("of") {
		t := p.peek()
		if q.primal = p.scope.labels[p.label()]; q.primal == nil {
			p.fail(t, "no scan has this label")
		}
		s.Primal = q.primal.in
	}
	p.want("{")
	q.in.Eq = p.eq()
	p.endLine()
	q.body = p.open(s.Body)
	q.inputs()
	p.body(s.Body)
	q.outputs()
	p.want("}")
	p.endLine()
	p.scope = q.outer
	p.scope.labels[id] = &labelled{q.in, q.body.vals}
	if !detached {
		p.scope.f.Body = append(p.scope.f.Body, q.in)
	}
}

// label = "@" number
func (p *parser) label() string {
	p.want("@")
	t := p.next()
	if t.kind != tokNumber {
		p.fail(t, "expected the number of a scan, found %v", t)
	}
	return t.text
}

// param reads a parameter of the body and where it comes from.
func (q *scanParser) param(role Role) *Value {
	v := q.typed(q.name("a parameter"))
	v.Role = role
	v.NoGrad = v.Elem != Real || q.accept("nograd")
	q.body.f.Params = append(q.body.f.Params, v)
	return v
}

func (q *scanParser) inputs() {
	s := q.in.Scan
	for q.lines(); ; q.lines() {
		switch {
		case q.accept("carry"):
			q.carry()
		case q.accept("token"):
			t := ScanInput{Param: q.param(Token)}
			q.want("from")
			t.Val = q.lookup(q.outer, q.name("a series"))
			t.Count = q.accept("count")
			if q.accept("window") {
				t.Window = q.axis()
			}
			if q.accept("base") {
				t.Base = q.poly()
			}
			s.Tokens = append(s.Tokens, t)
		case q.accept("shared"):
			v := SharedArg{Param: q.param(Shared)}
			q.want("from")
			v.Val = q.lookup(q.outer, q.name("a value"))
			v.PerBatch = q.byLane()
			s.Shared = append(s.Shared, v)
		case q.is("replay"):
			q.replay()
		default:
			return
		}
		q.endLine()
	}
}

func (q *scanParser) carry() {
	c := ScanState{}
	q.pending = append(q.pending, q.peek())
	v := q.typed(q.name("a state"))
	v.Role = Carry
	q.body.f.Params = append(q.body.f.Params, v)
	c.Param = v
	if q.accept("from") {
		c.Init = q.lookup(q.outer, q.name("a value"))
	}
	if q.accept("to") {
		c.Final = q.output()
	}
	q.in.Scan.Carry = append(q.in.Scan.Carry, c)
}

// output defines an output of the scan in the program around it.
func (q *scanParser) output() *Value {
	n := q.name("an output")
	v := q.untied(n)
	v.Def = q.in
	q.define(q.outs, n, v)
	return v
}

func (q *scanParser) replay() {
	t := q.next()
	if q.primal == nil {
		q.fail(t, "only a scan of a primal replays")
	}
	v := q.param(q.role())
	q.want("from")
	n := q.name("a value of the primal")
	w := q.primal.vals[n.text]
	if w == nil {
		q.fail(n, "the primal has no %s", n.text)
	}
	q.in.Scan.Replay = append(q.in.Scan.Replay, Replayed{v, w})
}

func (q *scanParser) byLane() bool {
	if q.accept("by") {
		q.want("lane")
		return true
	}
	return false
}

func (q *scanParser) outputs() {
	s := q.in.Scan
	for q.lines(); ; q.lines() {
		switch {
		case q.accept("next"):
			n := q.name("a state")
			k := len(s.Carry) - len(q.pending)
			if len(q.pending) == 0 || q.pending[0].text != n.text {
				q.fail(n, "the next states come in the order of the carries")
			}
			q.pending = q.pending[1:]
			q.want("=")
			s.Carry[k].Next = q.lookup(q.body, q.name("a value"))
		case q.is("give"), q.is("sum"):
			o := ScanOutput{Sum: q.next().text == "sum"}
			o.Out = q.output()
			q.want("=")
			o.Val = q.lookup(q.body, q.name("a value"))
			o.PerBatch = q.byLane()
			s.Outs = append(s.Outs, o)
		default:
			if len(q.pending) > 0 {
				q.fail(q.peek(), "state %s has no next", q.pending[0].text)
			}
			return
		}
		q.endLine()
	}
}
