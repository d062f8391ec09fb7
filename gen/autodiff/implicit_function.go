package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The adjoint of root finding, by the implicit function theorem. Where r(ζ, a)
// = 0, a change of a moves ζ by −(∂r/∂a)/(∂r/∂ζ), so that
//
//	ā += (∂r/∂a) s    with s = −ζ̄ / (∂r/∂ζ)
//
// and the ends of the range receive nothing. The residual is expanded once for
// all points, at the root, and reversed twice: with the seed 1 for ∂r/∂ζ and
// with s for the arguments. The adjoint reads the root and contains no search,
// so it can be differentiated again.

// solve adds the adjoints of a solve's arguments.
func (r *reverser) solve(in *ir.Instr) {
	bar := r.adjoint(in.Out)
	if bar == nil || !r.active[in.Out] {
		return
	}
	g := &gradSolve{r: r, in: in, f: &ir.Func{Name: in.Solve.Residual.Name + ".adjoint", Axes: slices.Clone(r.b.F.Axes)},
		args: map[*ir.Value]*ir.Value{}, vals: map[*ir.Value]*ir.Value{}}
	g.b = &ir.Builder{F: g.f, Eq: in.Eq, Span: in.Span}
	root := g.root()
	g.expandResidual()
	g.reverse(root, bar)
}

// A gradSolve is the adjoint of one solve while it is built, as a program of
// its own whose parameters are values of the program around it.
type gradSolve struct {
	r    *reverser
	in   *ir.Instr
	f    *ir.Func
	b    *ir.Builder
	args map[*ir.Value]*ir.Value // parameter → value of the program
	vals map[*ir.Value]*ir.Value // value of the residual → its value for all points
}

// param is the parameter for a value of the program.
func (g *gradSolve) param(v *ir.Value) *ir.Value {
	for p, x := range g.args {
		if x == v {
			return p
		}
	}
	p := g.f.AddParam(v.Name, ir.Input, v.Elem, v.Axes...)
	g.args[p] = v
	return p
}

// root is the unknown: the output of the solve.
func (g *gradSolve) root() *ir.Value {
	root := g.param(g.in.Out)
	g.vals[g.in.Solve.Residual.Params[0]] = root
	return root
}

// expandResidual writes the residual for all points: every instruction has the
// loops of the points in front of its own.
func (g *gradSolve) expandResidual() {
	points := len(g.in.Out.Axes)
	for _, in := range g.in.Solve.Residual.Body {
		n := &ir.Instr{Op: in.Op, Loops: in.Loops, Coef: slices.Clone(in.Coef), Poly: in.Poly, Eq: in.Eq, Span: in.Span}
		lead := points
		if len(in.Args) == 0 {
			lead = 0 // a constant is the same for all points
		}
		n.Loops = append(slices.Clone(g.in.Out.Axes[:lead]), in.Loops...)
		n.To = append(ir.Ls(lead), shiftLoops(in.To, lead)...)
		n.Guard = shiftLoops(in.Guard, lead)
		for _, l := range in.Over {
			n.Over = append(n.Over, l+lead)
		}
		for _, a := range in.Args {
			n.Args = append(n.Args, g.arg(a, points))
		}
		n.Out = &ir.Value{Name: g.f.Fresh(in.Out.Name), Elem: in.Out.Elem,
			Axes: append(slices.Clone(g.in.Out.Axes[:lead]), in.Out.Axes...)}
		g.vals[in.Out] = g.b.Add(n)
	}
}

// shiftLoops renumbers the loops of subscripts to start at n.
func shiftLoops(subs []ir.Sub, n int) []ir.Sub {
	return ir.MapLoops(subs, func(l int) int { return l + n })
}

// arg is an argument of the residual's instruction, for all points.
func (g *gradSolve) arg(a ir.Arg, points int) ir.Arg {
	sub := shiftLoops(a.Sub, points)
	v := g.vals[a.Val]
	switch {
	case v != nil && (v.Def == nil || len(v.Def.Args) > 0): // the unknown, or computed from it
		return ir.Arg{Val: v, Sub: append(ir.Ls(points), sub...)}
	case v != nil:
		return ir.Arg{Val: v, Sub: sub}
	}
	// An argument of the solve: its own loops are what the instruction reads.
	at := ir.Ls(len(g.in.Loops))
	next := points
	for k, p := range g.in.Solve.Residual.Params[1:] {
		if p == a.Val {
			copy(at[next:], sub)
			from := g.in.Args[k+2]
			subs, ok := ir.SubstAll(from.Sub, at)
			if !ok {
				panic("autodiff: BUG: an argument of a solve cannot be read at its point")
			}
			return ir.Arg{Val: g.param(from.Val), Sub: g.tables(subs)}
		}
		next += len(p.Axes)
	}
	panic("autodiff: BUG: " + a.Val.Name + " is no value of the residual")
}

// tables makes the integer tensors of subscripts parameters.
func (g *gradSolve) tables(subs []ir.Sub) []ir.Sub {
	for i, s := range subs {
		if s.Indirect != nil {
			subs[i].Indirect = &ir.Arg{Val: g.param(s.Indirect.Val), Sub: g.tables(slices.Clone(s.Indirect.Sub))}
		}
	}
	return subs
}

// reverse derives the two adjoints and writes them into the program.
func (g *gradSolve) reverse(root, bar *ir.Value) {
	res := g.vals[g.in.Solve.Residual.Results[0].Val]
	axes := g.in.Out.Axes
	g.b.Eq, g.b.Span = g.in.Eq, g.in.Span
	slope := Reverse(g.b, map[*ir.Value]*ir.Value{res: g.b.Const(1, axes...)}, []*ir.Value{root})[root]
	if slope == nil {
		slope = g.b.Const(0, axes...)
	}
	g.b.Eq, g.b.Span = g.in.Eq, g.in.Span
	share := g.b.Elementwise(ir.Div, axes, ir.All(g.param(bar)), ir.All(slope))
	share = g.b.Lin(axes, 0, []float64{-1}, ir.All(share))
	var wrt []*ir.Value
	for _, a := range g.in.Args[2:] {
		if p := g.param(a.Val); g.r.active[a.Val] && !slices.Contains(wrt, p) {
			wrt = append(wrt, p)
		}
	}
	adj := Reverse(g.b, map[*ir.Value]*ir.Value{res: share}, wrt)
	for i, p := range wrt {
		if a := adj[p]; a != nil {
			g.f.Results = append(g.f.Results, ir.Result{Name: string(rune('a' + i)), Val: a})
		}
	}
	g.f.Sweep()
	out := g.r.b.Inline(g.f, g.args)
	for i, p := range wrt {
		if v := out[string(rune('a'+i))]; v != nil {
			g.r.contributions[g.args[p]] = append(g.r.contributions[g.args[p]], v)
		}
	}
}
