package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
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
	if before := ds.Len(); blk.Unpruned != nil {
		if compose(blk.Unpruned, ds); ds.Len() > before {
			return nil
		}
	}
	return compose(blk, ds)
}

func compose(blk *check.Block, ds *diag.List) *Program {
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
	for _, b := range c.built {
		if bounded(blk, b.f, ds) == nil {
			return nil
		}
	}
	return c.prog
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
			if c.blk.DependsOn(call.Name, e.Name) {
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
						c.prog.Output = append(c.prog.Output, ident.ASCII(eq.Name))
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
		name := ident.ASCII(eq.Name)
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
		if need[ident.ASCII(name)] && !slices.ContainsFunc(rs, func(r ir.Result) bool { return r.Name == ident.ASCII(name) }) {
			rs = append(rs, ir.Result{Name: ident.ASCII(name), Val: t.fs[0].val})
		}
	}
	f.Results = append(rs, f.Results...)
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(p *ir.Value) bool { return used[p] == 0 })
	adopt(f)
}
