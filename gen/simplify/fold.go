package simplify

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Constant folding, algebraic identities and copy propagation.

// expand is the first phase on one instruction: inline arguments, fold
// constants, factor and distribute, and choose the order of its sums.
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
	s.inlineArgs(in)
	switch {
	case in.Op == ir.Prod:
		s.foldProd(in)
		s.foldMagnitudes(in)
	case in.Op == ir.Lin:
		s.foldLin(in)
		s.factorCommon(in)
	case in.Op.Info().Elementwise:
		s.foldScalar(in)
	}
	reorder(in)
	if in.Op == ir.SizeOf {
		return nil
	}
	switch in.Op {
	case ir.Prod:
		s.reassociate(in)
		s.sortFactors(in)
		for in.Op == ir.Prod && (s.distribute(in) || s.distributeSign(in)) {
			s.inlineArgs(in)
		}
		if in.Op == ir.Select {
			s.foldScalar(in)
			return nil
		}
		if in.Op == ir.Lin {
			s.foldLin(in)
			s.factorCommon(in)
			return nil
		}
		s.splitSum(in)
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

// constOf returns the number that an argument is everywhere it is read. A
// gather is no constant, because it reads zero outside its table.
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

// Folding into a float64 coefficient must not lose a term, or a proof would hold for
// the rounded program only. absorbed is the relative part of a summand that the
// rounding of the sum may take; a sum smaller than the part cancelled of its larger
// summand is not folded, unless it is zero.
const (
	absorbed  = 1e-3
	cancelled = 1e-3
)

// plusCoef is the sum of two coefficients; ok is false where rounding loses
// too much of one.
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

// foldLin adds like terms and constants; a sum of one term becomes a product,
// an empty one a constant.
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
		s.inlineArgs(in)
		s.foldProd(in)
	}
}

// foldScalar evaluates a function of constants, and a choice with a constant
// condition.
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
	s.inlineArgs(in)
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

// sameChoice simplifies a choice inside a choice with the same condition: in
// branch k of c, select(c, x, y) is x or y, also where it is a factor.
func (s *simplifier) sameChoice(in *ir.Instr, k int) {
	if x, ok := s.chosen(in, in.Args[k], k); ok {
		s.setArg(in, k, x)
		return
	}
	a := in.Args[k]
	d := a.Val.Def
	if d == nil || d.Op != ir.Prod || s.uses[a.Val] > 1 || !d.Elementwise() || !wholeOutput(d) {
		return
	}
	args, ok := s.substituted(d, a)
	if !ok || !ir.Identity(a.Sub, len(in.Loops)) {
		return
	}
	for i, b := range args {
		if x, ok := s.chosen(in, b, k); ok {
			args[i] = x
			v := s.emit(&ir.Instr{Op: ir.Prod, Loops: slices.Clone(in.Loops), To: ir.Ls(len(in.Loops)), Args: args, Coef: slices.Clone(d.Coef)}, a.Val.Axes)
			if v.Def != nil {
				recordEquations(v.Def, d)
			}
			s.setArg(in, k, ir.Arg{Val: v, Sub: a.Sub})
			return
		}
	}
}

// chosen is what an argument of a choice is in its branch k, where it is a choice with the
// same condition.
func (s *simplifier) chosen(in *ir.Instr, a ir.Arg, k int) (x ir.Arg, ok bool) {
	d := a.Val.Def
	if d == nil || d.Op != ir.Select || !d.Elementwise() || !wholeOutput(d) {
		return x, false
	}
	args, ok := s.substituted(d, a)
	if !ok || s.argKey(args[0], nil) != s.argKey(in.Args[0], nil) {
		return x, false
	}
	return args[k], true
}

// foldPow expands powers with small whole exponents and roots; x⁰ is 1 for
// every x (strength reduction).
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

// copied returns the value that a product is a copy of, or nil.
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
		for l := range ir.LoopsOf([]ir.Sub{g}) {
			if l >= len(d.To) {
				return false
			}
		}
		if !comparesCount(g) || !s.hasGuard(d, g) {
			return false
		}
	}
	return true
}
