package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// vjp is the table of vector-Jacobian products: a row returns the contribution
// to the adjoint of argument k, or nil where there is none. Where a primitive
// has a kink the row decides the side; the generated boundary tests hold it to
// that.
var vjp = map[ir.Op]func(l *local, k int) *ir.Value{
	ir.Prod: func(l *local, k int) *ir.Value {
		var others []ir.Arg
		for j, a := range l.in.Args {
			if j != k {
				others = append(others, a)
			}
		}
		return l.contribute(k, l.in.Coef[0], others...)
	},
	ir.Lin:      func(l *local, k int) *ir.Value { return l.contribute(k, l.in.Coef[k]) },
	ir.Stop:     none,
	ir.Override: second,
	ir.Stack:    stackRow,
	ir.Reshape:  func(l *local, k int) *ir.Value { return l.r.b.Reshape(l.bar.Val, l.in.Args[0].Val.Axes...) },
	ir.Narrow:   func(l *local, k int) *ir.Value { return l.bar.Val }, // straight through the rounding
	ir.Exp:      func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.out()) },
	ir.Log:      func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.elementwise(ir.Div, l.one(), l.arg(0))) },
	ir.Log1p: func(l *local, k int) *ir.Value {
		return l.contribute(k, 1, l.elementwise(ir.Div, l.one(), l.lin(1, []float64{1}, l.arg(0))))
	},
	ir.Expm1: func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.lin(1, []float64{1}, l.out())) },
	ir.Sqrt: func(l *local, k int) *ir.Value {
		return l.contribute(k, 0.5, l.elementwise(ir.Div, l.one(), l.out()))
	},
	ir.Tanh: func(l *local, k int) *ir.Value {
		sq := l.prod(1, l.out(), l.out())
		return l.contribute(k, 1, l.lin(1, []float64{-1}, sq))
	},
	// 1 − σ(x) as σ(−x): no cancellation where σ is close to 1.
	ir.Sigmoid: func(l *local, k int) *ir.Value {
		rest := l.elementwise(ir.Sigmoid, l.lin(0, []float64{-1}, l.arg(0)))
		return l.contribute(k, 1, l.out(), rest)
	},
	ir.Softplus: func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.elementwise(ir.Sigmoid, l.arg(0))) },
	ir.Sin:      func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.elementwise(ir.Cos, l.arg(0))) },
	ir.Cos:      func(l *local, k int) *ir.Value { return l.contribute(k, -1, l.elementwise(ir.Sin, l.arg(0))) },
	ir.Erf: func(l *local, k int) *ir.Value {
		const twoOverRootPi = 1.1283791670955126
		e := l.elementwise(ir.Exp, l.prod(-1, l.arg(0), l.arg(0)))
		return l.contribute(k, twoOverRootPi, e)
	},
	ir.Abs:    func(l *local, k int) *ir.Value { return l.contribute(k, 1, l.elementwise(ir.Sign, l.arg(0))) },
	ir.Sign:   none,
	ir.Floor:  none,
	ir.ToReal: none,
	ir.Div: func(l *local, k int) *ir.Value {
		if k == 0 {
			return l.contribute(0, 1, l.elementwise(ir.Div, l.one(), l.arg(1)))
		}
		return l.contribute(1, -1, l.elementwise(ir.Div, l.out(), l.arg(1)))
	},
	// x⁰ is 1 and 0ʸ is 0 around y > 0, so both slopes are 0 there.
	ir.Pow: func(l *local, k int) *ir.Value {
		zero := l.elementwise(ir.Equal, l.arg(1-k), l.zero())
		if k == 0 {
			p := l.elementwise(ir.Pow, l.arg(0), l.lin(-1, []float64{1}, l.arg(1)))
			return l.contribute(0, 1, l.elementwise(ir.Select, zero, l.zero(), l.prod(1, l.arg(1), p)))
		}
		log := l.elementwise(ir.Log, l.arg(0))
		return l.contribute(1, 1, l.elementwise(ir.Select, zero, l.zero(), l.prod(1, l.out(), log)))
	},
	// x mod y = x − y·⌊x/y⌋, and ⌊ ⌋ has no slope between its jumps.
	ir.Mod: func(l *local, k int) *ir.Value {
		if k == 0 {
			return l.contribute(0, 1)
		}
		return l.contribute(1, -1, l.elementwise(ir.Floor, l.elementwise(ir.Div, l.arg(0), l.arg(1))))
	},
	// The first argument wins a tie, so a clamp passes its gradient at the bound.
	ir.Max2: func(l *local, k int) *ir.Value {
		return l.choose(k, l.elementwise(ir.LessEq, l.arg(1), l.arg(0)), k == 0)
	},
	ir.Min2: func(l *local, k int) *ir.Value {
		return l.choose(k, l.elementwise(ir.LessEq, l.arg(0), l.arg(1)), k == 0)
	},
	ir.Select: func(l *local, k int) *ir.Value {
		if k == 0 {
			return nil
		}
		return l.choose(k, l.arg(0), k == 1)
	},
	ir.Max:       maxRow,
	ir.Softmax:   softmaxRow,
	ir.LogSumExp: logSumExpRow,
	ir.TriSolve:  triSolveRow,
}

func none(*local, int) *ir.Value { return nil }

func second(l *local, k int) *ir.Value {
	if k == 1 {
		return l.contribute(1, 1)
	}
	return nil
}

func (l *local) one() ir.Arg  { return ir.Arg{Val: l.r.b.Const(1)} }
func (l *local) zero() ir.Arg { return ir.Arg{Val: l.r.b.Const(0)} }

// choose passes the adjoint to argument k where cond holds, or where it does
// not. Elsewhere the argument receives an exact zero, whatever its value.
func (l *local) choose(k int, cond ir.Arg, holds bool) *ir.Value {
	if !holds {
		cond = l.elementwise(ir.Not, cond)
	}
	if l.masked {
		cond = l.elementwise(ir.And, l.taken, cond)
	}
	part := l.add(k, 1, l.elementwise(ir.Select, cond, l.bar, l.zero()))
	l.recordMask(k, part, cond)
	return part
}

// maxRow divides the adjoint equally among the entries that are the maximum.
func maxRow(l *local, _ int) *ir.Value {
	b := l.r.b
	hit := l.elementwise(ir.ToReal, l.elementwise(ir.Equal, l.arg(0), l.out()))
	count := b.Add(&ir.Instr{Op: ir.Prod, Loops: l.in.Loops, Guard: l.in.Guard, Out: l.fresh(l.in.Out.Axes),
		To: l.in.To, Args: []ir.Arg{hit}, Coef: []float64{1}})
	share := l.elementwise(ir.Div, hit, ir.Arg{Val: count, Sub: l.in.To})
	return l.contribute(0, 1, share)
}

// softmaxRow is x̄ = p ⊙ (p̄ − Σ p p̄).
func softmaxRow(l *local, _ int) *ir.Value {
	b := l.r.b
	var rest []*ir.Axis
	var to []ir.Sub
	for i, a := range l.in.Loops {
		if !slices.Contains(l.in.Over, i) {
			rest, to = append(rest, a), append(to, ir.L(i))
		}
	}
	dot := b.Add(&ir.Instr{Op: ir.Prod, Loops: l.in.Loops, Guard: l.in.Guard, Out: l.fresh(rest), To: to,
		Args: []ir.Arg{l.out(), l.bar}, Coef: []float64{1}})
	diff := l.lin(0, []float64{1, -1}, l.bar, ir.Arg{Val: dot, Sub: to})
	a := l.in.Args[0]
	return b.Add(&ir.Instr{Op: ir.Prod, Loops: l.in.Loops, Guard: l.in.Guard, Out: l.fresh(a.Val.Axes), To: a.Sub,
		Args: []ir.Arg{l.out(), diff}, Coef: []float64{1}})
}

// logSumExpRow is x̄ = exp(x − out) · bar.
func logSumExpRow(l *local, _ int) *ir.Value {
	p := l.elementwise(ir.Exp, l.lin(0, []float64{1, -1}, l.arg(0), l.out()))
	return l.contribute(0, 1, p)
}

// stackRow reads the adjoint of a stack where the argument was copied to: over
// the argument's own axes, at the inverse of its subscript on the stacked
// axis.
func stackRow(l *local, k int) *ir.Value {
	a := l.in.Args[k]
	sub := make([]ir.Sub, len(l.in.Loops))
	for i, s := range a.Sub {
		sub[s.Terms[0].Loop] = ir.Sub{Terms: []ir.Term{{Loop: i, Coef: 1}}, Const: s.Const.Mul(shape.Int(-1))}
	}
	for i, s := range sub {
		if len(s.Terms) == 0 {
			panic("autodiff: BUG: a stack broadcasts loop " + l.in.Loops[i].Name)
		}
	}
	return l.r.b.Prod(a.Val.Axes, a.Val.Axes, ir.Ls(len(a.Val.Axes)), 1, ir.Arg{Val: l.bar.Val, Sub: sub})
}
