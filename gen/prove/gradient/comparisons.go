package gradient

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// withRelaxed is f with what stands for a value in gradients in the value's place.
func withRelaxed(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	relax(g)
	return g
}

func relax(f *ir.Func) {
	for _, in := range f.Body {
		if in.Op == ir.Override {
			in.Op, in.Args, in.Coef = ir.Prod, in.Args[1:], []float64{1}
		}
		if in.Scan != nil {
			relax(in.Scan.Body)
		}
	}
}

// withComparisons is f with the outcomes of all its comparisons as results.
func withComparisons(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	g.Results = nil
	exposeComparisons(g, func(v *ir.Value) {
		g.Results = append(g.Results, ir.Result{Name: v.Name, Val: v})
	})
	return g
}

// tell adds the outcomes of a program's comparisons to it; those of a scan's
// body are given out token by token.
func exposeComparisons(f *ir.Func, give func(*ir.Value)) {
	for _, in := range slices.Clone(f.Body) {
		if s := in.Scan; s != nil {
			exposeComparisons(s.Body, func(v *ir.Value) {
				axes := append([]*ir.Axis{s.Batch, s.Time}, v.Axes...)
				out := &ir.Value{Name: f.Fresh("choice"), Elem: ir.Real, Axes: axes, Def: in}
				s.Outs = append(s.Outs, ir.ScanOutput{Val: v, Out: out})
				give(out)
			})
		} else if v := comparisonOutcome(f, in); v != nil {
			give(v)
		}
	}
}

// comparisonOutcome is which way an instruction goes, or nil for one that has no kink.
func comparisonOutcome(f *ir.Func, in *ir.Instr) *ir.Value {
	here := func(v *ir.Value) ir.Arg { return ir.Arg{Val: v, Sub: ir.Ls(len(in.Loops))} }
	add := func(op ir.Op, args ...ir.Arg) *ir.Value {
		n := &ir.Instr{Op: op, Loops: in.Loops, Guard: in.Guard, To: ir.Ls(len(in.Loops)), Args: args}
		elem := op.Info().Out
		n.Out = &ir.Value{Name: f.Fresh("choice"), Elem: elem, Axes: in.Loops, Def: n}
		f.Body = append(f.Body, n)
		return n.Out
	}
	switch in.Op {
	case ir.Less, ir.LessEq, ir.Equal:
		return add(ir.ToReal, ir.Arg{Val: in.Out, Sub: in.To})
	case ir.Max2, ir.Min2:
		return add(ir.ToReal, here(add(ir.LessEq, in.Args[1], in.Args[0])))
	case ir.Max:
		return add(ir.ToReal, here(add(ir.Equal, in.Args[0], ir.Arg{Val: in.Out, Sub: in.To})))
	case ir.Abs, ir.Sign:
		return add(ir.Sign, in.Args[0])
	case ir.Floor:
		return add(ir.Floor, in.Args[0])
	case ir.Mod:
		return add(ir.Floor, here(add(ir.Div, in.Args...)))
	}
	return nil
}
