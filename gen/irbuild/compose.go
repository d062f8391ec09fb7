package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Stage of a composition or model: a program of its own, the call of a part
// with a value that came before, or the point where it is known which levels of a
// list are open.
type Stage struct {
	Func    *ir.Func // nil for a call
	Part    string   // the part, or the list of parts
	How     How
	Frozen  bool // the part reads its memory and does not write it, whatever the caller does
	Arg     string
	Out     string
	Eq      string     // the equation that is the call
	Gate    string     // of Opens: the value that is 1 where a level is open
	Axes    []*ir.Axis // of the value that a call takes
	OutAxes []*ir.Axis // of what it gives
}

// How says what a call does with parts; the zero value is invalid.
type How int

const (
	_     How = iota
	One       // calls one part
	Each      // calls every part of a list with the same value and stacks what they give
	Chain     // calls the first part of a list, the second with what that gave, and so on
	Opens     // calls nothing: from here on it is known which parts of a list keep what they write
)

// A Program is a composition or model in stages: the equations between two
// calls of parts make one program.
type Program struct {
	Block  *check.Block
	Stages []Stage
	Output []string // names of what comes out
}

// Compose builds a composition or model in stages.
func Compose(blk *check.Block, ds *diag.List) *Program {
	c := &composer{blk: blk, ds: ds, prog: &Program{Block: blk}, made: map[string]*ten{}, called: map[site]*check.Equation{}}
	before := ds.Len()
	c.open()
	for _, eq := range c.callsFirst() {
		if x := c.callOf(eq); x != nil {
			c.call(eq, x)
		} else {
			c.n.equation(c.e, eq)
		}
	}
	c.close()
	for _, p := range blk.Parts {
		name := p.Name
		if p.List != "" {
			name = p.List
		}
		if c.called[site{name, false}] == nil && ds.Len() == before {
			ds.Errorf(diag.MissingEquation, blk.Symbols[name].Span, "the part %s is never called", name).Hint("write a line such as a = %s(X), or leave it out", name)
		}
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	tailsApart(c.built)
	c.results()
	return c.prog
}

// A site is a place where a part is called: once to write, once frozen.
type site struct {
	part   string
	frozen bool
}

// A composer splits a unit's equations into stages.
type composer struct {
	blk    *check.Block
	ds     *diag.List
	prog   *Program
	e      *builder
	n      *plainNames
	made   map[string]*ten // what the stages so far made, for its type
	called map[site]*check.Equation
	built  []*builder        // of the program stages
	stages []*plainNames     // the names of each program stage, in step with prog
	unions map[string][]*ten // made of what parameters and stages so far have
}

func (c *composer) open() {
	e, n := newPlainBuilder(c.blk, c.blk.ID, c.ds)
	if c.e != nil {
		e.axes, e.sized = c.e.axes, c.e.sized
		e.lane.axis = e.axis(c.blk.Axes["L"])
	}
	n.earlier = c.made
	if c.n != nil {
		n.failed = c.n.failed
	}
	c.e, c.n = e, n
	for name, parts := range c.unions {
		u := &unionVal{}
		for _, t := range parts {
			u.parts = append(u.parts, n.again(e, t))
		}
		n.unions[name] = u
	}
}

// callsFirst orders the equations so that before each call stands what it needs
// and nothing else: what two stages would compute is computed in one.
func (c *composer) callsFirst() []*check.Equation {
	var out []*check.Equation
	done := map[*check.Equation]bool{}
	put := func(e *check.Equation) {
		if !done[e] {
			done[e] = true
			out = append(out, e)
		}
	}
	find := quietly(c.blk)
	for i, call := range c.blk.Eqs {
		if find.callOf(call) == nil {
			continue
		}
		for _, e := range c.blk.Eqs[:i] {
			if check.Reaches(c.blk, call.Name, e.Name) {
				put(e)
			}
		}
		put(call)
	}
	for _, e := range c.blk.Eqs {
		put(e)
	}
	return out
}

// A partCall is an equation that calls a part.
type partCall struct {
	how    How
	part   string
	frozen bool
	arg    notation.Expr
	at     notation.Span
}

// callOf recognises the call of a part: a = attention(X), h = frozen memory(X),
// m[l∈K] = memory[l](X), and iterate y from X for l∈K : y ← memory[l](y).
func (c *composer) callOf(eq *check.Equation) *partCall {
	switch {
	case eq.Iter != nil && eq.Iter.Index != nil:
		return c.chain(eq.Iter)
	case eq.Def == nil:
		return nil
	}
	p := &partCall{how: One, at: eq.Def.Value.Where()}
	value := eq.Def.Value
	if f, ok := value.(*notation.Frozen); ok {
		p.frozen, value = true, f.X
	}
	x, ok := value.(*notation.Call)
	if !ok {
		return nil
	}
	s := c.blk.Symbols[x.Fun.Text]
	if s == nil || s.Kind != check.Part || len(x.Args) != 1 {
		return nil
	}
	p.part, p.arg = x.Fun.Text, x.Args[0]
	index := eq.Def.Target.Index
	if c.blk.Count(p.part) == nil {
		if len(index) > 0 || len(x.At) > 0 {
			c.ds.Errorf(diag.BadIndex, x.Fun.Span, "%s is one part and has no index", p.part)
			c.n.failed[eq.Name] = true
		}
		return p
	}
	p.how = Each
	if len(index) != 1 || !c.counts(index[0], p.part) || len(x.At) != 1 || !isName(x.At[0], index[0].Name.Text) {
		c.ds.Errorf(diag.BadIndex, x.Where(), "%s is a list of parts", p.part).
			Hint("write %s[l∈%s] = %s[l](X)", eq.Name, c.blk.Count(p.part).Name, p.part)
		c.n.failed[eq.Name] = true
	}
	return p
}

// counts reports whether an index runs over the axis that counts a list.
func (c *composer) counts(b *notation.Binder, list string) bool {
	id, ok := b.Range.(*notation.Ident)
	return ok && b.Cond == nil && c.blk.CountOf(id.Name.Text) == list
}

func isName(x notation.Expr, name string) bool {
	id, ok := x.(*notation.Ident)
	return ok && id.Name.Text == name && id.Time == nil
}

// chain recognises an iteration through the parts of a list.
func (c *composer) chain(it *notation.Iterate) *partCall {
	p := &partCall{how: Chain, arg: it.From, at: it.Span}
	x, ok := it.Step.(*notation.Call)
	if ok {
		p.part = x.Fun.Text
	}
	if a := c.blk.Count(p.part); !ok || a == nil || len(x.At) != 1 || !isName(x.At[0], it.Index.Text) ||
		len(x.Args) != 1 || !isName(x.Args[0], it.Name.Text) || !isName(it.Count, a.Name) || len(it.With) > 0 || it.Orient {
		c.ds.Errorf(diag.NotSupported, it.Step.Where(), "an iteration with an index goes through the parts of a list, and does nothing else").
			Hint("write iterate y from X for l∈K : y ← part[l](y), with part[K] : Rule in the header")
		c.n.failed[it.Name.Text] = true
		return &partCall{}
	}
	return p
}

func (c *composer) call(eq *check.Equation, x *partCall) {
	if c.n.failed[eq.Name] || x.part == "" {
		return
	}
	c.e.eq, c.e.span = eq.ID, eq.Span()
	here := site{x.part, x.frozen}
	if old := c.called[here]; old != nil {
		c.ds.Errorf(diag.NotSupported, x.at, "the part %s is called twice", x.part).See(calledAt(old), "called here first").
			Hint("a call writes the part's memory; declare another part of the same kind, or read this one with frozen %s(…)", x.part)
		c.n.failed[eq.Name] = true
		return
	}
	c.called[here] = eq
	t := c.e.expr(x.arg)
	if t == nil {
		c.n.failed[eq.Name] = true
		return
	}
	name := x.part + ".in"
	if x.frozen {
		name = x.part + ".frozen.in"
	}
	if id, ok := x.arg.(*notation.Ident); ok {
		name = id.Name.Text
	} else {
		t = c.e.one(t)
		c.e.named(t.fs[0].val, name)
		c.n.vals[name] = t
	}
	c.close()
	st := Stage{Eq: eq.ID, Part: x.part, How: x.how, Frozen: x.frozen, Arg: check.ASCII(name), Out: check.ASCII(eq.Name), Axes: append(axesOf(c.e.lanes()), t.axes...)}
	axes := t.axes
	if x.how == Each {
		axes = append([]*ir.Axis{c.e.axis(c.blk.Count(x.part))}, axes...)
	}
	st.OutAxes = append(axesOf(c.e.lanes()), axes...)
	t = &ten{axes: axes, fs: []factor{{val: &ir.Value{Axes: st.OutAxes}}}} // its type: the value is the part's
	c.add(st)
	c.made[eq.Name] = t
	if l := c.blk.LevelsOf(x.part); l != nil && l.Gate != "" && !x.frozen {
		c.add(Stage{Part: x.part, How: Opens, Gate: check.ASCII(l.Gate)})
	}
	c.open()
}

// calledAt is where an equation calls a part.
func calledAt(eq *check.Equation) notation.Span {
	if eq.Def != nil {
		return eq.Def.Value.Where()
	}
	return eq.Span()
}

func (c *composer) add(s Stage) {
	c.prog.Stages = append(c.prog.Stages, s)
	c.stages = append(c.stages, nil)
}

// again is a part of a union in a later stage: the parameter that it is, or what
// an earlier stage made.
func (n *plainNames) again(e *builder, t *ten) *ten {
	v := t.fs[0].val
	p := e.f.Param(v.Name)
	if p == nil {
		role := v.Role
		if v.Def != nil {
			role = ir.Input
		}
		p = e.f.AddParam(v.Name, role, v.Elem, v.Axes...)
		p.NoGrad = v.NoGrad
	}
	u := t.clone()
	for i := range u.fs[0].sub {
		for k, term := range u.fs[0].sub[i].aff.terms {
			if e.lane != nil && term.v.name == e.lane.name {
				u.fs[0].sub[i].aff.terms[k].v = e.lane
			}
		}
	}
	u.fs[0].val = p
	return u
}

// close ends a stage; one without instructions is none.
func (c *composer) close() {
	if len(c.e.f.Body) == 0 {
		return
	}
	c.e.nameTails()
	c.built = append(c.built, c.e)
	made := map[string]*ten{}
	for name, t := range c.n.vals {
		if t != nil && len(t.fs) == 1 && t.fs[0].val.Def != nil {
			made[name] = t
		}
	}
	for name, t := range made {
		c.made[name] = t
	}
	if c.unions == nil {
		c.unions = map[string][]*ten{}
	}
	for name, u := range c.n.unions {
		if c.unions[name] == nil {
			c.unions[name] = u.parts
		}
		for _, t := range u.parts {
			if v := t.fs[0].val; v.Def != nil {
				made[v.Name] = t
			}
		}
	}
	c.n.vals = made
	c.prog.Stages = append(c.prog.Stages, Stage{Func: c.e.f})
	c.stages = append(c.stages, c.n)
}

// modelOutputs are the loss and the logits.
const modelOutputs = 2

// results gives each stage the results that later stages or the outside read.
func (c *composer) results() {
	need := map[string]bool{}
	switch c.blk.Unit.Kind {
	case notation.ModelUnit:
		// A model shows what its last stage made last: the loss and, for whoever
		// samples, what the loss was computed from.
		for i := len(c.stages) - 1; i >= 0; i-- {
			if c.stages[i] != nil {
				for _, eq := range c.blk.Eqs {
					if c.stages[i].vals[eq.Name] != nil {
						c.prog.Output = append(c.prog.Output, check.ASCII(eq.Name))
					}
				}
				break
			}
		}
		c.prog.Output = c.prog.Output[max(0, len(c.prog.Output)-modelOutputs):]
		for _, o := range c.prog.Output {
			need[o] = true
		}
	default:
		c.prog.Output = []string{"out"}
		need["out"] = true
	}
	for i := len(c.prog.Stages) - 1; i >= 0; i-- {
		s := c.prog.Stages[i]
		if s.Func == nil {
			need[s.Arg], need[s.Gate] = true, true
			continue
		}
		c.stageResults(s.Func, c.stages[i], need)
		for _, p := range s.Func.Params {
			need[p.Name] = true
		}
	}
}

func (c *composer) stageResults(f *ir.Func, n *plainNames, need map[string]bool) {
	var rs []ir.Result
	for _, eq := range c.blk.Eqs {
		name := check.ASCII(eq.Name)
		t := n.vals[eq.Name]
		if t == nil {
			continue
		}
		if s := c.blk.Symbols[eq.Name]; s.Kind == check.State {
			rs = append(rs, ir.Result{Name: name, Val: t.fs[0].val, State: true, Eq: eq.ID})
		} else if need[name] {
			rs = append(rs, ir.Result{Name: name, Val: t.fs[0].val, Eq: eq.ID})
		}
	}
	for name, t := range n.vals {
		if s := c.blk.Symbols[name]; s != nil && s.Kind == check.State {
			continue
		}
		if need[check.ASCII(name)] && !slices.ContainsFunc(rs, func(r ir.Result) bool { return r.Name == check.ASCII(name) }) {
			rs = append(rs, ir.Result{Name: check.ASCII(name), Val: t.fs[0].val})
		}
	}
	f.Results = append(rs, f.Results...)
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return used[p] == 0 })
	adopt(f)
}
