package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Magnitudes and signs, as the derivatives of powers of |x| have them: |x|·|x| is x·x and
// |x|·sign(x) is x, of every x that is a number.

// function reports whether an argument is op of something, and of what, on the loops of its
// reader.
func (s *simplifier) function(a ir.Arg, op ir.Op) (of ir.Arg, ok bool) {
	d := a.Val.Def
	if d == nil || d.Op != op || !d.Elementwise() || !wholeOutput(d) {
		return ir.Arg{}, false
	}
	args, ok := s.substituted(d, a)
	if !ok {
		return ir.Arg{}, false
	}
	return args[0], true
}

// foldMagnitudes rewrites two factors |x| to x and x, and |x| beside sign(x) to x.
func (s *simplifier) foldMagnitudes(in *ir.Instr) {
	for i := 0; i < len(in.Args); i++ {
		x, ok := s.function(in.Args[i], ir.Abs)
		if !ok {
			continue
		}
		if j := s.factor(in, i+1, ir.Abs, x); j >= 0 {
			s.setArg(in, i, x)
			s.setArg(in, j, x)
		} else if j := s.factor(in, 0, ir.Sign, x); j >= 0 {
			s.setArg(in, i, x)
			s.uses[in.Args[j].Val]--
			in.Args = slices.Delete(in.Args, j, j+1)
			i = -1
		}
	}
}

// factor is the number of the first argument from the given one that is op of x, or −1.
func (s *simplifier) factor(in *ir.Instr, from int, op ir.Op, x ir.Arg) int {
	key := s.argKey(x, nil)
	for i := from; i < len(in.Args); i++ {
		if y, ok := s.function(in.Args[i], op); ok && s.argKey(y, nil) == key {
			return i
		}
	}
	return -1
}

func (s *simplifier) setArg(in *ir.Instr, i int, a ir.Arg) {
	s.uses[in.Args[i].Val]--
	s.uses[a.Val]++
	in.Args[i] = a
	s.changed = true
}

// distributeSign rewrites a product of sign(x) and a sum or a choice to the sum or the choice
// of products, where each has a factor |x| that the sign then goes into.
func (s *simplifier) distributeSign(in *ir.Instr) bool {
	if in.Op != ir.Prod || len(in.Guard) > 0 || len(in.Reduced()) > 0 || !wholeOutput(in) {
		return false
	}
	for i, a := range in.Args {
		x, ok := s.function(a, ir.Sign)
		if !ok {
			continue
		}
		for j, b := range in.Args {
			if d := b.Val.Def; i != j && d != nil && (d.Op == ir.Lin || d.Op == ir.Select) && s.hasMagnitude(b, s.argKey(x, nil)) {
				if d.Op == ir.Lin {
					s.distributeOver(in, j)
				} else {
					s.intoChoice(in, j)
				}
				s.changed = true
				return true
			}
		}
	}
	return false
}

// hasMagnitude reports whether |x| is a factor of every term of an argument that nothing else
// reads.
func (s *simplifier) hasMagnitude(a ir.Arg, x string) bool {
	if y, ok := s.function(a, ir.Abs); ok && s.argKey(y, nil) == x {
		return true
	}
	d := a.Val.Def
	if d == nil || s.uses[a.Val] > 1 || !d.Elementwise() || !wholeOutput(d) {
		return false
	}
	args, ok := s.substituted(d, a)
	has := func(b ir.Arg) bool { return s.hasMagnitude(b, x) }
	lacks := func(b ir.Arg) bool {
		c, isConst := constOf(b)
		return !(isConst && c == 0) && !has(b)
	}
	switch {
	case !ok:
	case d.Op == ir.Prod:
		return slices.ContainsFunc(args, has)
	case d.Op == ir.Lin:
		return d.Coef[len(args)] == 0 && !slices.ContainsFunc(args, lacks)
	case d.Op == ir.Select:
		return !slices.ContainsFunc(args[1:], lacks)
	}
	return false
}

// intoChoice rewrites a product with a choice, argument i, to the choice of the products.
func (s *simplifier) intoChoice(in *ir.Instr, i int) {
	d := in.Args[i].Val.Def
	args, _ := s.substituted(d, in.Args[i])
	others := slices.Concat(in.Args[:i], in.Args[i+1:])
	for k := 1; k <= 2; k++ {
		if c, ok := constOf(args[k]); !ok || c != 0 {
			v := s.emit(&ir.Instr{Op: ir.Prod, Loops: slices.Clone(in.Loops), To: slices.Clone(in.To), Args: append(slices.Clone(others), args[k]), Coef: slices.Clone(in.Coef)}, in.Out.Axes)
			s.uses[v]++
			args[k] = ir.Arg{Val: v, Sub: slices.Clone(in.To)}
		}
	}
	recordEquations(in, d)
	in.Op, in.Args, in.Coef = ir.Select, args, nil
}
