package autodiff

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Mixed precision in the manner of Micikevicius et al. (2018): the operands of matrix products
// and of attention may be stored in bfloat16; sums, states, gates and adjoints are float32.

// NewMixedPair is NewPair of a program whose operands of contractions are narrowed (ir.Narrow):
// stored in the type that the caller of the kernels chooses. A gradient passes straight through,
// and the backward reads the same narrowed operands. Instructions of an equation that wide
// reports are left alone, and so are programs with a recurrence, whose products are those of its
// states.
func NewMixedPair(f *ir.Func, wide func(eq string) bool) *ir.Pair {
	return newPair(f, func(joint *ir.Func) { narrowOperands(joint, wide) })
}

// narrowOperands inserts a narrowing before each contraction, one for each value.
func narrowOperands(f *ir.Func, wide func(eq string) bool) {
	if slices.ContainsFunc(f.Body, func(in *ir.Instr) bool { return in.Scan != nil || in.Solve != nil || in.Op == ir.TriSolve }) {
		return
	}
	narrow := map[*ir.Value]*ir.Value{}
	var body []*ir.Instr
	for _, in := range f.Body {
		for _, k := range operands(in) {
			v := in.Args[k].Val
			if wide(in.Eq) {
				continue
			}
			if narrow[v] == nil {
				n := &ir.Instr{Op: ir.Narrow, Out: &ir.Value{Name: f.Fresh("%"), Elem: ir.Real, Axes: v.Axes}, Args: []ir.Arg{{Val: v}}, Eq: in.Eq, Span: in.Span}
				n.Out.Def, narrow[v] = n, n.Out
				body = append(body, n)
			}
			in.Args[k].Val = narrow[v]
		}
		body = append(body, in)
	}
	f.Body = body
}

// operands are the arguments of a contraction: a sum of products in which arguments and output are all
// matrices, if the loops that all of them have are left out, as in a matrix product and in attention
// over a window. So the adjoints of a contraction are contractions, and those of a norm, of a
// weighted sum of rows and of a convolution of channels are not. A product with a state is float32.
func operands(in *ir.Instr) (out []int) {
	if in.Op != ir.Prod || len(in.Args) < 2 || slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return a.Val.Role == ir.State && !a.Val.IsWindow() }) {
		return nil
	}
	batch := func(l int) bool {
		plain := func(subs []ir.Sub) bool {
			return slices.ContainsFunc(subs, func(s ir.Sub) bool { return only(s) == l })
		}
		return plain(in.To) && !slices.ContainsFunc(in.Args, func(a ir.Arg) bool { return !plain(a.Sub) })
	}
	inner := 0
	for l := range in.Loops {
		if !batch(l) {
			inner++
		}
	}
	matrix := func(subs []ir.Sub) bool {
		rank := 0
		for _, s := range subs {
			if len(s.Terms) > 0 && !batch(only(s)) {
				rank++
			}
		}
		return rank >= 2 && rank < inner
	}
	if !matrix(in.To) {
		return nil
	}
	for k, a := range in.Args {
		if matrix(a.Sub) && a.Val.Elem == ir.Real {
			out = append(out, k)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// only is the loop that a subscript is, or −1.
func only(s ir.Sub) int {
	if l, ok := s.Loop(); ok && s.Indirect == nil {
		return l
	}
	return -1
}
