package irbuild

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// An extraction takes the residual of an unknown out of a program and makes it
// a program of its own for one point. Every value that depends on the unknown
// must carry the points as axes, read and written by the same loops everywhere:
// then no point's equation sees another's unknown, and the loops of the points
// can be left out. What the residual reads of the program becomes an argument
// of the solve: a subscript by points stays with the solve, an axis that the
// residual runs over itself is handed to it whole.
type extraction struct {
	*unknown
	z, res *ir.Value
	at     map[*ir.Value][]int // the axes of a dependent value that are the points
	moved  []*ir.Instr         // what depends on the unknown
	params map[string]int      // arguments by what they read and where
	args   []ir.Arg
	over   []*ir.Axis // the axes of the arguments, one after another
	f      *ir.Func
	vals   map[*ir.Value]*ir.Value // values of the program in the residual
}

// extract builds the solve instruction without its output.
func (x *extraction) extract(start int) *ir.Instr {
	e := x.e
	all := upTo(len(x.points))
	x.at[x.z] = all
	var stay []*ir.Instr
	for _, in := range e.f.Body[start:] {
		if !slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return x.at[v] != nil }) {
			stay = append(stay, in)
			continue
		}
		if !x.follow(in) {
			return nil
		}
		x.moved = append(x.moved, in)
	}
	if x.at[x.res] == nil {
		x.absent()
		return nil
	}
	if !slices.Equal(x.at[x.res], all) || len(x.res.Axes) != len(all) {
		return x.mixed()
	}
	e.f.Body = append(e.f.Body[:start:start], stay...)
	x.f = &ir.Func{Name: x.name()}
	x.vals[x.z] = x.f.AddParam(x.z.Name, ir.Input, ir.Real)
	for _, in := range x.moved {
		if !x.copy(in) {
			return nil
		}
	}
	x.f.Results = []ir.Result{{Name: "residual", Val: x.vals[x.res]}}
	adopt(x.f)
	autodiff.Simplify(x.f)
	if d := x.f.Results[0].Val.Def; d != nil {
		l, r := x.s.Left.Where(), x.s.Right.Where()
		d.Span = notation.Span{File: l.File, Start: l.Start, End: r.End}
	}
	return x.instr()
}

// instr is the solve over the points and over the axes of its arguments.
func (x *extraction) instr() *ir.Instr {
	e, n := x.e, len(x.points)
	in := &ir.Instr{Op: ir.SolveOp, Loops: append(axesOf(x.points), x.over...), To: ir.Ls(n), Eq: e.eq, Span: x.s.Domain.Span,
		Solve: &ir.Solve{Residual: x.f, Tol: x.tol}}
	at := map[*loopVar]int{}
	for i, v := range x.points {
		at[v] = i
	}
	for _, t := range []*ten{x.lo, x.hi} {
		in.Args = append(in.Args, ir.Arg{Val: t.fs[0].val, Sub: e.subs(t.fs[0].sub, nil, nil, at)})
	}
	in.Args = append(in.Args, x.args...)
	for i := range x.over {
		in.Over = append(in.Over, n+i)
	}
	return in
}

// mixed says that the equations of several points cannot be told apart.
func (x *extraction) mixed() *ir.Instr {
	x.e.errorf(diag.NotSupported, x.s.Left, "the equation for one entry of %s reads other entries of it", x.name()).
		See(x.d.Target.Span, "the unknown").Hint("each entry is solved for alone; read %s at its own index only", x.name())
	return nil
}

func (x *extraction) refuse(format string, args ...any) bool {
	x.e.errorf(diag.NotSupported, x.s.Left, format, args...).See(x.d.Target.Span, "the unknown")
	return false
}

// loops finds the loops of an instruction that are the points, or nil.
func (x *extraction) loops(in *ir.Instr) []int {
	var out []int
	for _, a := range in.Args {
		pos := x.at[a.Val]
		if pos == nil {
			continue
		}
		var here []int
		for _, p := range pos {
			l, ok := a.Sub[p].Loop()
			if !ok || slices.Contains(here, l) {
				return nil
			}
			here = append(here, l)
		}
		if out != nil && !slices.Equal(out, here) {
			return nil
		}
		out = append([]int{}, here...)
	}
	return out
}

// follow finds the points among the axes of an instruction's output.
func (x *extraction) follow(in *ir.Instr) bool {
	switch in.Op {
	case ir.SolveOp:
		return x.refuse("the equation of %s depends on another unknown, %s, that depends on it", x.name(), in.Solve.Residual.Name)
	case ir.ScanOp, ir.Reshape, ir.Stack:
		return x.refuse("%s is stacked or reshaped in its own equation", x.name())
	}
	points := x.loops(in)
	if points == nil {
		x.mixed()
		return false
	}
	if x.pointed(in, points) && in.Op != ir.Prod && !in.Op.Info().Scalar {
		return x.refuse("a condition on an index of %s stands in a %s of its equation", x.name(), in.Op)
	}
	out := make([]int, len(points))
	for k, l := range points {
		out[k] = slices.IndexFunc(in.To, func(s ir.Sub) bool { m, ok := s.Loop(); return ok && m == l })
		if out[k] < 0 || slices.Contains(in.Over, l) {
			x.mixed()
			return false
		}
	}
	x.at[in.Out] = out
	return true
}

// copy puts an instruction into the residual, without the loops of the points.
func (x *extraction) copy(in *ir.Instr) bool {
	points := x.loops(in)
	to := make([]int, len(in.Loops))
	n := &ir.Instr{Op: in.Op, Coef: slices.Clone(in.Coef), Eq: in.Eq, Span: in.Span, Poly: in.Poly}
	for l, a := range in.Loops {
		to[l] = -1
		if !slices.Contains(points, l) {
			to[l] = len(n.Loops)
			n.Loops = append(n.Loops, a)
		}
	}
	inner := func(subs []ir.Sub, without []int) []ir.Sub {
		var out []ir.Sub
		for i, s := range subs {
			if !slices.Contains(without, i) {
				out = append(out, renumbered(s, to))
			}
		}
		return out
	}
	for _, a := range in.Args {
		if pos := x.at[a.Val]; pos != nil {
			n.Args = append(n.Args, ir.Arg{Val: x.vals[a.Val], Sub: inner(a.Sub, pos)})
			continue
		}
		arg, ok := x.arg(in, a, points, to)
		if !ok {
			return false
		}
		n.Args = append(n.Args, arg)
	}
	masked := x.pointed(in, points)
	if !masked {
		n.Guard = inner(in.Guard, nil)
	}
	for _, l := range in.Over {
		n.Over = append(n.Over, to[l])
	}
	pos := x.at[in.Out]
	n.To = inner(in.To, pos)
	n.Out = &ir.Value{Name: x.f.Fresh(in.Out.Name), Elem: in.Out.Elem, Def: n}
	for i, a := range in.Out.Axes {
		if !slices.Contains(pos, i) {
			n.Out.Axes = append(n.Out.Axes, a)
		}
	}
	x.vals[in.Out] = n.Out
	x.f.Body = append(x.f.Body, n)
	return !masked || x.mask(in, n, points, to)
}

// pointed reports whether a guard of an instruction depends on the points, or
// on a table.
func (x *extraction) pointed(in *ir.Instr, points []int) bool {
	set := map[int]bool{}
	via := false
	for _, g := range in.Guard {
		g.Loops(set)
		via = via || g.Via != nil
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
	c, read := x.copied(in, set, ir.Const, nil)
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
	holds := b.Scalar(ir.Less, n.Out.Axes, zero, arg)
	x.vals[in.Out] = b.Scalar(ir.Select, n.Out.Axes, ir.All(holds), ir.All(n.Out), zero)
	return true
}

// copied puts an instruction over some of in's loops and under all its guards
// in front of the solve, and returns its output with the subscripts at which in
// reads it.
func (x *extraction) copied(in *ir.Instr, loops map[int]bool, op ir.Op, args []ir.Arg) (*ir.Value, []ir.Sub) {
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
	c.Out = &ir.Value{Name: x.e.f.Fresh("%"), Elem: ir.Real, Axes: c.Loops, Def: c}
	x.e.f.Body = append(x.e.f.Body, c)
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
		whole = whole && (ok && in.Loops[l] == a.Val.Axes[i] || s.Via == nil && len(s.Terms) == 0)
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
		case pointed == 0 && s.Via == nil && (whole || len(in.Guard) == 0 || !x.pointed(in, points)):
			free = append(free, i)
			inner = append(inner, renumbered(s, to))
		default:
			return x.gathered(in, a, points, to)
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
	if s.Via != nil {
		via := ir.Arg{Val: s.Via.Val}
		for _, v := range s.Via.Sub {
			via.Sub = append(via.Sub, x.onPoints(v, back))
		}
		out.Via = &via
	}
	return out
}

// subKey is a text that equal subscripts share.
func subKey(s ir.Sub) string {
	text := fmt.Sprintf("%v %s", s.Terms, s.Const)
	if s.Via != nil {
		text += fmt.Sprintf(" via %p", s.Via.Val)
		for _, v := range s.Via.Sub {
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

// gathered copies a value, in front of the solve, over all loops that it is
// read along, where one subscript mixes a point with another index or comes
// from a table.
func (x *extraction) gathered(in *ir.Instr, a ir.Arg, points, to []int) (ir.Arg, bool) {
	if a.Val.Elem != ir.Real {
		return ir.Arg{}, x.refuse("the equation of %s reads positions through a table", x.name())
	}
	set := map[int]bool{}
	a.Loops(set)
	v, read := x.copied(in, set, ir.Prod, []ir.Arg{a})
	return x.arg(in, ir.Arg{Val: v, Sub: read}, points, to)
}
