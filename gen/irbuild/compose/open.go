package compose

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

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
