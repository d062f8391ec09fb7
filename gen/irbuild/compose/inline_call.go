package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Inlining of the calls of parts.

// call inlines the call of a stage: one part, or the parts of a list.
func (w *inliner) call(blk *check.Block, s Stage, ds *diag.List) bool {
	if s.How == One {
		return w.requirePage(blk, s, partNamed(blk, s.Part), ds) && w.part(partNamed(blk, s.Part), s, s.Frozen, ds)
	}
	members := blk.Members(s.Part)
	if len(members) == 0 {
		return w.requirePage(blk, s, nil, ds)
	}
	levels, chained := blk.LevelsOf(s.Part), s.How == Chain || s.How == ResidualChain
	var outs []*ir.Value
	for i, p := range members {
		at := s
		at.Out = fmt.Sprintf("%s.%d", s.Out, i)
		if chained && i > 0 {
			at.Arg = fmt.Sprintf("%s.%d", s.Out, i-1)
		}
		if !w.part(p, at, s.Frozen || levels != nil && levels.Gate == "" && w.closed(i), ds) {
			return false
		}
		if s.How == ResidualChain {
			x := w.vals[at.Arg]
			w.vals[at.Out] = w.b.Lin(x.Axes, 0, []float64{1, 1}, ir.All(x), ir.All(w.vals[at.Out]))
		}
		outs = append(outs, w.vals[at.Out])
	}
	if chained {
		w.vals[s.Out] = outs[len(outs)-1]
	} else {
		w.vals[s.Out] = w.stackParts(outs, s.OutAxes)
	}
	for _, a := range s.OutAxes {
		w.addAxis(a)
	}
	if sym, ok := blk.CountAxis(s.Part).Size.Symbol(); ok {
		w.equal[sym] = shape.Int(int64(len(members)))
	}
	return true
}

// requirePage refuses a part without a page.
func (w *inliner) requirePage(blk *check.Block, s Stage, p *check.Subpart, ds *diag.List) bool {
	if p != nil && p.Block != nil {
		return true
	}
	ds.Errorf(diag.UnknownPage, blk.Unit.Name.Span, "part %s of %s is not given", s.Part, blk.Name)
	return false
}

// stackParts stacks values [L, …] to one [L, K, …].
func (w *inliner) stackParts(vals []*ir.Value, axes []*ir.Axis) *ir.Value {
	one := w.axis("one", shape.Int(1))
	w.addAxis(one)
	var rows []*ir.Value
	for _, v := range vals {
		row := append([]*ir.Axis{v.Axes[0], one}, v.Axes[1:]...)
		to := append([]ir.Sub{ir.L(0), {}}, ir.Ls(len(v.Axes))[1:]...)
		rows = append(rows, w.b.Prod(v.Axes, row, to, 1, ir.All(v)))
	}
	return w.b.Stack(axes, 1, rows...)
}

// gateLevels keeps the new states of the parts of a list where their level is open, and
// the old ones elsewhere. Window states are kept in any case: they hold the inputs that
// were read.
func (w *inliner) gateLevels(blk *check.Block, s Stage) {
	if w.frozen {
		return // nothing was written
	}
	gate := w.vals[s.Gate]
	batch := gate.Axes[0]
	for i, p := range blk.Members(s.Part) {
		half := w.b.Const(0.5, batch)
		at := ir.At(gate, ir.L(0), ir.Sub{Const: shape.Int(int64(i))})
		open := w.b.Elementwise(ir.Less, []*ir.Axis{batch}, ir.All(half), at)
		for k, r := range w.states {
			old := w.f.Param(r.Name)
			if !strings.HasPrefix(r.Name, p.Name+".") || r.IsWindow() || old == nil || old.Elem != ir.Real {
				continue
			}
			w.states[k].Val = w.b.Elementwise(ir.Select, old.Axes, ir.At(open, ir.L(0)), ir.All(r.Val), ir.All(old))
		}
	}
}

// separateFrozenWindows renames the window states of a frozen call. Other states that a
// frozen part keeps, such as the inputs of its gate, are left to the call that writes the
// part.
func separateFrozenWindows(g *ir.Func) {
	g.Results = slices.DeleteFunc(g.Results, func(r ir.Result) bool { return r.State && !r.IsWindow() })
	for i, r := range g.Results {
		if r.IsWindow() {
			g.Results[i].Name = frozenSite + r.Name
		}
	}
	for _, p := range g.Params {
		if p.IsWindow() {
			p.Name = frozenSite + p.Name
		}
	}
}

// frozenSite precedes the names of states that only a frozen call of a part keeps.
const frozenSite = "frozen."

func partNamed(blk *check.Block, name string) *check.Subpart {
	for _, p := range blk.Parts {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// A composition without its parts: what a part returns is an input.

// A PartCall is the call of a part in a program that leaves its parts open.
type PartCall struct {
	Part string
	Text notation.Expr // the argument, as the page has it
	Arg  *ir.Value
	Out  *ir.Value // the answer, which is a parameter of the program
	Eq   *check.Equation
}

// Open builds a composition or model as one program in which every answer of a
// part is an input: anything of its type.
func Open(blk *check.Block, ds *diag.List) (*ir.Func, []PartCall) {
	p := Build(blk, ds)
	if p == nil {
		return nil, nil
	}
	w := newInliner(blk.ID)
	var calls []PartCall
	for _, s := range p.Stages {
		switch {
		case s.Func != nil:
			w.stage(s.Func, "")
			continue
		case s.How == Opens:
			continue
		}
		c := PartCall{Part: s.Part, Arg: w.input(s.Arg, s.Axes), Out: w.input(s.Out, s.OutAxes)}
		for _, eq := range blk.Eqs {
			if ident.ASCII(eq.Name) == s.Out {
				c.Eq, c.Text = eq, CallOf(blk, eq).Arg
			}
		}
		calls = append(calls, c)
	}
	w.addResults(p)
	return w.f, calls
}

// input is the value of a name, or a new input where no stage before made it.
func (w *inliner) input(name string, axes []*ir.Axis) *ir.Value {
	v := w.vals[name]
	if v == nil {
		v = w.f.AddParam(name, ir.Input, ir.Real, axes...)
		w.vals[name] = v
		for _, a := range axes {
			w.addAxis(a)
		}
	}
	return v
}
