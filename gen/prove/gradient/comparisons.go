package gradient

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// For finite differences a program is rewritten: values inside it are exposed as results,
// so that the comparisons of two runs can be compared, and relaxed values take the place
// of the values that they stand for.

// relax replaces the value of each override by its relaxed value.
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
	for _, v := range expose(g, "choice", comparisonOutcome) {
		g.Results = append(g.Results, ir.Result{Name: v.Name, Val: v})
	}
	return g
}

// expose returns the values that pick chooses at the instructions of f, in order. Those
// of a scan's body become outputs of the scan, one value for each token.
func expose(f *ir.Func, name string, pick func(f *ir.Func, in *ir.Instr) *ir.Value) []*ir.Value {
	var out []*ir.Value
	for _, in := range slices.Clone(f.Body) {
		if s := in.Scan; s != nil {
			for _, v := range expose(s.Body, name, pick) {
				all := &ir.Value{Name: f.Fresh(name), Elem: v.Elem, Axes: append([]*ir.Axis{s.Batch, s.Time}, v.Axes...), Def: in}
				s.Outs = append(s.Outs, ir.ScanOutput{Val: v, Out: all})
				out = append(out, all)
			}
		} else if v := pick(f, in); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// comparisonOutcome adds to f the branch that an instruction takes, as a number. It is
// nil for a primitive without kinks.
func comparisonOutcome(f *ir.Func, in *ir.Instr) *ir.Value {
	here := func(v *ir.Value) ir.Arg { return ir.Arg{Val: v, Sub: ir.Ls(len(in.Loops))} }
	add := func(op ir.Op, args ...ir.Arg) *ir.Value {
		n := &ir.Instr{Op: op, Loops: in.Loops, Guard: in.Guard, To: ir.Ls(len(in.Loops)), Args: args}
		n.Out = &ir.Value{Name: f.Fresh("choice"), Elem: op.Info().Out, Axes: in.Loops, Def: n}
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
