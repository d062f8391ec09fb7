package lower

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// unrollSums writes out sums of at most ir.ShortSum terms, such as that of a short convolution: each
// becomes one expression of an entry, which can be computed where it is read.
func unrollSums(f *ir.Func) {
	var body []*ir.Instr
	for _, in := range f.Body {
		body = append(append(body, unrolled(f, in)...), in)
	}
	f.Body = body
}

// unrolled makes a short sum a linear combination of its terms, which it returns.
func unrolled(f *ir.Func, in *ir.Instr) []*ir.Instr {
	over := in.Reduced()
	if in.Op != ir.Prod || len(over) != 1 || len(in.Guard) > 0 || !fills(in) || len(in.To) == 0 || asMatmul(in) != nil {
		return nil
	}
	n, fixed := in.Loops[over[0]].Size.Const()
	if !fixed || n < 1 || n > ir.ShortSum {
		return nil
	}
	at := make([]ir.Sub, len(in.Loops))
	loops := make([]*ir.Axis, 0, len(in.Loops))
	for l := range in.Loops {
		if l != over[0] {
			at[l] = ir.L(len(loops))
			loops = append(loops, in.Loops[l])
		}
	}
	var terms []*ir.Instr
	sum := &ir.Instr{Coef: make([]float64, n+1)}
	for k := range n {
		at[over[0]] = ir.Sub{Const: shape.Int(k)}
		t := &ir.Instr{Op: ir.Prod, Loops: loops, Coef: in.Coef, Eq: in.Eq, Span: in.Span}
		t.To, _ = ir.SubstAll(in.To, at)
		for _, a := range in.Args {
			sub, ok := ir.SubstAll(a.Sub, at)
			if !ok {
				return nil
			}
			t.Args = append(t.Args, ir.Arg{Val: a.Val, Sub: sub})
		}
		t.Out = &ir.Value{Name: f.Fresh("%"), Elem: in.Out.Elem, Axes: in.Out.Axes, Def: t}
		terms = append(terms, t)
		sum.Args = append(sum.Args, ir.All(t.Out))
		sum.Coef[k] = 1
	}
	in.Op, in.Loops, in.To, in.Args, in.Coef = ir.Lin, in.Out.Axes, ir.Ls(len(in.Out.Axes)), sum.Args, sum.Coef
	return terms
}
