package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Root finding. A solve becomes a loop over its points around one root
// finding. The residual is a region of its own inside: its unknown is the
// scalar X, its arguments are read where the program keeps them, at the
// present point. Values that the residual keeps in memory have the point as
// leading axes, so that points do not share memory.

// A solver writes one solve.
type solver struct {
	r     *region
	in    *ir.Instr
	f     *ir.Func     // the residual, of this solve alone
	loops []plan.Index // the point; empty for the loops of the arguments
	vars  []*plan.Var  // of the loops over points, nil for the bound row
	axes  []*ir.Axis   // the axes of the points without the row
	lead  []plan.Index // their values
}

func (r *region) solve(in *ir.Instr) []plan.Node {
	s := &solver{r: r, in: in, loops: make([]plan.Index, len(in.Loops))}
	s.f, _ = in.Solve.Residual.Clone()
	for i, a := range in.Out.Axes {
		if i == r.rowLoop(in) {
			s.loops[i] = plan.At(r.row)
			s.vars = append(s.vars, nil)
			continue
		}
		v := r.l.loopVar(i, r)
		s.loops[i] = plan.At(v)
		s.vars, s.axes, s.lead = append(s.vars, v), append(s.axes, a), append(s.lead, plan.At(v))
	}
	return around(loopNumbers(len(s.vars)), s.vars, in.Loops, s.point())
}

// point is the root finding at one point.
func (s *solver) point() []plan.Node {
	r, l := s.r, s.r.l
	leaf := r.leaf(nil)
	root := &plan.FindRoot{To: s.local(s.in.Out.Name), X: s.local(s.f.Params[0].Name), Tol: s.in.Solve.Tol, Eq: s.in.Eq}
	root.Lo, root.Hi = leaf.arg(s.in.Args[0], s.loops), leaf.arg(s.in.Args[1], s.loops)
	l.locals[s.f.Params[0]] = root.X
	next := len(s.in.Out.Axes)
	for k, p := range s.f.Params[1:] {
		s.argument(leaf, p, s.in.Args[k+2], next)
		next += len(p.Axes)
	}
	inner := l.region(s.f.Body, nil)
	inner.row, inner.search, inner.point = r.row, true, append(slices.Clone(r.point), s.lead...)
	inner.alloc = func(v *ir.Value) *plan.Buffer {
		return r.alloc(&ir.Value{Name: v.Name, Elem: v.Elem, Axes: append(slices.Clone(s.axes), v.Axes...)})
	}
	root.Body = plan.WithoutNotes(inner.write())
	root.Val = plan.Ref{To: l.locals[s.f.Results[0].Val]}
	return append(leaf.nodes, root, r.result(s.in, s.loops, plan.Ref{To: root.To}))
}

func (s *solver) local(name string) *plan.Local {
	return &plan.Local{Name: s.r.l.fresh(name), Elem: ir.Real}
}

// argument addresses a parameter of the residual: subscripts by points are
// fixed, and its own loops, from next on, are those at which it is read.
func (s *solver) argument(leaf *leaf, p *ir.Value, a ir.Arg, next int) {
	l := s.r.l
	if x := l.locals[a.Val]; x != nil {
		l.locals[p] = x
		return
	}
	from := s.r.place(a.Val)
	fixed := make([]plan.Index, len(a.Sub))
	own := func(sub ir.Sub) bool {
		return slices.ContainsFunc(sub.Terms, func(t ir.Term) bool { return t.Loop >= next && t.Loop < next+len(p.Axes) })
	}
	for i, sub := range a.Sub {
		if !own(sub) {
			fixed[i] = leaf.index(sub, s.loops)
		}
	}
	l.places[p] = func(idx []plan.Index) plan.Access {
		at, loops := slices.Clone(fixed), slices.Clone(s.loops)
		copy(loops[next:], idx)
		for i, sub := range a.Sub {
			if own(sub) {
				at[i] = s.r.leaf(nil).index(sub, loops)
			}
		}
		return from(at)
	}
}
