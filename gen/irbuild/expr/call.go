package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Calls of functions. A function is inlined: its parameters are bound to the arguments, and the
// names of axes in its signature to the axes of the arguments.

// call builds f(a, b): a function of the page or of another, an operation, or
// a scalar primitive.
func (e *Builder) call(x *notation.Call) *tensor.Tensor {
	name := x.Fun.Text
	if f := e.Block.Funcs[name]; f != nil {
		return e.apply(x, f, e.args(x))
	}
	if u := e.Block.Tree.Units[name]; u != nil && u.Kind == notation.OpUnit {
		return e.callOp(x, u)
	}
	if op, ok := ir.PageFunction(name); ok {
		ts := e.values(x)
		if ts == nil || !e.arity(x, len(ts), op.Info().Args) {
			return nil
		}
		if len(ts) == 1 {
			return e.unary(op, ts[0])
		}
		if len(ts[0].Axes) > 0 && len(ts[1].Axes) > 0 && !e.Same(x, x.Args[0], x.Args[1], ts[0], ts[1]) {
			return nil
		}
		return e.Entrywise(op, ts[0], ts[1])
	}
	switch name {
	case "diag":
		return e.diag(x)
	case "position":
		return e.position(x)
	}
	if s := e.Block.Symbols[name]; s != nil && s.Kind == check.Part {
		e.Errorf(diag.NotSupported, x, "the part %s is called inside an expression", name).
			Hint("call it on a line of its own: a = %s(x)", name)
		return nil
	}
	d := e.Errorf(diag.NotAFunction, &notation.Ident{Span: x.Fun.Span}, "there is no function %s", name)
	if notation.Subscripted(name) {
		d.Hint("%s takes a subscript: %s_{i∈n}(x[i])", name, name)
	}
	return nil
}

func (e *Builder) arity(x *notation.Call, got, want int) bool {
	if got != want {
		e.Errorf(diag.WrongArity, x, "%s takes %s, not %d", x.Fun.Text, count(want, "argument", "arguments"), got)
	}
	return got == want
}

func (e *Builder) args(x *notation.Call) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(x.Args))
	ok := true
	for i, a := range x.Args {
		out[i] = e.OpenExpr(a)
		ok = ok && out[i] != nil
	}
	if !ok {
		return nil
	}
	return out
}

// values are arguments that must be numbers.
func (e *Builder) values(x *notation.Call) []*tensor.Tensor {
	out := e.args(x)
	for i := range out {
		if e.real(e.Closed(x.Args[i], out[i]), x.Args[i]) == nil {
			return nil
		}
	}
	return out
}

// maxDepth bounds how deep functions call each other.
const maxDepth = 50

// apply builds a function's body with its parameters bound to the arguments. The
// function sees its own page's names, or the block's where it is written in the block.
func (e *Builder) apply(x *notation.Call, f *check.Function, args []*tensor.Tensor) *tensor.Tensor {
	if !e.mayExpand(x, f, args) {
		return nil
	}
	e.Push(&Scope{fence: f.Block == nil})
	defer e.Pop()
	vars, ok := e.bindParameters(x, f, args)
	if !ok {
		return nil
	}
	return e.expand(x, vars, func() *tensor.Tensor { return e.Define(f.Def) })
}

// mayExpand checks the number of arguments and refuses endless recursion.
func (e *Builder) mayExpand(x *notation.Call, f *check.Function, args []*tensor.Tensor) bool {
	if args == nil || !e.arity(x, len(args), len(f.Params)) || e.cyclic[f.Name] {
		return false
	}
	if len(e.calls) >= maxDepth {
		e.Errorf(diag.Cycle, x, "%s calls itself", f.Name)
		e.cyclic[f.Name] = true // a body with two calls of itself would be built 2^maxDepth times
		return false
	}
	return true
}

// expand builds the body of a call. A function of numbers maps over arrays: its
// body is built for one entry, and vars are the indices of the entries.
func (e *Builder) expand(x *notation.Call, vars []*tensor.LoopVar, body func() *tensor.Tensor) *tensor.Tensor {
	e.calls = append(e.calls, x)
	defer func() { e.calls = e.calls[:len(e.calls)-1] }()
	out := body()
	if out == nil || len(vars) == 0 {
		return out
	}
	return e.Tabulate(out, vars)
}

// bindParameters binds the parameters of a function to the arguments. What is open comes
// last: the others say what the axes of the signature are.
func (e *Builder) bindParameters(x *notation.Call, f *check.Function, args []*tensor.Tensor) ([]*tensor.LoopVar, bool) {
	for i, p := range f.Params {
		if p.Type != nil && (isNumber(p) || p.Type.AnyShape) && e.Closed(x.Args[i], args[i]) == nil {
			return nil, false
		}
	}
	entries, vars := e.entries(f, args)
	for _, open := range []bool{false, true} {
		for i, p := range f.Params {
			a := entries[i]
			if a.HasOpenAxes() != open {
				continue
			}
			if open && p.Type != nil {
				a = e.Closed(x.Args[i], e.Fill(x.Args[i], a, e.knownAxes(f, p, len(a.Axes))))
			}
			if a == nil || p.Type != nil && !e.checkArgument(x, x.Args[i], f, p, a) {
				return nil, false
			}
			e.Bind(p.Name.Text, &Binding{Value: a})
		}
	}
	return vars, e.checkSameShape(x, f, entries)
}

// knownAxes are the axes of a parameter as far as its call has bound them.
func (e *Builder) knownAxes(f *check.Function, p *notation.Param, rank int) []*ir.Axis {
	axes := make([]*ir.Axis, rank)
	for i := range axes {
		if i >= len(p.Type.Shape) {
			break
		}
		if id, ok := p.Type.Shape[i].(*notation.Ident); ok {
			if b := e.Scopes[len(e.Scopes)-1].Names[id.Name.Text]; b != nil {
				axes[i] = b.Axis
			} else if a := e.Block.AxisFor(f.Unit, id.Name.Text); a != nil && !e.fenced() {
				axes[i] = e.Axis(a)
			}
		}
	}
	return axes
}

// entries reads array arguments entry by entry where the parameters are
// numbers; arrays then need the same axes.
func (e *Builder) entries(f *check.Function, args []*tensor.Tensor) ([]*tensor.Tensor, []*tensor.LoopVar) {
	var axes []*ir.Axis
	for i, p := range f.Params {
		if isNumber(p) && f.Def.Target.Index == nil && len(args[i].Axes) > 0 {
			axes = args[i].Axes
		}
	}
	if axes == nil {
		return args, nil
	}
	var vars []*tensor.LoopVar
	for _, a := range axes {
		vars = append(vars, e.NewVar("·", a))
	}
	out := make([]*tensor.Tensor, len(args))
	for i, t := range args {
		out[i] = t
		if len(t.Axes) == len(axes) && slices.Equal(t.Axes, axes) {
			u := t
			for _, v := range vars {
				u = tensor.AtVar(u, v)
			}
			out[i] = u
		}
	}
	return out, vars
}

// isNumber reports whether a parameter is declared as a number.
func isNumber(p *notation.Param) bool {
	return p.Type != nil && p.Type.Kind == notation.RealType && len(p.Type.Shape) == 0 && !p.Type.AnyShape
}

// checkSameShape checks that all parameters of any one shape got the same.
func (e *Builder) checkSameShape(x *notation.Call, f *check.Function, args []*tensor.Tensor) bool {
	first := -1
	for i, p := range f.Params {
		switch {
		case p.Type == nil || !p.Type.AnyShape || args[i].IsNumber():
		case first < 0:
			first = i
		case !tensor.SameAxes(args[i], args[first]):
			e.Errorf(diag.ShapeMismatch, x.Args[i], "%s is %s, but %s is %s", Text(x.Args[i]), e.Type(args[i]), Text(x.Args[first]), e.Type(args[first])).
				Labelf("%s", e.Type(args[i])).See(p.Span, "parameter %s of %s has the shape of %s", p.Name.Text, f.Name, f.Params[first].Name.Text)
			return false
		}
	}
	return true
}

// checkArgument checks an argument against a parameter's type and binds the axes that
// the signature introduces.
func (e *Builder) checkArgument(x *notation.Call, arg notation.Expr, f *check.Function, p *notation.Param, t *tensor.Tensor) bool {
	array := []notation.TypeKind{notation.RealType, notation.SphereType, notation.SimplexType}
	if p.Type.AnyShape || !slices.Contains(array, p.Type.Kind) || t.IsZero() {
		return true
	}
	refuse := func(is string) bool {
		e.Errorf(diag.ShapeMismatch, arg, "%s is %s, but parameter %s of %s %s %s", Text(arg), e.Type(t), p.Name.Text, x.Fun.Text, is, Text(p.Type)).
			Labelf("%s", e.Type(t)).See(p.Span, "required here, parameter %s", p.Name.Text)
		return false
	}
	if len(p.Type.Shape) != len(t.Axes) {
		return refuse("is")
	}
	for i, s := range p.Type.Shape {
		switch want := e.signatureAxis(s, f, t.Axes[i]); {
		case want == nil:
			return false
		case want != t.Axes[i]:
			return refuse("must be")
		}
	}
	return true
}

// signatureAxis is an axis of a parameter's type: the one that this call has
// bound, the one that the function's unit means, or a new name for the axis that
// came. What the caller calls an axis means nothing here.
func (e *Builder) signatureAxis(s notation.Expr, f *check.Function, came *ir.Axis) *ir.Axis {
	bind := func(id *notation.Ident) *ir.Axis {
		e.Bind(id.Name.Text, &Binding{Axis: came})
		return came
	}
	id, ok := s.(*notation.Ident)
	if !ok {
		return e.AxisExpr(s, bind)
	}
	if b := e.Scopes[len(e.Scopes)-1].Names[id.Name.Text]; b != nil && b.Axis != nil {
		return b.Axis
	}
	if a := e.Block.AxisFor(f.Unit, id.Name.Text); a != nil && !e.fenced() {
		return e.Axis(a)
	}
	return bind(id)
}
