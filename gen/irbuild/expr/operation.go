package expr

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Calls of operations inside equations. An operation is inlined: its parameters are bound to the
// arguments, its equations and iterations follow in order, and eval and relax apply to its value.
// It sees the names and options of its own page only. Time is an axis like any other in it, also
// where a rule calls it.

// callOp builds a call of an operation.
func (e *Builder) callOp(x *notation.Call, u *notation.Unit) *tensor.Tensor {
	args := e.args(x)
	f := &check.Function{Name: u.Name.Text, Params: u.Params, Def: u.Result, Unit: u}
	if !e.mayExpand(x, f, args) {
		return nil
	}
	blk, ds := check.Instantiate(e.Block.Tree, u)
	if blk == nil || ds.HasErrors() {
		e.Errorf(diag.NotSupported, x, "operation %s has errors of its own", u.Name.Text).See(u.Name.Span, "defined here")
		return nil
	}
	if e.refuseRelaxed(x, blk) {
		return nil
	}
	caller, inside := e.Block, e.inCall
	e.Block, e.inCall = blk, true
	e.Push(&Scope{fence: true})
	defer func() { e.Pop(); e.Block, e.inCall = caller, inside }()
	vars, ok := e.bindParameters(x, f, args)
	if !ok || !e.bindSizes(x, u) {
		return nil
	}
	return e.expand(x, vars, func() *tensor.Tensor { return e.inlineEquations(blk) })
}

// refuseRelaxed refuses an operation whose gradient is that of another function: the
// gradient of the equation would not be the derivative of its value.
func (e *Builder) refuseRelaxed(x *notation.Call, blk *check.Block) bool {
	for _, c := range blk.Claims {
		if word := c.Keyword.Text; word == "relax" || word == "adjoint" {
			e.Errorf(diag.NotSupported, x, "%s has a gradient of its own, which an equation cannot use", blk.Name).
				See(c.Span, "declared here").Hint("write stop(…) and the function that replaces it in the equation")
			return true
		}
	}
	return false
}

// inlineEquations builds the equations of an operation, each under its name, and
// its value.
func (e *Builder) inlineEquations(blk *check.Block) *tensor.Tensor {
	var out *tensor.Tensor
	for _, eq := range blk.Eqs {
		t := e.real(e.rightSide(eq), eq.Value())
		if t == nil {
			return nil
		}
		if len(t.Factors) > 0 {
			t = e.Materialize(t)
		}
		e.Bind(eq.Name, &Binding{Value: t})
		if eq.Name == "out" {
			out = t
		}
	}
	if out == nil {
		return nil
	}
	return e.Override(out)
}

// bindSizes binds the sizes of an operation's page in this call: sizes of the arguments,
// values of options, and sizes computed from those.
func (e *Builder) bindSizes(x *notation.Call, u *notation.Unit) bool {
	for _, a := range e.Block.AxisSeq {
		b := e.Local(a.Name)
		switch {
		case b != nil && b.Axis != nil:
			e.Axes[a] = b.Axis
			continue
		case a.Name == "L" || a.Name == "T":
			continue
		case a.Default > 0:
			e.Axes[a] = e.SizedAxis(shape.Int(int64(a.Default)))
			continue
		}
		size := a.Size
		for _, s := range size.Symbols() {
			if b = e.Local(s); b == nil || b.Axis == nil {
				e.Errorf(diag.NotSupported, x, "the size %s of %s does not follow from the arguments", s, u.Name.Text).
					See(u.Name.Span, "defined here")
				return false
			}
			size = size.Replace(s, b.Axis.Size)
		}
		e.Axes[a] = e.SizedAxis(size)
	}
	return true
}

// Override applies eval and relax: the value is that of eval, the gradient that of relax,
// or of the equation without relax.
func (e *Builder) Override(out *tensor.Tensor) *tensor.Tensor {
	eval, relax := out, out
	changed := false
	for _, c := range e.Block.Claims {
		word := c.Keyword.Text
		if word != "eval" && word != "relax" {
			continue
		}
		e.Push(&Scope{})
		ok := e.With(c.With)
		t := (*tensor.Tensor)(nil)
		if ok {
			t = e.Value(c.Right)
		}
		e.Pop()
		if t == nil {
			return nil
		}
		changed = true
		if word == "eval" {
			eval = t
		} else {
			relax = t
		}
	}
	if !changed {
		return out
	}
	return e.Entrywise(ir.Override, eval, relax)
}
