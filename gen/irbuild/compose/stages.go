// Package compose builds operations, and compositions and models of parts. Time is
// an axis like any other in them.
//
// A composition is divided into stages: the equations between two calls of parts
// make one program, and a call separates two stages.
package compose

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Stage of a composition or model is a program, the call of a part with an earlier
// value, or the point at which the open levels of a list are known.
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
	OutAxes []*ir.Axis // of its results

	names *Names // of a program, while the stages are made
}

// How says what a call does with parts; the zero value is invalid.
type How int

const (
	_             How = iota
	One               // calls one part
	Each              // calls every part of a list with the same value and stacks the results
	Chain             // calls the first part of a list, the second with its result, and so on
	ResidualChain     // is Chain with the input of each part added to its result
	Opens             // calls nothing: from here on the open levels of a list are known
)

// A Program is a composition or model in stages: the equations between two
// calls of parts make one program.
type Program struct {
	Block  *check.Block
	Stages []Stage
	Output []string // names of what comes out
}

// Build builds a composition or model in stages.
func Build(blk *check.Block, ds *diag.List) *Program {
	if before := ds.Len(); blk.Unpruned != nil {
		if compose(blk.Unpruned, ds); ds.Len() > before {
			return nil
		}
	}
	return compose(blk, ds)
}

func compose(blk *check.Block, ds *diag.List) *Program {
	c := &composer{blk: blk, ds: ds, prog: &Program{Block: blk}, made: map[string]*tensor.Tensor{}, called: map[callSite]notation.Span{}}
	before := ds.Len()
	c.beginStage()
	for _, eq := range c.callsFirst() {
		if x := c.recognise(eq); x != nil {
			c.call(eq, x)
		} else {
			c.n.Equation(c.e, eq)
		}
	}
	c.endStage()
	for _, p := range blk.Parts {
		name := p.Name
		if p.List != "" {
			name = p.List
		}
		if _, called := c.called[callSite{name, false}]; !called && ds.Len() == before {
			ds.Errorf(diag.MissingEquation, blk.Symbols[name].Span, "the part %s is never called", name).Hint("write a line such as a = %s(X), or leave it out", name)
		}
	}
	if ds.Len() > before && ds.HasErrors() {
		return nil
	}
	expr.SeparateWindowStates(c.built)
	c.results()
	for _, b := range c.built {
		if program.CheckSizes(blk, b.Func, ds) == nil {
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
	e      *expr.Builder
	n      *Names
	made   map[string]*tensor.Tensor // what the stages so far made, for its type
	called map[callSite]notation.Span
	built  []*expr.Builder             // of the program stages
	unions map[string][]*tensor.Tensor // made of what parameters and stages so far have
}

func (c *composer) beginStage() {
	e, n := NewBuilder(c.blk, c.blk.ID, c.ds)
	if c.e != nil {
		e.Axes, e.Sized = c.e.Axes, c.e.Sized
		e.Batch.Axis = e.Axis(c.blk.Axes["L"])
	}
	n.earlier = c.made
	if c.n != nil {
		n.failed = c.n.failed
	}
	c.e, c.n = e, n
	for name, parts := range c.unions {
		u := &expr.UnionValue{}
		for _, t := range parts {
			u.Parts = append(u.Parts, n.reuse(e, t))
		}
		n.unions[name] = u
	}
}

// CallOf recognises the call of a part without a message: errors in it are reported where
// the unit is composed. It returns nil for an equation that calls no part.
func CallOf(blk *check.Block, eq *check.Equation) *Call {
	c := &composer{blk: blk, ds: &diag.List{}, n: newNames()}
	return c.recognise(eq)
}

// callsFirst orders the equations such that each call comes directly after the equations
// that it depends on. A value that two stages would need is then computed in the first of
// them.
func (c *composer) callsFirst() []*check.Equation {
	var out []*check.Equation
	done := map[*check.Equation]bool{}
	put := func(e *check.Equation) {
		if !done[e] {
			done[e] = true
			out = append(out, e)
		}
	}
	for i, call := range c.blk.Eqs {
		if CallOf(c.blk, call) == nil {
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
}

// reuse reads a part of a union in a later stage: the parameter that it is, or the result
// of an earlier stage.
func (n *Names) reuse(e *expr.Builder, t *tensor.Tensor) *tensor.Tensor {
	v := t.Factors[0].Val
	p := e.Func.Param(v.Name)
	if p == nil {
		role := v.Role
		if v.Def != nil {
			role = ir.Input
		}
		p = e.Func.AddParam(v.Name, role, v.Elem, v.Axes...)
		p.NoGrad = v.NoGrad
	}
	u := t.Clone()
	for i := range u.Factors[0].Sub {
		for k, term := range u.Factors[0].Sub[i].Affine.Terms {
			if e.Batch != nil && term.Var.Name == e.Batch.Name {
				u.Factors[0].Sub[i].Affine.Terms[k].Var = e.Batch
			}
		}
	}
	u.Factors[0].Val = p
	return u
}

// endStage ends a stage, unless it has no instructions.
func (c *composer) endStage() {
	if len(c.e.Func.Body) == 0 {
		return
	}
	c.e.NameWindowStates()
	c.built = append(c.built, c.e)
	made := map[string]*tensor.Tensor{}
	for name, t := range c.n.Values {
		if t != nil && len(t.Factors) == 1 && t.Factors[0].Val.Def != nil {
			made[name] = t
		}
	}
	maps.Copy(c.made, made)
	if c.unions == nil {
		c.unions = map[string][]*tensor.Tensor{}
	}
	for name, u := range c.n.unions {
		if c.unions[name] == nil {
			c.unions[name] = u.Parts
		}
		for _, t := range u.Parts {
			if v := t.Factors[0].Val; v.Def != nil {
				made[v.Name] = t
			}
		}
	}
	c.n.Values = made
	c.add(Stage{Func: c.e.Func, names: c.n})
}

// modelOutputs are the loss and the logits.
const modelOutputs = 2

// results determines the results of each stage: the values that later stages or callers
// read. It goes backwards, like liveness analysis.
func (c *composer) results() {
	need := map[string]bool{}
	switch c.blk.Unit.Kind {
	case notation.ModelUnit:
		// A model returns the last values of its last stage: the loss and, for
		// sampling, the logits from which the loss was computed.
		for _, s := range slices.Backward(c.prog.Stages) {
			if s.Func == nil {
				continue
			}
			for _, eq := range c.blk.Eqs {
				if s.names.Values[eq.Name] != nil {
					c.prog.Output = append(c.prog.Output, ident.ASCII(eq.Name))
				}
			}
			break
		}
		c.prog.Output = c.prog.Output[max(0, len(c.prog.Output)-modelOutputs):]
		for _, o := range c.prog.Output {
			need[o] = true
		}
	default:
		c.prog.Output = []string{"out"}
		need["out"] = true
	}
	for _, s := range slices.Backward(c.prog.Stages) {
		if s.Func == nil {
			need[s.Arg], need[s.Gate] = true, true
			continue
		}
		c.stageResults(s.Func, s.names, need)
		for _, p := range s.Func.Params {
			need[p.Name] = true
		}
	}
}

func (c *composer) stageResults(f *ir.Func, n *Names, need map[string]bool) {
	var rs []ir.Result
	for _, eq := range c.blk.Eqs {
		name := ident.ASCII(eq.Name)
		t := n.Values[eq.Name]
		if t == nil {
			continue
		}
		if s := c.blk.Symbols[eq.Name]; s.Kind == check.State {
			rs = append(rs, ir.Result{Name: name, Val: t.Factors[0].Val, State: true, Eq: eq.ID})
		} else if need[name] {
			rs = append(rs, ir.Result{Name: name, Val: t.Factors[0].Val, Eq: eq.ID})
		}
	}
	for name, t := range n.Values {
		if s := c.blk.Symbols[name]; s != nil && s.Kind == check.State {
			continue
		}
		if need[ident.ASCII(name)] && !slices.ContainsFunc(rs, func(r ir.Result) bool { return r.Name == ident.ASCII(name) }) {
			rs = append(rs, ir.Result{Name: ident.ASCII(name), Val: t.Factors[0].Val})
		}
	}
	f.Results = append(rs, f.Results...)
	program.Prune(f)
}
