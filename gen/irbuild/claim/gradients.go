package claim

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/compose"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Gradients inside equations, each isolated as a program of its own.

// A Gradient is an inner gradient, isolated from the program that uses it: the parameter
// is an input, values that do not depend on it are held fixed, and the results are the
// value of the function and its derived gradient.
type Gradient struct {
	At    *notation.Grad
	Eq    string
	Param string // name of the parameter that is differentiated
	Func  *ir.Func
}

// The results of a Gradient.
const (
	Loss  = "loss"
	Slope = "gradient"
)

// Gradients lists the inner gradients of a block's equations; for a knob, which
// has no equations, those of its scalar functions by each typed parameter.
func Gradients(blk *check.Block, ds *diag.List) []Gradient {
	var trace []expr.GradSite
	switch blk.Unit.Kind {
	case notation.RuleUnit:
		if blk.Strategy != nil && !blk.Strategy.Frozen {
			blk = blk.Strategy.Rule // whose equations the strategy computes
		}
		e, n := scan.NewBuilder(blk, blk.ID, ds)
		e.Trace = &trace
		n.Program(e, nil)
	case notation.OpUnit, notation.ComposeUnit, notation.ModelUnit:
		e, n := compose.NewBuilder(blk, blk.ID, ds)
		e.Trace = &trace
		(&outputClaim{names: newNames(), Names: n, e: e}).equations()
		program.ListAxes(e.Func)
	default:
		knobGradients(blk, ds, &trace)
	}
	var out []Gradient
	for _, s := range trace {
		out = append(out, isolate(s))
	}
	return out
}

// knobGradients differentiates each scalar function of a knob by each of its
// typed parameters.
func knobGradients(blk *check.Block, ds *diag.List, trace *[]expr.GradSite) {
	for d := range notation.Functions(blk.Unit.Body) {
		if len(d.Target.Index) > 0 {
			continue
		}
		call, typed := callOf(d.Target)
		if !typed || !scalarResult(blk, call) {
			continue
		}
		for _, p := range d.Target.Params {
			e, _ := newClaim(blk, blk.ID+"."+ident.ASCII(call.Fun.Text), ds)
			e.Trace, e.Span = trace, d.Span
			if t := e.Expr(&notation.Grad{Span: d.Target.Span, Wrt: p.Name, Call: call}); t != nil {
				result(e, Slope, t, nil)
			}
			program.ListAxes(e.Func)
		}
	}
}

// scalarResult reports whether a call can be built and returns a number.
func scalarResult(blk *check.Block, call *notation.Call) bool {
	var quiet diag.List
	e, _ := newClaim(blk, blk.ID, &quiet)
	t := e.Expr(call)
	return t != nil && len(t.Axes) == 0 && quiet.Len() == 0
}

// isolate makes a program of a gradient site: the parameter is an input, and values that
// do not depend on it are held fixed.
func isolate(s expr.GradSite) Gradient {
	f, m := s.Func.Clone()
	f.Name = fmt.Sprintf("%s.%s", s.Eq, ident.ASCII(s.At.Call.Fun.Text))
	p := m[s.Wrt]
	f.Body = slices.DeleteFunc(f.Body, func(in *ir.Instr) bool { return in == p.Def })
	p.Def, p.Role, p.Name = nil, ir.Input, f.Fresh(ident.ASCII(s.At.Wrt.Text)+".at")
	f.Params = append(f.Params, p)
	f.Results = []ir.Result{{Name: Loss, Val: m[s.Loss]}, {Name: Slope, Val: m[s.Adjoint]}}
	program.Prune(f, p)
	return Gradient{At: s.At, Eq: s.Eq, Param: p.Name, Func: f}
}
