package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// special writes an instruction that no nest of the ordinary kind computes.
func (r *region) special(in *ir.Instr) []plan.Node {
	switch {
	case in.Scan != nil:
		return r.l.recurrence(in)
	case in.Op == ir.Reshape:
		return nil
	case in.Op == ir.Stack:
		return r.stack(in)
	case in.Op == ir.Prod:
		return r.gemm(in)
	case in.Op == ir.SolveOp:
		return r.solve(in)
	case in.Op == ir.TriSolve:
		return r.triangle(in)
	}
	return r.normalise(in)
}

// stack copies each argument to its place along the stacked axis. What was moved
// out of a recurrence may lack its loops over lanes and tokens.
func (r *region) stack(in *ir.Instr) []plan.Node {
	var out []plan.Node
	for _, a := range in.Args {
		part := slices.IndexFunc(a.Sub, func(s ir.Sub) bool { return uses([]ir.Sub{s}, in.Over[0]) })
		leaf := r.leaf(nil)
		loops, vars := make([]plan.Index, len(in.Loops)), make([]*plan.Var, len(in.Loops))
		for i := range in.Loops {
			if i == r.rowLoop(in) {
				loops[i] = plan.At(r.row)
				continue
			}
			vars[i] = r.l.loopVar(i, r)
			loops[i] = plan.At(vars[i])
			if i == in.Over[0] {
				loops[i] = loops[i].Add(plan.Fixed(a.Sub[part].Const), shape.Int(-1))
			}
		}
		val := leaf.arg(a, loops)
		leaf.nodes = append(leaf.nodes, &plan.Store{To: r.place(in.Out)(loops), Vals: []plan.Expr{val}})
		nodes := leaf.nodes
		for i := len(in.Loops) - 1; i >= 0; i-- {
			size := in.Loops[i].Size
			if i == in.Over[0] {
				size = a.Val.Axes[part].Size
			}
			if vars[i] != nil {
				nodes = []plan.Node{full(vars[i], size, plan.Plain, nodes)}
			}
		}
		out = append(out, nodes...)
	}
	return out
}

// full is a loop over [0, size).
func full(v *plan.Var, size shape.Poly, kind plan.LoopKind, body []plan.Node) *plan.Loop {
	return &plan.Loop{Kind: kind, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(size)}, Body: body}
}
