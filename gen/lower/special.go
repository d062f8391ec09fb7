package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// specials write the instructions that no nest of the ordinary kind computes.
// A reshape is a view.
var specials map[ir.Op]func(r *region, in *ir.Instr) []plan.Node

func init() { // the functions reach the table again by way of regions inside
	specials = map[ir.Op]func(r *region, in *ir.Instr) []plan.Node{
		ir.Stack:     (*region).stack,
		ir.Reshape:   func(*region, *ir.Instr) []plan.Node { return nil },
		ir.Max:       (*region).normalise,
		ir.Softmax:   (*region).normalise,
		ir.LogSumExp: (*region).normalise,
		ir.ScanOp:    func(r *region, in *ir.Instr) []plan.Node { return r.l.recurrence(in) },
		ir.SolveOp:   (*region).solve,
		ir.TriSolve:  (*region).triangle,
	}
}

// stack copies each argument to its place along the stacked axis. A value that
// was hoisted out of a recurrence may lack the loops over batch and tokens.
func (r *region) stack(in *ir.Instr) []plan.Node {
	var out []plan.Node
	for _, a := range in.Args {
		part := slices.IndexFunc(a.Sub, func(s ir.Sub) bool { return uses([]ir.Sub{s}, in.Over[0]) })
		leaf := r.leaf(nil)
		loops, vars := r.freshLoops(in)
		if i := in.Over[0]; vars[i] != nil {
			loops[i] = loops[i].Add(plan.Fixed(a.Sub[part].Const), shape.Int(-1))
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

// freshLoops are new loops for an instruction: their values and variables. The
// bound row has its value and no variable.
func (r *region) freshLoops(in *ir.Instr) (loops []plan.Index, vars []*plan.Var) {
	loops, vars = make([]plan.Index, len(in.Loops)), make([]*plan.Var, len(in.Loops))
	for i := range in.Loops {
		if i == r.rowLoop(in) {
			loops[i] = plan.At(r.row)
			continue
		}
		vars[i] = r.l.loopVar(i, r)
		loops[i] = plan.At(vars[i])
	}
	return loops, vars
}

// full is a loop over [0, size).
func full(v *plan.Var, size shape.Poly, kind plan.LoopKind, body []plan.Node) *plan.Loop {
	return &plan.Loop{Kind: kind, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(size)}, Body: body}
}
