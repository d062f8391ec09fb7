package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/program"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// The residual of an unknown as a program for one point (see solve.go).

// An extraction takes the residual of an unknown out of a program and makes it
// a program of its own for one point. Every value that depends on the unknown
// must carry the points as axes, read and written by the same loops everywhere:
// then no point's equation sees another's unknown, and the loops of the points
// can be left out. What the residual reads of the program becomes an argument
// of the solve: a subscript by points stays with the solve, an axis that the
// residual runs over itself is handed to it whole.
type extraction struct {
	*unknown
	z, res    *ir.Value
	at        map[*ir.Value][]int // the axes of a dependent value that are the points
	dependent []*ir.Instr         // what depends on the unknown
	params    map[string]int      // arguments by what they read and where
	args      []ir.Arg
	over      []*ir.Axis // the axes of the arguments, one after another
	f         *ir.Func
	vals      map[*ir.Value]*ir.Value // values of the program in the residual
}

// extract builds the solve instruction without its output.
func (x *extraction) extract(start int) *ir.Instr {
	e := x.e
	all := make([]int, len(x.points))
	for i := range all {
		all[i] = i
	}
	x.at[x.z] = all
	var stay []*ir.Instr
	for _, in := range e.Func.Body[start:] {
		if !slices.ContainsFunc(in.Reads(), func(v *ir.Value) bool { return x.at[v] != nil }) {
			stay = append(stay, in)
			continue
		}
		if !x.tracePoints(in) {
			return nil
		}
		x.dependent = append(x.dependent, in)
	}
	if x.at[x.res] == nil {
		x.refuseAbsent()
		return nil
	}
	if !slices.Equal(x.at[x.res], all) || len(x.res.Axes) != len(all) {
		return x.refuseMixed()
	}
	e.Func.Body = append(e.Func.Body[:start:start], stay...)
	x.f = &ir.Func{Name: x.name()}
	x.vals[x.z] = x.f.AddParam(x.z.Name, ir.Input, ir.Real)
	for _, in := range x.dependent {
		if !x.copy(in) {
			return nil
		}
	}
	x.f.Results = []ir.Result{{Name: "residual", Val: x.vals[x.res]}}
	program.ListAxes(x.f)
	simplify.Simplify(x.f)
	if d := x.f.Results[0].Val.Def; d != nil {
		l, r := x.s.Left.Where(), x.s.Right.Where()
		d.Span = notation.Span{File: l.File, Start: l.Start, End: r.End}
	}
	return x.instr()
}

// instr is the solve over the points and over the axes of its arguments.
func (x *extraction) instr() *ir.Instr {
	e, n := x.e, len(x.points)
	in := &ir.Instr{Op: ir.SolveOp, Loops: append(tensor.AxesOf(x.points), x.over...), To: ir.Ls(n), Eq: e.Eq, Span: x.s.Domain.Span,
		Solve: &ir.Solve{Residual: x.f, Tol: x.tol}}
	at := map[*tensor.LoopVar]int{}
	for i, v := range x.points {
		at[v] = i
	}
	for _, t := range []*tensor.Tensor{x.lo, x.hi} {
		in.Args = append(in.Args, ir.Arg{Val: t.Factors[0].Val, Sub: e.Subscripts(t.Factors[0].Sub, nil, nil, at)})
	}
	in.Args = append(in.Args, x.args...)
	for i := range x.over {
		in.Over = append(in.Over, n+i)
	}
	return in
}

// refuseMixed refuses an equation in which several points depend on each other.
func (x *extraction) refuseMixed() *ir.Instr {
	x.e.Errorf(diag.NotSupported, x.s.Left, "the equation for one entry of %s reads other entries of it", x.name()).
		See(x.d.Target.Span, "the unknown").Hint("each entry is solved for alone; read %s at its own index only", x.name())
	return nil
}

func (x *extraction) refuse(format string, args ...any) bool {
	x.e.Errorf(diag.NotSupported, x.s.Left, format, args...).See(x.d.Target.Span, "the unknown")
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

// tracePoints finds the points among the axes of an instruction's output.
func (x *extraction) tracePoints(in *ir.Instr) bool {
	switch in.Op {
	case ir.SolveOp:
		return x.refuse("the equation of %s depends on another unknown, %s, that depends on it", x.name(), in.Solve.Residual.Name)
	case ir.ScanOp, ir.Reshape, ir.Stack:
		return x.refuse("%s is stacked or reshaped in its own equation", x.name())
	}
	points := x.loops(in)
	if points == nil {
		x.refuseMixed()
		return false
	}
	if !x.checkSubscripts(in, points) {
		return false
	}
	if x.guardsReadPoints(in, points) && in.Op != ir.Prod && !in.Op.Info().Elementwise {
		return x.refuse("a condition on an index of %s occurs in a %s of its equation", x.name(), in.Op)
	}
	out := make([]int, len(points))
	for k, l := range points {
		out[k] = slices.IndexFunc(in.To, func(s ir.Sub) bool { m, ok := s.Loop(); return ok && m == l })
		if out[k] < 0 || slices.Contains(in.Over, l) {
			x.refuseMixed()
			return false
		}
	}
	x.at[in.Out] = out
	return true
}

// checkSubscripts refuses what depends on the unknown and is read or written through a
// table, or at an index of the unknown along an axis that is not its own.
func (x *extraction) checkSubscripts(in *ir.Instr, points []int) bool {
	var rest []ir.Sub // subscripts of dependent values that are not points
	for _, s := range in.To {
		if l, ok := s.Loop(); !ok || !slices.Contains(points, l) {
			rest = append(rest, s)
		}
	}
	if len(in.To)-len(rest) > len(points) {
		return x.refuse("an index of %s occurs twice in a value that depends on it", x.name())
	}
	for _, a := range in.Args {
		for i, s := range a.Sub {
			if pos := x.at[a.Val]; pos != nil && !slices.Contains(pos, i) {
				rest = append(rest, s)
			}
		}
	}
	set := map[int]bool{}
	for _, s := range rest {
		s.Loops(set)
	}
	switch {
	case ir.HasIndirect(rest):
		return x.refuse("a value that depends on %s is read or written through a table in its equation", x.name())
	case slices.ContainsFunc(points, func(l int) bool { return set[l] }):
		return x.refuse("an index of %s occurs twice in a value that depends on it", x.name())
	}
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
	masked := x.guardsReadPoints(in, points)
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
