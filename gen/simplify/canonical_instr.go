package simplify

import (
	"math/big"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The canonical form of one instruction.

// An instrCanon is one instruction while its form is made. Its variables are
// the loops first.
type instrCanon struct {
	*canon
	in     *ir.Instr
	n      int
	failed bool
}

// body is the summand in terms of the loops.
func (x *instrCanon) body() form {
	in := x.in
	switch in.Op {
	case ir.Prod:
		return x.product(number(in.Coef[0]), in.Args...)
	case ir.Lin:
		return x.linear()
	case ir.Const:
		return x.product(number(in.Coef[0]))
	case ir.Stop, ir.Override:
		if x.gradients {
			return x.function()
		}
		return x.product(big.NewRat(1, 1), in.Args[0])
	case ir.ToReal:
		return x.product(big.NewRat(1, 1), in.Args[0])
	case ir.SizeOf:
		return x.size(in.Poly)
	case ir.Div:
		return x.quotient()
	case ir.Pow:
		if k, ok := x.whole(in.Args[1]); ok {
			return x.product(big.NewRat(1, 1), slices.Repeat(in.Args[:1], k)...)
		}
		return x.function()
	case ir.Stack:
		return x.stack()
	case ir.Iota:
		if len(in.Args) > 0 {
			x.failed = true
			return nil
		}
		return single(ir.Arg{Val: x.atom("iota", in.Loops[in.Over[0]:in.Over[0]+1]), Sub: []ir.Sub{ir.L(in.Over[0])}})
	case ir.Max, ir.Softmax, ir.LogSumExp, ir.Reshape, ir.Narrow, ir.SolveOp, ir.TriSolve:
		x.failed = true
		return nil
	}
	return x.function()
}

func (x *instrCanon) fail() form {
	x.failed = true
	return nil
}

func (x *instrCanon) size(p shape.Poly) form {
	if n, ok := p.Const(); ok {
		return form{{coef: big.NewRat(n, 1)}}
	}
	return single(ir.Arg{Val: x.atom("size "+p.String(), nil)})
}

// linear is the sum of the arguments.
func (x *instrCanon) linear() form {
	var out form
	for i, a := range x.in.Args {
		part := x.product(number(x.in.Coef[i]), a)
		if x.failed {
			return nil
		}
		out = append(out, part...)
	}
	last := number(x.in.Coef[len(x.in.Args)])
	if last == nil {
		return x.fail()
	}
	return append(out, monomial{coef: last})
}

// product expands coef · Π args.
func (x *instrCanon) product(coef *big.Rat, args ...ir.Arg) form {
	if coef == nil {
		return x.fail()
	}
	out := form{{coef: coef}}
	for _, a := range args {
		part, ok := x.read(a)
		if !ok || len(out)*len(part) > maxTerms {
			return x.fail()
		}
		out = x.times(out, part)
		if len(out) > 0 && len(out[0].facs) > maxFacs || volume(out) > maxVolume {
			return x.fail()
		}
	}
	return out
}

// volume is the number of factors of all terms.
func volume(f form) (n int) {
	for _, m := range f {
		n += len(m.facs)
	}
	return n
}

// times multiplies two forms over the same free variables.
func (x *instrCanon) times(a, b form) form {
	var out form
	for _, m := range a {
		for _, k := range b {
			k = k.shift(x.n, x.n+len(m.bound))
			out = append(out, monomial{coef: new(big.Rat).Mul(m.coef, k.coef),
				bound: slices.Concat(m.bound, k.bound), facs: slices.Concat(m.facs, k.facs),
				conds: slices.Concat(m.conds, k.conds)})
		}
	}
	return out
}

// shift renumbers the summed loops, which start at variable from, to start at
// variable to.
func (m monomial) shift(from, to int) monomial {
	if len(m.bound) == 0 || from == to {
		return m
	}
	at := make([]ir.Sub, from+len(m.bound))
	for i := range at {
		at[i] = ir.L(i)
		if i >= from {
			at[i] = ir.L(i - from + to)
		}
	}
	out, _ := m.subst(at)
	return out
}

// subst replaces every variable i of m by at[i].
func (m monomial) subst(at []ir.Sub) (monomial, bool) {
	out := monomial{coef: m.coef, bound: m.bound}
	for _, a := range m.facs {
		subs, ok := ir.SubstAll(a.Sub, at)
		if !ok {
			return out, false
		}
		out.facs = append(out.facs, ir.Arg{Val: a.Val, Sub: subs})
	}
	for _, k := range m.conds {
		sub, ok := k.sub.Subst(at)
		if !ok {
			return out, false
		}
		out.conds = append(out.conds, cond{k.kind, sub})
	}
	return out, true
}

// read is the form of an argument in terms of the loops.
func (x *instrCanon) read(a ir.Arg) (form, bool) {
	at := make([]ir.Sub, len(a.Sub))
	for i, s := range a.Sub {
		var ok bool
		if at[i], ok = x.sub(s); !ok {
			return nil, false
		}
	}
	var out form
	for _, m := range x.form(a.Val) {
		full := slices.Clone(at)
		for i := range m.bound {
			full = append(full, ir.L(x.n+i))
		}
		r, ok := m.subst(full)
		if !ok {
			return nil, false
		}
		for i, s := range at {
			if s.Indirect != nil && !x.zeroOutside(m, i, a.Val.Axes[i]) {
				r.conds = append(r.conds, cond{"in " + axesText(a.Val.Axes[i:i+1]), s})
			}
		}
		out = append(out, r)
	}
	return out, true
}

// zeroOutside reports whether a product is zero by itself where variable i
// misses the axis, because a parameter is read there.
func (x *instrCanon) zeroOutside(m monomial, i int, axis *ir.Axis) bool {
	for _, a := range m.facs {
		for k, s := range a.Sub {
			if l, ok := s.Loop(); ok && l == i && x.real[a.Val] && a.Val.Axes[k] == axis {
				return true
			}
		}
	}
	return false
}

// sub is a subscript whose integer tensor is an atom.
func (x *instrCanon) sub(s ir.Sub) (ir.Sub, bool) {
	if s.Indirect == nil {
		return s, true
	}
	f, ok := x.read(*s.Indirect)
	if !ok || len(f) != 1 || len(f[0].facs) != 1 || len(f[0].bound)+len(f[0].conds) > 0 || f[0].coef.Cmp(big.NewRat(1, 1)) != 0 {
		return ir.Sub{}, false
	}
	return ir.Sub{Terms: s.Terms, Const: s.Const, Indirect: &f[0].facs[0]}, true
}

// publish turns a summand over the loops into a form over the output's
// entries: a loop that is an entry becomes that variable, other loops are
// summed, and an output written elsewhere is a condition.
func (x *instrCanon) publish(body form) form {
	rank := len(x.in.Out.Axes)
	entry := map[int]int{}
	for i, s := range x.in.To {
		if l, ok := s.Loop(); ok && x.in.Loops[l] == x.in.Out.Axes[i] {
			if _, twice := entry[l]; !twice {
				entry[l] = i
			}
		}
	}
	at := make([]ir.Sub, x.n)
	var bound []*ir.Axis
	for l, a := range x.in.Loops {
		if i, ok := entry[l]; ok {
			at[l] = ir.L(i)
			continue
		}
		at[l] = ir.L(rank + len(bound))
		bound = append(bound, a)
	}
	var out form
	for _, m := range body {
		full := slices.Clone(at)
		for i := range m.bound {
			full = append(full, ir.L(rank+len(bound)+i))
		}
		r, _ := m.subst(full)
		r.bound = slices.Concat(bound, m.bound)
		for i, s := range x.in.To {
			if l, ok := s.Loop(); ok && x.in.Loops[l] == x.in.Out.Axes[i] && entry[l] == i {
				continue
			}
			via, ok := x.sub(s)
			if !ok {
				return x.opaque()
			}
			eq, _ := via.Subst(full)
			eq.Terms = ir.MergeTerms(append(slices.Clone(eq.Terms), ir.Term{Loop: i, Coef: -1}))
			r.conds = append(r.conds, cond{"=0", eq})
		}
		out = append(out, r)
	}
	return out
}
