package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// An operation inside an equation is written out there: its parameters stand
// for the arguments, its equations and iterations follow in their order, and
// what eval says of its value counts here too. Its names and options
// are those of its own page; the caller's are hidden. In it time is an axis
// like any other, also in a rule.

// callOp builds a call of an operation.
func (e *builder) callOp(x *notation.Call, u *notation.Unit) *ten {
	args := e.args(x)
	if args == nil || !e.arity(x, len(args), len(u.Params)) || e.cyclic[u.Name.Text] {
		return nil
	}
	if e.depth++; e.depth > maxDepth {
		e.depth--
		e.errorf(diag.Cycle, x, "%s calls itself", u.Name.Text)
		e.cyclic[u.Name.Text] = true
		return nil
	}
	defer func() { e.depth-- }()
	blk, ds := check.Instantiate(e.blk.Tree, u)
	if blk == nil || ds.HasErrors() {
		e.errorf(diag.NotSupported, x, "operation %s has errors of its own", u.Name.Text).See(u.Name.Span, "defined here")
		return nil
	}
	if e.relaxes(x, blk) {
		return nil
	}
	caller, inside := e.blk, e.inCall
	e.blk, e.inCall = blk, true
	e.push(&scope{fence: true})
	defer func() { e.pop(); e.blk, e.inCall = caller, inside }()
	f := &check.Function{Name: u.Name.Text, Params: u.Params, Def: u.Result, Unit: u}
	vars, ok := e.take(x, f, args)
	if !ok || !e.sizesOfCall(x, u) {
		return nil
	}
	e.calls = append(e.calls, x)
	defer func() { e.calls = e.calls[:len(e.calls)-1] }()
	out := e.writtenOut(blk)
	if out == nil || len(vars) == 0 {
		return out
	}
	return e.lift(out, vars)
}

// relaxes refuses an operation whose gradient is that of another function: the
// gradient of an equation would then be the derivative of nothing, which no
// difference can confirm.
func (e *builder) relaxes(x *notation.Call, blk *check.Block) bool {
	for _, c := range blk.Claims {
		if word := c.Keyword.Text; word == "relax" || word == "adjoint" {
			e.errorf(diag.NotSupported, x, "%s has a gradient of its own, which an equation cannot take over", blk.Name).
				See(c.Span, "declared here").Hint("write stop(…) and the function that stands for it in the equation")
			return true
		}
	}
	return false
}

// writtenOut builds the equations of an operation, each under its name, and
// its value.
func (e *builder) writtenOut(blk *check.Block) *ten {
	var out *ten
	for _, eq := range blk.Eqs {
		t := e.real(e.side(eq), eq.Value())
		if t == nil {
			return nil
		}
		if len(t.fs) > 0 {
			t = e.one(t)
		}
		e.bind(eq.Name, &binding{val: t})
		if eq.Name == "out" {
			out = t
		}
	}
	if out == nil {
		return nil
	}
	return e.override(out)
}

// sizesOfCall says what the sizes of an operation's page are in this call: what
// the arguments have, an option's value, and what is computed from those.
func (e *builder) sizesOfCall(x *notation.Call, u *notation.Unit) bool {
	for _, a := range e.blk.AxisSeq {
		b := e.local(a.Name)
		switch {
		case b != nil && b.axis != nil:
			e.axes[a] = b.axis
			continue
		case a.Name == "L" || a.Name == "T":
			continue
		case a.Default > 0:
			e.axes[a] = e.sizedAxis(shape.Int(int64(a.Default)))
			continue
		}
		size := a.Size
		for _, s := range size.Symbols() {
			if b = e.local(s); b == nil || b.axis == nil {
				e.errorf(diag.NotSupported, x, "the size %s of %s does not follow from the arguments", s, u.Name.Text).
					See(u.Name.Span, "defined here")
				return false
			}
			size = size.Replace(s, b.axis.Size)
		}
		e.axes[a] = e.sizedAxis(size)
	}
	return true
}

// plainTime reports whether there is no context: time begins where the input
// of an operation begins.
func (e *builder) plainTime() bool {
	return e.blk.Unit.Kind == notation.OpUnit || e.blk.Unit.Kind == notation.FuncUnit
}

// timeAxis is the axis of tokens.
func (e *builder) timeAxis() *ir.Axis {
	if e.token != nil && !e.plainTime() {
		return e.token.axis
	}
	if a := e.blk.Axes["T"]; a != nil {
		return e.axis(a)
	}
	return nil
}
