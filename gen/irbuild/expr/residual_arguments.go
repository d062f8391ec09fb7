package expr

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Arguments and conditions of a residual. An argument of the solve is a value with the subscripts
// by points at which the residual reads it. A read that has no such form, of a window or of an entry
// of a table, is copied before the solve. Conditions on the points become an array of ones and zeros,
// which is an argument too.

// guardsReadPoints reports whether a guard of an instruction depends on the points, or
// on a table.
func (x *extraction) guardsReadPoints(in *ir.Instr, points []int) bool {
	set := map[int]bool{}
	via := false
	for _, g := range in.Guard {
		g.Loops(set)
		via = via || g.Indirect != nil
	}
	return via || slices.ContainsFunc(points, func(l int) bool { return set[l] })
}

// mask keeps the guards of an instruction that depend on the points, which the
// residual does not know: an array that is one where they hold is an argument,
// and what the instruction gives elsewhere is zero, as it would be under them.
func (x *extraction) mask(in, n *ir.Instr, points, to []int) bool {
	set := map[int]bool{}
	for _, g := range in.Guard {
		g.Loops(set)
	}
	c, read := x.emitCopy(in, set, ir.Const, nil)
	arg, ok := x.arg(in, ir.Arg{Val: c, Sub: read}, points, to)
	if !ok {
		return false
	}
	if n.Op == ir.Prod {
		n.Args = append(n.Args, arg)
		return true
	}
	b := &ir.Builder{F: x.f, Eq: in.Eq, Span: in.Span}
	zero := ir.Arg{Val: b.Const(0)}
	at := make([]ir.Sub, len(n.Loops)) // the mask by the output's axes
	for i, s := range n.To {
		l, _ := s.Loop()
		at[l] = ir.L(i)
	}
	arg.Sub, _ = ir.SubstAll(arg.Sub, at)
	holds := b.Elementwise(ir.Less, n.Out.Axes, zero, arg)
	x.vals[in.Out] = b.Elementwise(ir.Select, n.Out.Axes, ir.All(holds), ir.All(n.Out), zero)
	return true
}

// emitCopy puts an instruction over some of in's loops and under all its guards
// in front of the solve, and returns its output with the subscripts at which in
// reads it.
func (x *extraction) emitCopy(in *ir.Instr, loops map[int]bool, op ir.Op, args []ir.Arg) (*ir.Value, []ir.Sub) {
	number := make([]int, len(in.Loops))
	c := &ir.Instr{Op: op, Coef: []float64{1}, Eq: in.Eq, Span: in.Span}
	var read []ir.Sub
	for _, g := range in.Guard {
		g.Loops(loops)
	}
	for l := range in.Loops {
		if loops[l] {
			number[l] = len(c.Loops)
			c.Loops, read = append(c.Loops, in.Loops[l]), append(read, ir.L(l))
		}
	}
	for _, a := range args {
		from := ir.Arg{Val: a.Val}
		for _, s := range a.Sub {
			from.Sub = append(from.Sub, x.onPoints(s, number))
		}
		c.Args = append(c.Args, from)
	}
	for _, g := range in.Guard {
		c.Guard = append(c.Guard, x.onPoints(g, number))
	}
	c.To = ir.Ls(len(c.Loops))
	c.Out = &ir.Value{Name: x.e.Func.Fresh("%"), Elem: ir.Real, Axes: c.Loops, Def: c}
	x.e.Func.Body = append(x.e.Func.Body, c)
	return c.Out, read
}

// renumbered is a subscript with loop l as loop to[l].
func renumbered(s ir.Sub, to []int) ir.Sub {
	out := ir.Sub{Const: s.Const}
	for _, t := range s.Terms {
		out.Terms = append(out.Terms, ir.Term{Loop: to[t.Loop], Coef: t.Coef})
	}
	return out
}

// arg reads a value of the program inside the residual.
func (x *extraction) arg(in *ir.Instr, a ir.Arg, points, to []int) (ir.Arg, bool) {
	if d := a.Val.Def; d != nil && len(d.Guard) == 0 && (d.Op == ir.Const || d.Op == ir.SizeOf && len(a.Val.Axes) == 0) {
		return ir.Arg{Val: x.constant(d)}, true
	}
	outer, inner := make([]ir.Sub, len(a.Sub)), []ir.Sub(nil)
	var free []int
	whole := true // every subscript is in range without a guard
	for i, s := range a.Sub {
		l, ok := s.Loop()
		whole = whole && (ok && in.Loops[l] == a.Val.Axes[i] || s.Indirect == nil && len(s.Terms) == 0)
	}
	for i, s := range a.Sub {
		set := map[int]bool{}
		s.Loops(set)
		pointed := 0
		for _, l := range points {
			if set[l] {
				pointed++
			}
		}
		switch {
		case pointed == len(set) && (whole || len(in.Guard) == 0):
			back := make([]int, len(in.Loops))
			for k, l := range points {
				back[l] = k
			}
			outer[i] = x.onPoints(s, back)
		case pointed == 0 && s.Indirect == nil && (whole || len(in.Guard) == 0 || !x.guardsReadPoints(in, points)):
			free = append(free, i)
			inner = append(inner, renumbered(s, to))
		default:
			return x.copyArgument(in, a, points, to)
		}
	}
	key := fmt.Sprintf("%p %v", a.Val, free)
	for i, s := range outer {
		if !slices.Contains(free, i) {
			key += " " + subKey(s)
		}
	}
	k, known := x.params[key]
	if !known {
		k = x.param(key, a.Val, outer, free)
	}
	return ir.Arg{Val: x.f.Params[k], Sub: inner}, true
}

// onPoints is a subscript by points, in the loops of the solve.
func (x *extraction) onPoints(s ir.Sub, back []int) ir.Sub {
	out := renumbered(s, back)
	if s.Indirect != nil {
		via := ir.Arg{Val: s.Indirect.Val}
		for _, v := range s.Indirect.Sub {
			via.Sub = append(via.Sub, x.onPoints(v, back))
		}
		out.Indirect = &via
	}
	return out
}

// subKey is a text that equal subscripts share.
func subKey(s ir.Sub) string {
	text := fmt.Sprintf("%v %s", s.Terms, s.Const)
	if s.Indirect != nil {
		text += fmt.Sprintf(" via %p", s.Indirect.Val)
		for _, v := range s.Indirect.Sub {
			text += " " + subKey(v)
		}
	}
	return text
}

// param adds an argument of the solve and the parameter of the residual that
// it is.
func (x *extraction) param(key string, v *ir.Value, outer []ir.Sub, free []int) int {
	var axes []*ir.Axis
	for _, i := range free {
		outer[i] = ir.L(len(x.points) + len(x.over))
		x.over = append(x.over, v.Axes[i])
		axes = append(axes, v.Axes[i])
	}
	x.args = append(x.args, ir.Arg{Val: v, Sub: outer})
	name := v.Name
	if name[0] == '%' {
		name = "arg" // equal equations shall look equal
	}
	p := x.f.AddParam(name, ir.Input, v.Elem, axes...)
	p.NoGrad = v.NoGrad
	x.params[key] = len(x.f.Params) - 1
	return x.params[key]
}

// constant copies a constant or a size into the residual.
func (x *extraction) constant(d *ir.Instr) *ir.Value {
	if v := x.vals[d.Out]; v != nil {
		return v
	}
	n := &ir.Instr{Op: d.Op, Coef: slices.Clone(d.Coef), Poly: d.Poly, Eq: d.Eq, Span: d.Span}
	n.Out = &ir.Value{Name: x.f.Fresh("%"), Elem: d.Out.Elem, Def: n}
	x.f.Body = append(x.f.Body, n)
	x.vals[d.Out] = n.Out
	return n.Out
}

// copyArgument copies a value, in front of the solve, over all loops that it is
// read along, where one subscript mixes a point with another index or comes
// from a table.
func (x *extraction) copyArgument(in *ir.Instr, a ir.Arg, points, to []int) (ir.Arg, bool) {
	if a.Val.Elem != ir.Real {
		return ir.Arg{}, x.refuse("the equation of %s reads positions through a table", x.name())
	}
	set := map[int]bool{}
	a.Loops(set)
	v, read := x.emitCopy(in, set, ir.Prod, []ir.Arg{a})
	return x.arg(in, ir.Arg{Val: v, Sub: read}, points, to)
}
