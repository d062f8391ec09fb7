package expr

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Implicit definitions: `solve ζ ∈ [lo, hi] : a = b`. The unknown is one number at every point: for
// each entry of the index on its left-hand side, and for each value of the other indices that its
// equation reads, such as batch and token. It is built in two passes. The first builds the equation
// around a constant to find these indices, and is removed from the program unless gradients are
// traced. The second builds it around a placeholder with one entry per point. The instructions that
// depend on the placeholder are then moved out of the program into the residual, a program for one
// point, which the solve instruction carries (residual.go).

// solvePrecision is the tolerance of a solve that names none, and maxTol the
// largest one: a gradient by the implicit function theorem holds at the root.
const (
	solvePrecision = 1e-12
	maxTol         = 1e-6
)

// An unknown is one solve while it is built.
type unknown struct {
	e      *Builder
	d      *notation.Define
	s      *notation.Solve
	vars   []*tensor.LoopVar // the index of the left-hand side
	points []*tensor.LoopVar // all indices that the unknown has a value for
	lo, hi *tensor.Tensor
	tol    float64
}

// solve builds the value of a definition by an equation.
func (e *Builder) solve(d *notation.Define, s *notation.Solve) *tensor.Tensor {
	span := e.Span
	e.Span = d.Span
	defer func() { e.Span = span }()
	u := &unknown{e: e, d: d, s: s}
	e.Push(&Scope{})
	defer e.Pop()
	if !u.clauses() || !u.index() || !e.With(d.With) || !u.bounds() || !u.findPoints() {
		return nil
	}
	return u.build()
}

// name is the unknown as the page spells it, without its time step.
func (u *unknown) name() string {
	name, _ := u.e.Block.Split(u.d.Target.Name.Name.Text)
	return name
}

// clauses checks the range and the tolerance.
func (u *unknown) clauses() bool {
	e, r := u.e, u.s.Domain
	switch {
	case r == nil:
		e.Diags.Errorf(diag.NotSupported, u.d.Target.Span, "%s is solved for without a range", u.name()).
			Hint("give an interval: solve %s ∈ [lo, hi] : …", u.d.Target.Name.Name.Text)
		return false
	case r.Kind != notation.RangeType || len(r.Shape) > 0 || r.Lo == nil || r.Hi == nil || r.LoOpen || r.HiOpen:
		e.Diags.Errorf(diag.NotSupported, r.Span, "the range of an unknown has two ends, which belong to it").Hint("write [lo, hi]")
		return false
	}
	u.tol = solvePrecision
	if u.s.Tol != nil {
		tol, ok := e.constantValue(u.s.Tol)
		if !ok || !(tol > 0 && tol <= maxTol) {
			e.Errorf(diag.NotSupported, u.s.Tol, "a tolerance is a number above 0 and at most %g", maxTol).
				Hint("the gradient of an unknown is that of the exact root: write tol 1e-10")
			return false
		}
		u.tol = tol
	}
	return true
}

// index binds the index of the left-hand side.
func (u *unknown) index() bool {
	vars, groups, ok := u.e.TargetIndex(u.d.Target.Index)
	if !ok {
		return false
	}
	plain := len(groups) == 0 && len(vars) == len(u.d.Target.Index)
	for _, v := range vars {
		plain = plain && len(v.Guards) == 0
	}
	if !plain {
		u.e.Diags.Errorf(diag.NotSupported, u.d.Target.Span, "the index of an unknown runs over whole axes").Hint("write %s[i∈r], without a condition, a pair or a union", u.name())
		return false
	}
	u.vars = vars
	return true
}

// bounds builds the ends of the range.
func (u *unknown) bounds() bool {
	end := func(x notation.Expr) *tensor.Tensor {
		t := u.number(x, "the end of a range")
		if t != nil && t.IsNumber() && math.IsInf(t.Coef, 0) {
			u.e.Errorf(diag.NotSupported, x, "the range of %s has no end", u.name()).Hint("a root is searched between two finite numbers")
			return nil
		}
		if t == nil {
			return nil
		}
		return u.e.Materialize(t)
	}
	u.lo, u.hi = end(u.s.Domain.Lo), end(u.s.Domain.Hi)
	return u.lo != nil && u.hi != nil
}

// number builds an expression that is one number at every point.
func (u *unknown) number(x notation.Expr, what string) *tensor.Tensor {
	t := u.e.Value(x)
	if t != nil && len(t.Axes) > 0 {
		d := u.e.Errorf(diag.NotScalar, x, "%s is a number, but this is %s", what, u.e.Type(t)).Labelf("%s", u.e.Type(t))
		if len(u.vars) == 0 {
			d.Hint("give the unknown an index to solve one equation for each entry: solve %s[i∈r] ∈ …", u.name())
		}
		return nil
	}
	return t
}

// residual builds left − right with the unknown bound to a value.
func (u *unknown) residual(z *tensor.Tensor) *tensor.Tensor {
	e := u.e
	before := len(e.cached)
	e.solves++
	e.Push(&Scope{Names: map[string]*Binding{u.d.Target.Name.Name.Text: {Value: z}}})
	defer func() {
		e.Pop()
		e.solves--
		for _, b := range e.cached[before:] { // they may read the placeholder
			b.Value = nil
		}
		e.cached = e.cached[:before]
	}()
	l, r := u.number(u.s.Left, "a side of the equation"), u.number(u.s.Right, "a side of the equation")
	if l == nil || r == nil {
		return nil
	}
	t := e.Add(l, r, -1)
	if t != nil && len(t.Factors) > 0 {
		t = u.restrictToBranch(e.Materialize(t), z)
	}
	return t
}

// restrictToBranch makes the lower end the root where a branch under construction is not
// taken: the equation need not have a root there.
func (u *unknown) restrictToBranch(t, z *tensor.Tensor) *tensor.Tensor {
	if len(u.e.Branches) == 0 {
		return t
	}
	for _, v := range u.vars {
		z = tensor.AtVar(z, v)
	}
	low := u.e.Add(z, u.lo, -1)
	for _, c := range u.e.Branches {
		yes, no := t, low
		if !c.Taken {
			yes, no = no, yes
		}
		t = u.e.Select(c.cond, yes, no)
	}
	return t
}

// findPoints finds the points of the unknown.
func (u *unknown) findPoints() bool {
	e := u.e
	start := len(e.Func.Body)
	z := e.Broadcast(tensor.Number(0), u.vars)
	t := u.residual(e.Tabulate(z, u.vars))
	if t == nil {
		return false
	}
	u.points = slices.Clone(u.vars)
	for _, v := range tensor.VarsOf(t, u.lo, u.hi) {
		if !slices.Contains(u.points, v) {
			u.points = append(u.points, v)
		}
	}
	tensor.SortVars(u.points)
	if e.Trace == nil { // a gradient inside the equation is proved on this program
		u.removeProbe(start, z.Factors[0].Val)
	}
	return true
}

// removeProbe removes the instructions that depend on a value.
func (u *unknown) removeProbe(start int, v *ir.Value) {
	f := u.e.Func
	gone := f.DependsOn(v)
	f.Body = append(f.Body[:start:start], slices.DeleteFunc(slices.Clone(f.Body[start:]), func(in *ir.Instr) bool {
		return slices.ContainsFunc(in.Defines(), func(d *ir.Value) bool { return gone[d] })
	})...)
}

// build makes the solve instruction.
func (u *unknown) build() *tensor.Tensor {
	e := u.e
	start := len(e.Func.Body)
	z := &ir.Value{Name: ident.ASCII(u.name()), Elem: ir.Real, Axes: tensor.AxesOf(u.points)}
	trace := e.Trace
	e.Trace = nil
	t := u.residual(e.Tabulate(e.FromValue(z, u.points, nil), u.vars))
	e.Trace = trace
	if t == nil {
		return nil
	}
	if t.IsNumber() {
		return u.refuseAbsent()
	}
	x := &extraction{unknown: u, z: z, res: e.ValueOver(t, u.points), at: map[*ir.Value][]int{}, params: map[string]int{}, vals: map[*ir.Value]*ir.Value{}}
	if in := x.extract(start); in != nil {
		in.Out = &ir.Value{Name: e.Func.Fresh("%"), Elem: ir.Real, Axes: z.Axes, Def: in}
		e.Func.Body = append(e.Func.Body, in)
		return e.Tabulate(e.FromValue(in.Out, u.points, nil), u.vars)
	}
	return nil
}

// refuseAbsent refuses an equation that does not depend on its unknown.
func (u *unknown) refuseAbsent() *tensor.Tensor {
	u.e.Errorf(diag.NotSupported, u.s.Left, "the equation does not depend on %s", u.d.Target.Name.Name.Text).
		See(u.d.Target.Span, "the unknown")
	return nil
}
