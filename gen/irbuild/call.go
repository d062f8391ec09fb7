package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// functions are the scalar primitives that a page may call by name.
var functions = map[string]ir.Op{"exp": ir.Exp, "log": ir.Log, "log1p": ir.Log1p, "expm1": ir.Expm1, "sqrt": ir.Sqrt,
	"tanh": ir.Tanh, "sigmoid": ir.Sigmoid, "softplus": ir.Softplus, "sin": ir.Sin, "cos": ir.Cos, "erf": ir.Erf,
	"abs": ir.Abs, "sign": ir.Sign, "floor": ir.Floor, "stop": ir.Stop}

var functions2 = map[string]ir.Op{"max": ir.Max2, "min": ir.Min2}

// call builds f(a, b): a function of the page or of another, an operation, or
// a scalar primitive.
func (e *builder) call(x *notation.Call) *ten {
	name := x.Fun.Text
	if f := e.function(name); f != nil {
		return e.apply(x, f, e.args(x))
	}
	if u := e.blk.Tree.Units[name]; u != nil && u.Kind == notation.OpUnit {
		return e.callOp(x, u)
	}
	if op, ok := functions[name]; ok {
		ts := e.values(x)
		if ts == nil || !e.arity(x, len(ts), 1) {
			return nil
		}
		return e.unary(op, ts[0])
	}
	if op, ok := functions2[name]; ok {
		ts := e.values(x)
		if ts == nil || !e.arity(x, len(ts), 2) {
			return nil
		}
		if len(ts[0].axes) > 0 && len(ts[1].axes) > 0 && !e.same(x, x.Args[0], x.Args[1], ts[0], ts[1]) {
			return nil
		}
		return e.scalar2(op, ts[0], ts[1])
	}
	if name == "diag" {
		return e.diag(x)
	}
	if s := e.blk.Symbols[name]; s != nil && s.Kind == check.Part {
		e.errorf(diag.NotSupported, x, "the part %s is called inside an expression", name).
			Hint("call it on a line of its own: a = %s(x)", name)
		return nil
	}
	d := e.errorf(diag.NotAFunction, &notation.Ident{Span: x.Fun.Span}, "there is no function %s", name)
	if notation.Subscripted(name) {
		d.Hint("%s takes a subscript: %s_{i∈n}(x[i])", name, name)
	}
	return nil
}

func (e *builder) function(name string) *check.Function { return e.blk.Funcs[name] }

func (e *builder) arity(x *notation.Call, got, want int) bool {
	if got != want {
		e.errorf(diag.WrongArity, x, "%s takes %s, not %d", x.Fun.Text, count(want, "argument", "arguments"), got)
	}
	return got == want
}

func (e *builder) args(x *notation.Call) []*ten {
	out := make([]*ten, len(x.Args))
	ok := true
	for i, a := range x.Args {
		out[i] = e.any(a)
		ok = ok && out[i] != nil
	}
	if !ok {
		return nil
	}
	return out
}

// values are arguments that must be numbers.
func (e *builder) values(x *notation.Call) []*ten {
	out := e.args(x)
	for i := range out {
		if e.real(e.closed(x.Args[i], out[i]), x.Args[i]) == nil {
			return nil
		}
	}
	return out
}

// maxDepth bounds how deep functions call each other.
const maxDepth = 50

// apply builds a function's body with its parameters bound to the arguments.
// A function of numbers maps over arrays: it is built for one entry.
func (e *builder) apply(x *notation.Call, f *check.Function, args []*ten) *ten {
	if args == nil || !e.arity(x, len(args), len(f.Params)) {
		return nil
	}
	if e.cyclic[f.Name] {
		return nil
	}
	if e.depth++; e.depth > maxDepth {
		e.depth--
		e.errorf(diag.Cycle, x, "%s calls itself", f.Name)
		e.cyclic[f.Name] = true // two calls of itself would be built for ever
		return nil
	}
	defer func() { e.depth-- }()
	e.enter(f)
	defer e.pop()
	vars, ok := e.take(x, f, args)
	if !ok {
		return nil
	}
	e.calls = append(e.calls, x)
	defer func() { e.calls = e.calls[:len(e.calls)-1] }()
	out := e.define(f.Def)
	if out == nil || len(vars) == 0 {
		return out
	}
	return e.lift(out, vars)
}

// enter opens the scope of a function: its own page's names, or the block's
// when it is written in the block.
func (e *builder) enter(f *check.Function) {
	e.push(&scope{fence: f.Block == nil})
}

// take binds the parameters of a function to the arguments. What is open comes
// last: the others say what the axes of the signature are.
func (e *builder) take(x *notation.Call, f *check.Function, args []*ten) ([]*loopVar, bool) {
	for i, p := range f.Params {
		if p.Type != nil && (number(p) || p.Type.AnyShape) && e.closed(x.Args[i], args[i]) == nil {
			return nil, false
		}
	}
	entries, vars := e.entries(f, args)
	for _, open := range []bool{false, true} {
		for i, p := range f.Params {
			a := entries[i]
			if a.open() != open {
				continue
			}
			if open && p.Type != nil {
				a = e.closed(x.Args[i], e.fill(x.Args[i], a, e.knownAxes(f, p, len(a.axes))))
			}
			if a == nil || p.Type != nil && !e.fits(x, x.Args[i], f, p, a) {
				return nil, false
			}
			e.bind(p.Name.Text, &binding{val: a})
		}
	}
	return vars, e.oneShape(x, f, entries)
}

// knownAxes are the axes of a parameter as far as its call has bound them.
func (e *builder) knownAxes(f *check.Function, p *notation.Param, rank int) []*ir.Axis {
	axes := make([]*ir.Axis, rank)
	for i := range axes {
		if i >= len(p.Type.Shape) {
			break
		}
		if id, ok := p.Type.Shape[i].(*notation.Ident); ok {
			if b := e.scopes[len(e.scopes)-1].names[id.Name.Text]; b != nil {
				axes[i] = b.axis
			} else if a := e.blk.AxisFor(f.Unit, id.Name.Text); a != nil && !e.fenced() {
				axes[i] = e.axis(a)
			}
		}
	}
	return axes
}

// entries reads array arguments entry by entry where the parameters are
// numbers; arrays then need the same axes.
func (e *builder) entries(f *check.Function, args []*ten) ([]*ten, []*loopVar) {
	var axes []*ir.Axis
	for i, p := range f.Params {
		if number(p) && f.Def.Target.Index == nil && len(args[i].axes) > 0 && typed(f) {
			axes = args[i].axes
		}
	}
	if axes == nil {
		return args, nil
	}
	var vars []*loopVar
	for _, a := range axes {
		vars = append(vars, e.newVar("·", a))
	}
	out := make([]*ten, len(args))
	for i, t := range args {
		out[i] = t
		if len(t.axes) == len(axes) && slices.Equal(t.axes, axes) {
			u := t
			for _, v := range vars {
				u = at(u, v)
			}
			out[i] = u
		}
	}
	return out, vars
}

// number reports whether a parameter is declared as a number.
func number(p *notation.Param) bool {
	return p.Type != nil && p.Type.Kind == notation.RealType && len(p.Type.Shape) == 0 && !p.Type.AnyShape
}

func typed(f *check.Function) bool {
	return slices.ContainsFunc(f.Params, func(p *notation.Param) bool { return number(p) })
}

// oneShape checks that all parameters of any one shape got the same.
func (e *builder) oneShape(x *notation.Call, f *check.Function, args []*ten) bool {
	first := -1
	for i, p := range f.Params {
		switch {
		case p.Type == nil || !p.Type.AnyShape || args[i].isLiteral():
		case first < 0:
			first = i
		case !sameAxes(args[i], args[first]):
			e.errorf(diag.ShapeMismatch, x.Args[i], "%s is %s, but %s is %s", text(x.Args[i]), e.typ(args[i]), text(x.Args[first]), e.typ(args[first])).
				Labelf("%s", e.typ(args[i])).See(p.Span, "parameter %s of %s has the shape of %s", p.Name.Text, f.Name, f.Params[first].Name.Text)
			return false
		}
	}
	return true
}

// fits checks an argument against a parameter's type and binds the axes that
// the signature introduces.
func (e *builder) fits(x *notation.Call, arg notation.Expr, f *check.Function, p *notation.Param, t *ten) bool {
	switch {
	case p.Type.AnyShape:
		return true
	case p.Type.Kind == notation.IntType:
		return true
	case p.Type.Kind != notation.RealType && p.Type.Kind != notation.SphereType && p.Type.Kind != notation.SimplexType:
		return true
	case t.isLiteral() && t.coef == 0:
		return true
	case len(p.Type.Shape) != len(t.axes):
		e.errorf(diag.ShapeMismatch, arg, "%s is %s, but parameter %s of %s is %s", text(arg), e.typ(t), p.Name.Text, x.Fun.Text, text2(p.Type)).
			Labelf("%s", e.typ(t)).See(p.Span, "required here, parameter %s", p.Name.Text)
		return false
	}
	for i, s := range p.Type.Shape {
		want := e.signatureAxis(s, f, t.axes[i])
		if want == nil {
			return false
		}
		if want != t.axes[i] {
			e.errorf(diag.ShapeMismatch, arg, "%s is %s, but parameter %s of %s must be %s", text(arg), e.typ(t), p.Name.Text, x.Fun.Text, text2(p.Type)).
				Labelf("%s", e.typ(t)).See(p.Span, "required here, parameter %s", p.Name.Text)
			return false
		}
	}
	return true
}

// signatureAxis is an axis of a parameter's type: the one that this call has
// bound, the one that the function's unit means, or a new name for the axis that
// came. What the caller calls an axis means nothing here.
func (e *builder) signatureAxis(s notation.Expr, f *check.Function, came *ir.Axis) *ir.Axis {
	bind := func(id *notation.Ident) *ir.Axis {
		e.bind(id.Name.Text, &binding{axis: came})
		return came
	}
	id, ok := s.(*notation.Ident)
	if !ok {
		return e.axisExpr(s, bind)
	}
	if b := e.scopes[len(e.scopes)-1].names[id.Name.Text]; b != nil && b.axis != nil {
		return b.axis
	}
	if a := e.blk.AxisFor(f.Unit, id.Name.Text); a != nil && !e.fenced() {
		return e.axis(a)
	}
	return bind(id)
}

func text2(t *notation.Type) string { return notation.Print(t, notation.Unicode) }

// grad builds ∇_p f(args): the derivative of one call by one of its formal
// parameters, everything else held fixed. The parameter is bound to a copy of
// its argument over all indices in scope, so that each point of a sum has a
// gradient of its own.
func (e *builder) grad(x *notation.Grad) *ten {
	f := e.function(x.Call.Fun.Text)
	if f == nil {
		e.errorf(diag.NotAFunction, x.Call, "%s is not a function of this page", x.Call.Fun.Text).Hint("∇ takes a function that the page defines, such as ℓ(M; k, v) = …")
		return nil
	}
	k := slices.IndexFunc(f.Params, func(p *notation.Param) bool { return p.Name.Text == x.Wrt.Text })
	if k < 0 {
		e.ds.Errorf(diag.NotAFunction, x.Wrt.Span, "%s is not a parameter of %s", x.Wrt.Text, f.Name).See(f.Def.Target.Span, "%s is defined here", f.Name)
		return nil
	}
	args := e.args(x.Call)
	if args == nil {
		return nil
	}
	if args[k] = e.closed(x.Call.Args[k], args[k]); args[k] == nil {
		return nil
	}
	vars := e.pointVars(args)
	p := e.spread(args[k], vars)
	args[k] = p
	loss := e.apply(x.Call, f, args)
	if loss == nil {
		return nil
	}
	if len(loss.axes) > 0 {
		e.errorf(diag.NotScalar, x.Call, "%s is %s; only a number has a gradient", text(x.Call), e.typ(loss))
		return nil
	}
	val := e.pack(loss, vars)
	seed := e.b.Const(1, val.Axes...)
	wrt := p.fs[0].val
	e.b.Eq, e.b.Span = e.eq, e.span
	adj := autodiff.Reverse(e.b, map[*ir.Value]*ir.Value{val: seed}, []*ir.Value{wrt})[wrt]
	if adj == nil {
		adj = e.b.Const(0, wrt.Axes...)
	}
	if e.trace != nil {
		*e.trace = append(*e.trace, gradSite{x, e.eq, e.f, wrt, val, adj})
	}
	out := p.clone()
	out.fs[0].val = adj
	return out
}

// pointVars are the loop variables that any argument depends on.
func (e *builder) pointVars(args []*ten) []*loopVar {
	var vars []*loopVar
	for _, t := range args {
		for i := range t.fs {
			t.fs[i].vars(func(v *loopVar) {
				if !slices.Contains(vars, v) {
					vars = append(vars, v)
				}
			})
		}
	}
	sortVars(vars)
	return vars
}
