package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Stage of a composition or model: a program of its own, or the call of a
// part with a value that came before.
type Stage struct {
	Func *ir.Func // nil for a call
	Part string
	Arg  string
	Out  string
	Axes []*ir.Axis // of the value that a call takes
}

// A Program is a composition or model in stages: the equations between two
// calls of parts make one program.
type Program struct {
	Block  *check.Block
	Stages []Stage
	Output []string // names of what comes out
}

// Compose builds a composition or model in stages.
func Compose(blk *check.Block, ds *diag.List) *Program {
	c := &composer{blk: blk, ds: ds, prog: &Program{Block: blk}, made: map[string]*ten{}, called: map[string]*check.Equation{}}
	before := ds.Len()
	c.open()
	for _, eq := range blk.Eqs {
		if part, arg, ok := c.partOf(eq); ok {
			c.call(eq, part, arg)
		} else {
			c.n.equation(c.e, eq)
		}
	}
	c.close()
	for _, p := range blk.Parts {
		if c.called[p.Name] == nil && ds.Len() == before {
			ds.Errorf(diag.MissingEquation, blk.Symbols[p.Name].Span, "the part %s is never called", p.Name).Hint("write a line such as a = %s(X), or leave it out", p.Name)
		}
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	tailsApart(c.built)
	c.results()
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
	called map[string]*check.Equation
	built  []*builder    // of the program stages
	stages []*plainNames // the names of each program stage, in step with prog
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
}

// partOf recognises the call of a part: a = attention(X).
func (c *composer) partOf(eq *check.Equation) (string, notation.Expr, bool) {
	if eq.Def == nil {
		return "", nil, false
	}
	x, ok := eq.Def.Value.(*notation.Call)
	if !ok || len(eq.Def.Target.Index) > 0 {
		return "", nil, false
	}
	s := c.blk.Symbols[x.Fun.Text]
	if s == nil || s.Kind != check.Part || len(x.Args) != 1 {
		return "", nil, false
	}
	return x.Fun.Text, x.Args[0], true
}

func (c *composer) call(eq *check.Equation, part string, arg notation.Expr) {
	c.e.eq, c.e.span = eq.ID, eq.Span()
	if old := c.called[part]; old != nil {
		c.ds.Errorf(diag.NotSupported, eq.Def.Value.Where(), "the part %s is called twice", part).See(old.Def.Value.Where(), "called here first").
			Hint("a call writes the part's memory; declare another part of the same kind")
		c.n.failed[eq.Name] = true
		return
	}
	c.called[part] = eq
	t := c.e.expr(arg)
	if t == nil {
		c.n.failed[eq.Name] = true
		return
	}
	name := part + ".in"
	if id, ok := arg.(*notation.Ident); ok {
		name = id.Name.Text
	} else {
		t = c.e.one(t)
		c.e.named(t.fs[0].val, name)
		c.n.vals[name] = t
	}
	c.close()
	axes := append(axesOf(c.e.lanes()), t.axes...)
	c.prog.Stages = append(c.prog.Stages, Stage{Part: part, Arg: check.ASCII(name), Out: check.ASCII(eq.Name), Axes: axes})
	c.stages = append(c.stages, nil)
	c.made[eq.Name] = t
	c.open()
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
	c.n.vals = made
	c.prog.Stages = append(c.prog.Stages, Stage{Func: c.e.f})
	c.stages = append(c.stages, c.n)
}

// results gives each stage the results that later stages or the outside read.
func (c *composer) results() {
	need := map[string]bool{}
	switch c.blk.Unit.Kind {
	case notation.ModelUnit:
		// A model shows what its last stage made: the loss and, for whoever
		// samples, what the loss was computed from.
		for i := len(c.stages) - 1; i >= 0; i-- {
			if c.stages[i] != nil {
				for _, eq := range c.blk.Eqs {
					if c.stages[i].vals[eq.Name] != nil {
						c.prog.Output = append(c.prog.Output, check.ASCII(eq.Name))
						need[check.ASCII(eq.Name)] = true
					}
				}
				break
			}
		}
	default:
		c.prog.Output = []string{"out"}
		need["out"] = true
	}
	for i := len(c.prog.Stages) - 1; i >= 0; i-- {
		s := c.prog.Stages[i]
		if s.Func == nil {
			need[s.Arg] = true
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
		if t := n.vals[eq.Name]; t != nil && need[name] {
			rs = append(rs, ir.Result{Name: name, Val: t.fs[0].val})
		}
	}
	for name, t := range n.vals {
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
