package expr

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Axes: those of the block as axes of the program, axes of sizes without a name, and the types
// of declared names.

// Axis is the program's axis for a block's axis.
func (e *Builder) Axis(a *check.Axis) *ir.Axis {
	if x := e.Axes[a]; x != nil {
		return x
	}
	size := a.Size.Rename(ident.ASCII)
	x := e.Sized[size.String()]
	if x == nil || a.Free {
		x = e.Func.NewSizedAxis(ident.ASCII(a.Name), size)
	}
	e.Axes[a] = x
	return x
}

// SizedAxis is the axis of a size that is written without a name, such as
// d_k + d_v: the one axis for which a dims line computes this size, or else one
// of its own. Equal sizes are the same axis: the size is the only name it has.
func (e *Builder) SizedAxis(p shape.Poly) *ir.Axis {
	if x := e.Sized[p.String()]; x != nil {
		return x
	}
	x := e.axisOfSize(p)
	if x == nil {
		x = e.Func.NewSizedAxis(p.String(), p)
	}
	e.Sized[p.String()] = x
	return x
}

// axisOfSize is the one axis of the block whose size a dims line computes to be p.
func (e *Builder) axisOfSize(p shape.Poly) *ir.Axis {
	var found *check.Axis
	for _, a := range e.Block.AxisSeq {
		if _, fixed := a.Size.Const(); a.Free || fixed || a.Size.Rename(ident.ASCII).String() != p.String() {
			continue
		}
		if found != nil {
			return nil
		}
		found = a
	}
	if found == nil {
		return nil
	}
	return e.Axis(found)
}

// axisName is an axis as a message shows it: that of any one shape has no name.
func (e *Builder) axisName(a *ir.Axis) string {
	if a == e.Sized[anyShape] {
		return "…"
	}
	return a.Name
}

// ShapeOf reads a declared shape into axes; undeclared names are what generic
// makes of them.
func (e *Builder) ShapeOf(t *notation.Type, generic func(id *notation.Ident) *ir.Axis) ([]*ir.Axis, bool) {
	var out []*ir.Axis
	for _, s := range t.Shape {
		a := e.AxisExpr(s, generic)
		if a == nil {
			return nil, false
		}
		out = append(out, a)
	}
	return out, true
}

// AxisExpr is the axis of a size that a type or a range has: a name, which generic may
// introduce, or an expression of sizes.
func (e *Builder) AxisExpr(s notation.Expr, generic func(id *notation.Ident) *ir.Axis) *ir.Axis {
	if id, ok := s.(*notation.Ident); ok {
		if b := e.Local(id.Name.Text); b != nil && b.Axis != nil {
			return b.Axis
		}
		if a := e.Block.AxisOf(id.Name.Text); a != nil && !(e.fenced() && generic != nil) {
			return e.Axis(a)
		}
		if generic != nil {
			return generic(id)
		}
	}
	size, ok := e.size(s, generic)
	if !ok {
		e.Errorf(diag.UnknownAxis, s, "%s is not a size", Text(s)).Hint("%s", check.SizeHint(s))
		return nil
	}
	return e.SizedAxis(size)
}

// size reads a size expression in the program's own names.
func (e *Builder) size(s notation.Expr, generic func(id *notation.Ident) *ir.Axis) (shape.Poly, bool) {
	return e.Block.SizeOf(s, func(id *notation.Ident) *check.Axis {
		if b := e.Local(id.Name.Text); b != nil && b.Axis != nil {
			return &check.Axis{Size: b.Axis.Size}
		}
		if a := e.Block.AxisOf(id.Name.Text); a != nil {
			return &check.Axis{Size: a.Size.Rename(ident.ASCII)}
		}
		if generic != nil {
			if a := generic(id); a != nil {
				return &check.Axis{Size: a.Size}
			}
		}
		return nil
	})
}

// Declared reads the type of a declared name.
func (e *Builder) Declared(sym *check.Symbol) ([]*ir.Axis, ir.Elem, bool) {
	t := sym.Type
	if t == nil {
		return nil, ir.Real, true
	}
	elem := ir.Real
	if t.Kind == notation.IntType {
		elem = ir.Int
	}
	if t.AnyShape {
		return []*ir.Axis{e.AnyAxis()}, elem, true
	}
	axes, ok := e.ShapeOf(t, e.generic())
	return axes, elem, ok
}

// anyShape is the key of the axis that represents any shape.
const anyShape = "any shape"

// AnyAxis represents any shape: all entries in a row.
func (e *Builder) AnyAxis() *ir.Axis {
	if x := e.Sized[anyShape]; x != nil {
		return x
	}
	name := "n"
	taken := check.Signature(e.Block.Unit.Params)
	for i := 0; taken[name] || e.Block.Axes[name] != nil; i++ {
		name = fmt.Sprintf("any_%d", i) // two axes of one name would have one size
	}
	x := e.Func.NewAxis(name)
	e.Sized[anyShape] = x
	return x
}

// generic makes axes of the names that an operation's signature introduces.
func (e *Builder) generic() func(id *notation.Ident) *ir.Axis {
	if e.Block.Unit.Kind != notation.OpUnit || e.inCall {
		return nil
	}
	return func(id *notation.Ident) *ir.Axis {
		a := e.Block.Axes[id.Name.Text]
		if a == nil {
			a = e.Block.AddFreeAxis(id.Name.Text)
		}
		return e.Axis(a)
	}
}

// factorsOf are the factors of an axis declared as a product.
func (e *Builder) factorsOf(a *ir.Axis) []*ir.Axis {
	for _, c := range e.Block.AxisSeq {
		if len(c.Factors) > 0 && e.Axis(c) == a {
			var out []*ir.Axis
			for _, f := range c.Factors {
				out = append(out, e.Axis(e.Block.Axes[f]))
			}
			return out
		}
	}
	return nil
}

// productAxis is the declared axis whose factors a pair runs over.
func (e *Builder) productAxis(vs []*tensor.LoopVar) *ir.Axis {
	for _, c := range e.Block.AxisSeq {
		if len(c.Factors) != len(vs) {
			continue
		}
		same := true
		for i, f := range c.Factors {
			same = same && e.Axis(e.Block.Axes[f]) == vs[i].Axis
		}
		if same {
			return e.Axis(c)
		}
	}
	size := vs[0].Axis.Size
	for _, v := range vs[1:] {
		size = size.Mul(v.Axis.Size)
	}
	return e.SizedAxis(size)
}

// Param adds a parameter for a declared name: axes are the variables, then
// what the type says.
func (e *Builder) Param(sym *check.Symbol, role ir.Role, vars []*tensor.LoopVar) *tensor.Tensor {
	axes, elem, ok := e.Declared(sym)
	if !ok {
		return nil
	}
	if role == ir.Constant {
		vars = nil
	}
	v := e.Func.AddParam(ident.ASCII(sym.Name), role, elem, append(tensor.AxesOf(vars), axes...)...)
	v.NoGrad = v.NoGrad || sym.Kind == check.Constant || e.Block.NoGrad(sym.Name) != nil
	return e.FromValue(v, vars, axes)
}

// Role is the role of a declared name in a program. A constant with an initial value is
// kept in the table of parameters.
func Role(sym *check.Symbol) ir.Role {
	switch {
	case sym.Kind == check.Outer, sym.Drawn():
		return ir.Outer
	case sym.Kind == check.Constant:
		return ir.Constant
	}
	return ir.Input
}
