package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// ∇: the derivative of one call by one parameter, by reverse mode on the program as it is built.

// grad builds ∇_p f(args): the derivative of one call by one of its formal
// parameters, everything else held fixed. The parameter is bound to a copy of
// its argument over all indices in scope, so that each point of a sum has a
// gradient of its own.
func (e *Builder) grad(x *notation.Grad) *tensor.Tensor {
	f := e.Block.Funcs[x.Call.Fun.Text]
	if f == nil {
		e.Errorf(diag.NotAFunction, x.Call, "%s is not a function of this page", x.Call.Fun.Text).Hint("∇ takes a function that the page defines, such as ℓ(M; k, v) = …")
		return nil
	}
	k := slices.IndexFunc(f.Params, func(p *notation.Param) bool { return p.Name.Text == x.Wrt.Text })
	if k < 0 {
		e.Diags.Errorf(diag.NotAFunction, x.Wrt.Span, "%s is not a parameter of %s", x.Wrt.Text, f.Name).See(f.Def.Target.Span, "%s is defined here", f.Name)
		return nil
	}
	args := e.args(x.Call)
	if args == nil {
		return nil
	}
	if args[k] = e.Closed(x.Call.Args[k], args[k]); args[k] == nil {
		return nil
	}
	vars := tensor.VarsOf(args...)
	p := e.Broadcast(args[k], vars)
	args[k] = p
	loss := e.apply(x.Call, f, args)
	if loss == nil {
		return nil
	}
	if len(loss.Axes) > 0 {
		e.Errorf(diag.NotScalar, x.Call, "%s is %s; only a number has a gradient", Text(x.Call), e.Type(loss))
		return nil
	}
	val := e.ValueOver(loss, vars)
	seed := e.IR.Const(1, val.Axes...)
	wrt := p.Factors[0].Val
	adj := autodiff.Reverse(e.Build(), map[*ir.Value]*ir.Value{val: seed}, []*ir.Value{wrt})[wrt]
	if adj == nil {
		adj = e.IR.Const(0, wrt.Axes...)
	}
	if e.Trace != nil {
		*e.Trace = append(*e.Trace, GradSite{x, e.Eq, e.Func, wrt, val, adj})
	}
	out := p.Clone()
	out.Factors[0].Val = adj
	return out
}

// A GradSite is one ∇ inside an equation as it was built: the value that the
// parameter was bound to, its result, and the derived gradient.
type GradSite struct {
	At                 *notation.Grad
	Eq                 string
	Func               *ir.Func
	Wrt, Loss, Adjoint *ir.Value
}
