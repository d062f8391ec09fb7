package simplify

import (
	"cmp"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// expand is the first phase on one instruction: read through, fold, flatten,
// and take out of a sum what does not depend on it.
func expand(s *simplifier, in *ir.Instr) *ir.Value {
	switch in.Op {
	case ir.Stack:
		return nil
	case ir.Reshape:
		return s.foldReshape(in)
	case ir.SizeOf:
		if n, ok := in.Poly.Const(); ok {
			s.toConst(in, float64(n))
		}
		return nil
	}
	if in.Out != nil && in.Out.Elem == ir.Int {
		return nil // a copy of counts
	}
	s.readThrough(in)
	switch {
	case in.Op == ir.Prod:
		s.foldProd(in)
	case in.Op == ir.Lin:
		s.foldLin(in)
		s.collect(in)
	case in.Op.Info().Elementwise:
		s.foldScalar(in)
	}
	reorder(in)
	if in.Op == ir.SizeOf {
		return nil
	}
	switch in.Op {
	case ir.Prod:
		s.regroup(in)
		s.sortFactors(in)
		for in.Op == ir.Prod && s.distribute(in) {
			s.readThrough(in)
		}
		if in.Op == ir.Lin {
			s.foldLin(in)
			s.collect(in)
			return nil
		}
		s.split(in)
		return s.copied(in)
	case ir.And, ir.Or:
		// A condition with itself is that condition.
		if a := in.Args[0]; s.argKey(a, nil) == s.argKey(in.Args[1], nil) &&
			slices.Equal(a.Val.Axes, in.Out.Axes) && ir.Identity(a.Sub, len(in.Loops)) && ir.Identity(in.To, len(in.Loops)) {
			return a.Val
		}
	}
	return nil
}

// constOf returns the number that an argument is everywhere it is read. An
// entry outside a gather's table is zero, so a gather is no constant.
func constOf(a ir.Arg) (float64, bool) {
	d := a.Val.Def
	if d == nil || d.Op != ir.Const || len(d.Guard) > 0 || ir.HasIndirect(a.Sub) {
		return 0, false
	}
	if _, whole := d.OutputAxes(); !whole {
		return 0, false
	}
	return d.Coef[0], true
}

// toConst turns an instruction into a constant over its guarded loops.
func (s *simplifier) toConst(in *ir.Instr, c float64) {
	in.Op, in.Args, in.Coef, in.Over = ir.Const, nil, []float64{c}, nil
	s.changed = true
}

// Coefficients are float64 numbers, and what is put into one must not be lost there:
// a proof would hold of the rounded program. absorbed is the part of a summand that
// the rounding of the sum may take; less than the part cancelled of it may not be left,
// unless nothing is.
const (
	absorbed  = 1e-3
	cancelled = 1e-3
)

// plusCoef is the sum of two coefficients; ok is false where rounding takes too much.
func plusCoef(a, b float64) (sum float64, ok bool) {
	sum = a + b
	small, large := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
	if sum == 0 || small == 0 {
		return sum, true
	}
	t := sum - a // Knuth's two-sum: lost is a + b − sum
	lost := (a - (sum - t)) + (b - t)
	return sum, math.Abs(lost) <= absorbed*small && math.Abs(sum) >= cancelled*large
}

// timesCoef is the product of two coefficients; ok is false where it leaves the range
// of normal numbers.
func timesCoef(a, b float64) (product float64, ok bool) {
	product = a * b
	return product, a == 0 || b == 0 || math.Abs(product) >= 0x1p-1022 && !math.IsInf(product, 0)
}

// foldProd takes constants into the factor.
func (s *simplifier) foldProd(in *ir.Instr) {
	var args []ir.Arg
	for _, a := range in.Args {
		if c, ok := constOf(a); ok {
			if p, ok := timesCoef(in.Coef[0], c); ok {
				in.Coef[0] = p
				s.changed = true
				continue
			}
		}
		args = append(args, a)
	}
	in.Args = args
	if in.Coef[0] == 0 {
		in.Loops, in.To, in.Guard = in.Out.Axes, ir.Ls(len(in.Out.Axes)), nil
		s.toConst(in, 0)
		return
	}
	if _, whole := in.OutputAxes(); whole && len(args) == 0 {
		s.toConst(in, in.Coef[0])
	} else if len(args)+len(in.Guard)+len(in.To) == 0 && in.Coef[0] == 1 {
		s.toSize(in)
	}
}

// toSize turns a sum of ones into the size of its box.
func (s *simplifier) toSize(in *ir.Instr) {
	in.Poly = shape.Int(1)
	for _, a := range in.Loops {
		in.Poly = in.Poly.Mul(a.Size)
	}
	in.Op, in.Loops, in.Coef = ir.SizeOf, nil, nil
	s.changed = true
}

// foldLin gathers like terms and constants; what is left of one term is a
// product, of none a constant.
func (s *simplifier) foldLin(in *ir.Instr) {
	last := len(in.Args)
	constant := in.Coef[last]
	var coefs []float64
	var args []ir.Arg
	at := map[string]int{}
	for i, a := range in.Args {
		if c, ok := constOf(a); ok {
			if p, ok := timesCoef(c, in.Coef[i]); ok {
				if sum, ok := plusCoef(constant, p); ok {
					constant = sum
					continue
				}
			}
		}
		k := s.argKey(a, nil)
		if j, ok := at[k]; ok {
			if sum, ok := plusCoef(coefs[j], in.Coef[i]); ok {
				coefs[j] = sum
				continue
			}
		}
		at[k] = len(args)
		coefs, args = append(coefs, in.Coef[i]), append(args, a)
	}
	for i := len(args) - 1; i >= 0; i-- {
		if coefs[i] == 0 {
			coefs, args = slices.Delete(coefs, i, i+1), slices.Delete(args, i, i+1)
		}
	}
	s.changed = s.changed || len(args) < last
	in.Args, in.Coef = args, append(coefs, constant)
	switch {
	case len(args) == 0:
		s.toConst(in, constant)
	case len(args) == 1 && constant == 0:
		in.Op, in.Coef = ir.Prod, in.Coef[:1]
		s.changed = true
		s.readThrough(in)
		s.foldProd(in)
	}
}

// foldScalar computes a function of constants, and a choice whose condition is
// one.
func (s *simplifier) foldScalar(in *ir.Instr) {
	var vals []float64
	for _, a := range in.Args {
		if c, ok := constOf(a); ok {
			vals = append(vals, c)
		}
	}
	if len(vals) == len(in.Args) && in.Op != ir.Stop && in.Op != ir.Override {
		if c, ok := in.Op.Eval(vals); ok && !math.IsNaN(c) {
			s.toConst(in, c)
			return
		}
	}
	for i, a := range in.Args {
		if c, ok := constOf(a); ok && len(a.Val.Axes) > 0 {
			in.Args[i] = ir.Arg{Val: s.constantOf(a.Val.Elem, c)}
			s.changed = true
		}
	}
	switch in.Op {
	case ir.Select:
		s.foldSelect(in)
	case ir.Div:
		if c, ok := constOf(in.Args[1]); ok && c != 0 {
			s.toProd(in, 1/c, in.Args[0])
		}
	case ir.Pow:
		s.foldPow(in)
	}
}

func (s *simplifier) constantOf(e ir.Elem, c float64) *ir.Value {
	if e == ir.Real {
		return s.constant(c)
	}
	v := s.b.Const(c)
	v.Elem = e
	return v
}

func (s *simplifier) toProd(in *ir.Instr, c float64, args ...ir.Arg) {
	in.Op, in.Args, in.Coef = ir.Prod, args, []float64{c}
	s.changed = true
	s.readThrough(in)
	s.foldProd(in)
}

func (s *simplifier) foldSelect(in *ir.Instr) {
	if in.Args[1].Val.Elem != ir.Real {
		return
	}
	if c, ok := constOf(in.Args[0]); ok {
		if c != 0 {
			s.toProd(in, 1, in.Args[1])
		} else {
			s.toProd(in, 1, in.Args[2])
		}
	} else if s.argKey(in.Args[1], nil) == s.argKey(in.Args[2], nil) {
		s.toProd(in, 1, in.Args[1])
	} else {
		s.sameChoice(in, 1)
		s.sameChoice(in, 2)
	}
}

// sameChoice reads through a choice by the same condition: in the branch k of
// c, a value select(c, x, y) is x or y.
func (s *simplifier) sameChoice(in *ir.Instr, k int) {
	d := in.Args[k].Val.Def
	if d == nil || d.Op != ir.Select || !slices.Equal(d.Loops, in.Loops) ||
		!ir.Identity(d.To, len(d.Loops)) || !ir.Identity(in.Args[k].Sub, len(in.Loops)) ||
		s.argKey(d.Args[0], nil) != s.argKey(in.Args[0], nil) {
		return
	}
	in.Args[k] = ir.Arg{Val: d.Args[k].Val, Sub: slices.Clone(d.Args[k].Sub)}
	s.changed = true
}

// foldPow writes small whole powers and roots out; x⁰ is 1 for every x.
func (s *simplifier) foldPow(in *ir.Instr) {
	c, ok := constOf(in.Args[1])
	x := in.Args[0]
	switch {
	case !ok:
	case c == 0:
		s.toConst(in, 1)
	case c == 1:
		s.toProd(in, 1, x)
	case c == 2:
		s.toProd(in, 1, x, x)
	case c == 3:
		s.toProd(in, 1, x, x, x)
	case c == 0.5:
		in.Op, in.Args = ir.Sqrt, []ir.Arg{x}
		s.changed = true
	case c == -1:
		in.Op, in.Args = ir.Div, []ir.Arg{{Val: s.constant(1)}, x}
		s.changed = true
	}
}

// foldReshape skips a reshape of a reshape, and one that changes nothing.
func (s *simplifier) foldReshape(in *ir.Instr) *ir.Value {
	if d := in.Args[0].Val.Def; d != nil && d.Op == ir.Reshape {
		in.Args = []ir.Arg{{Val: d.Args[0].Val}}
		s.changed = true
	}
	v := in.Args[0].Val
	if d := v.Def; d != nil && d.Op == ir.Const && len(d.Guard) == 0 {
		in.Loops, in.To = in.Out.Axes, ir.Ls(len(in.Out.Axes))
		s.toConst(in, d.Coef[0])
		return nil
	}
	if slices.Equal(v.Axes, in.Out.Axes) {
		return v
	}
	return nil
}

// copied returns the value that a product merely copies.
func (s *simplifier) copied(in *ir.Instr) *ir.Value {
	if in.Op != ir.Prod || in.Coef[0] != 1 || len(in.Args) != 1 {
		return nil
	}
	a := in.Args[0]
	if !in.Elementwise() && !s.sameGuards(in, a.Val.Def) {
		return nil
	}
	if !slices.Equal(a.Val.Axes, in.Out.Axes) || !ir.Identity(in.To, len(in.Loops)) || !ir.Identity(a.Sub, len(in.Loops)) {
		return nil
	}
	return a.Val
}

// sameGuards reports whether a copy runs under guards under which its argument
// was computed too, in the same loops: elsewhere both are zero.
func (s *simplifier) sameGuards(in, d *ir.Instr) bool {
	if _, whole := in.OutputAxes(); !whole || d == nil || len(d.To) > len(d.Loops) || !ir.Identity(d.To, len(d.To)) {
		return false
	}
	for _, g := range in.Guard {
		loops := map[int]bool{}
		g.Loops(loops)
		for l := range loops {
			if l >= len(d.To) {
				return false
			}
		}
		if !counts(g) || !s.guards(d, g) {
			return false
		}
	}
	return true
}

// sortFactors puts scalars first, then what has more axes, then what was
// defined first, so that the order a product was written in makes no
// difference.
func (s *simplifier) sortFactors(in *ir.Instr) {
	rank := func(a ir.Arg) int {
		if n := len(a.Val.Axes); n > 0 {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(in.Args, func(a, b ir.Arg) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(s.order[a.Val], s.order[b.Val]),
			cmp.Compare(s.subsKey(a.Sub, nil), s.subsKey(b.Sub, nil)))
	})
}

// reorder numbers the loops by the output's subscripts, those of a sum last,
// so that equal instructions look equal and a person reads them in one order.
func reorder(in *ir.Instr) {
	to := make([]int, len(in.Loops))
	for i := range to {
		to[i] = -1
	}
	n := 0
	for _, s := range in.To {
		if l, ok := s.Loop(); ok && to[l] < 0 {
			to[l], n = n, n+1
		}
	}
	for l := range to {
		if to[l] < 0 {
			to[l], n = n, n+1
		}
	}
	renumber(in, to)
}

// renumber moves loop l to place to[l].
func renumber(in *ir.Instr, to []int) {
	loops := make([]*ir.Axis, len(in.Loops))
	for l, n := range to {
		loops[n] = in.Loops[l]
	}
	at := ir.Renumber(to)
	in.Loops = loops
	in.To, _ = ir.SubstAll(in.To, at)
	in.Guard, _ = ir.SubstAll(in.Guard, at)
	for i, a := range in.Args {
		in.Args[i].Sub, _ = ir.SubstAll(a.Sub, at)
	}
	for i, l := range in.Over {
		in.Over[i] = to[l]
	}
	slices.Sort(in.Over)
}
