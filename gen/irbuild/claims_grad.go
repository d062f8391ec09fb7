package irbuild

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A gradSite is one ∇ inside an equation as it was built: the value that the
// parameter was bound to, what the function gave, and the derived gradient.
type gradSite struct {
	at             *notation.Grad
	eq             string
	f              *ir.Func
	wrt, loss, adj *ir.Value
}

// A Gradient is an inner gradient, cut out of the very program that uses it:
// the parameter is an input, everything that does not depend on it is held
// fixed, and the results are the function's value and its derived gradient.
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
	var trace []gradSite
	switch blk.Unit.Kind {
	case notation.RuleUnit:
		buildRule(blk, ds, &trace, nil)
	case notation.OpUnit, notation.ComposeUnit, notation.ModelUnit:
		e, n := newPlainBuilder(blk, blk.ID, ds)
		e.trace = &trace
		c := quietly(blk)
		for _, eq := range blk.Eqs {
			if x := c.callOf(eq); x != nil {
				p := &plainClaim{claimNames: newClaimNames(), plainNames: n}
				p.answer(e, eq, x)
			} else {
				n.equation(e, eq)
			}
		}
		adopt(e.f)
	default:
		knobGradients(blk, ds, &trace)
	}
	var out []Gradient
	for _, s := range trace {
		out = append(out, s.cut())
	}
	return out
}

// knobGradients differentiates each scalar function of a knob by each of its
// typed parameters.
func knobGradients(blk *check.Block, ds *diag.List, trace *[]gradSite) {
	for _, st := range blk.Unit.Body {
		d, ok := st.(*notation.Define)
		if !ok || !d.Target.IsFunc || len(d.Target.Index) > 0 {
			continue
		}
		call := &notation.Call{Span: d.Target.Span, Fun: d.Target.Name.Name}
		typed := true
		for _, p := range d.Target.Params {
			call.Args = append(call.Args, &notation.Ident{Span: p.Span, Name: p.Name})
			typed = typed && p.Type != nil
		}
		if !typed || !scalarResult(blk, call) {
			continue
		}
		for _, p := range d.Target.Params {
			e, _ := newClaim(blk, blk.ID+"."+ident.ASCII(call.Fun.Text), ds)
			e.trace, e.span = trace, d.Span
			if t := e.expr(&notation.Grad{Span: d.Target.Span, Wrt: p.Name, Call: call}); t != nil {
				e.result(Slope, t, nil)
			}
			adopt(e.f)
		}
	}
}

// scalarResult reports whether a call can be built and gives a number.
func scalarResult(blk *check.Block, call *notation.Call) bool {
	var quiet diag.List
	e, _ := newClaim(blk, blk.ID, &quiet)
	t := e.expr(call)
	return t != nil && len(t.axes) == 0 && quiet.Len() == 0
}

// cut makes a program of its own out of a site.
func (s *gradSite) cut() Gradient {
	f, m := s.f.Clone()
	f.Name = fmt.Sprintf("%s.%s", s.eq, ident.ASCII(s.at.Call.Fun.Text))
	p := m[s.wrt]
	f.Body = slices.DeleteFunc(f.Body, func(in *ir.Instr) bool { return in == p.Def })
	p.Def, p.Role, p.Name = nil, ir.Input, f.Fresh(ident.ASCII(s.at.Wrt.Text)+".at")
	f.Params = append(f.Params, p)
	f.Results = []ir.Result{{Name: Loss, Val: m[s.loss]}, {Name: Slope, Val: m[s.adj]}}
	f.Sweep()
	used := f.Uses()
	f.Params = slices.DeleteFunc(f.Params, func(v *ir.Value) bool { return v != p && used[v] == 0 })
	adopt(f)
	return Gradient{At: s.at, Eq: s.eq, Param: p.Name, Func: f}
}

// Function builds a function of a page of its own as a program: its typed
// parameters in, out. It returns nil for one whose parameters have no types,
// which is built only where it is called.
func Function(blk *check.Block, ds *diag.List) *ir.Func {
	d := blk.Unit.Result
	call := &notation.Call{Span: d.Target.Span, Fun: d.Target.Name.Name}
	for _, p := range d.Target.Params {
		if p.Type == nil {
			return nil
		}
		call.Args = append(call.Args, &notation.Ident{Span: p.Span, Name: p.Name})
	}
	e, n := newClaim(blk, blk.ID, ds)
	e.span = d.Span
	t := e.expr(call)
	if t == nil {
		return nil
	}
	e.result("out", t, n.vars())
	adopt(e.f)
	return e.f
}
