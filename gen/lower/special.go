package lower

import (
	"math"
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
		ir.Narrow:    (*region).narrow,
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
		to := r.place(in.Out)(loops)
		val := leaf.arg(a, loops)
		if from, ok := val.(plan.Load); ok && from.Buf == to.Buf && slices.EqualFunc(from.Index, to.Index, plan.Index.Equal) {
			continue // computed in place
		}
		leaf.nodes = append(leaf.nodes, &plan.Store{To: to, Vals: []plan.Expr{val}})
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

// around puts the loops of an instruction around nodes, the first outermost. A
// loop without a variable is the bound row.
func around(loops []int, vars []*plan.Var, axes []*ir.Axis, nodes []plan.Node) []plan.Node {
	for _, l := range slices.Backward(loops) {
		if vars[l] != nil {
			nodes = []plan.Node{full(vars[l], axes[l].Size, plan.Plain, nodes)}
		}
	}
	return nodes
}

// loopNumbers are the numbers of n loops.
func loopNumbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// full is a loop over [0, size).
func full(v *plan.Var, size shape.Poly, kind plan.LoopKind, body []plan.Node) *plan.Loop {
	return &plan.Loop{Kind: kind, Var: v, Lo: []plan.Index{{}}, Hi: []plan.Index{plan.Fixed(size)}, Body: body}
}

// Softmax, logsumexp and maximum in three passes: for every point of the kept
// loops one pass finds the maximum, one sums the exponentials and one scales them.

// A norm is one of them while it is written.
type norm struct {
	r     *region
	in    *ir.Instr
	loops []plan.Index
	vars  []*plan.Var
	over  []int
	kept  []int
}

func (r *region) normalise(in *ir.Instr) []plan.Node {
	n := &norm{r: r, in: in}
	n.loops, n.vars = r.freshLoops(in)
	for i, v := range n.vars {
		switch {
		case v == nil: // the row
		case slices.Contains(in.Over, i):
			n.over = append(n.over, i)
		default:
			n.kept = append(n.kept, i)
		}
	}
	nodes := around(n.kept, n.vars, in.Loops, n.point())
	if in.Op == ir.Softmax && len(in.Guard) > 0 {
		nodes = append(r.clear(in.Out), nodes...)
	}
	return nodes
}

// point is the work at one point of the kept loops.
func (n *norm) point() []plan.Node {
	l, in := n.r.l, n.in
	top := &plan.Local{Name: l.fresh("top"), Elem: ir.Real}
	out := []plan.Node{&plan.Let{To: top, Val: plan.Num{V: math.Inf(-1)}}}
	out = append(out, n.pass(func(w *leaf) {
		w.nodes = append(w.nodes, &plan.Accumulate{To: top, Max: true, Val: w.arg(in.Args[0], n.loops)})
	})...)
	if in.Op == ir.Max {
		return append(out, n.r.result(in, n.loops, plan.Ref{To: top}))
	}
	sum := &plan.Local{Name: l.fresh("sum"), Elem: ir.Real}
	out = append(out, &plan.Let{To: sum, Val: plan.Num{}})
	out = append(out, n.pass(func(w *leaf) {
		val := plan.Expr(plan.Call{Op: ir.Exp, Args: []plan.Expr{plan.Lin{Coef: []float64{1, -1},
			Args: []plan.Expr{w.arg(in.Args[0], n.loops), plan.Ref{To: top}}}}})
		if in.Op == ir.Softmax {
			e := &plan.Local{Name: l.fresh("e"), Elem: ir.Real}
			w.nodes = append(w.nodes, &plan.Let{To: e, Val: val})
			val = plan.Ref{To: e}
			defer func() { w.nodes = append(w.nodes, n.store(w, val)) }()
		}
		w.nodes = append(w.nodes, &plan.Accumulate{To: sum, Val: val})
	})...)
	if in.Op == ir.LogSumExp {
		log := plan.Call{Op: ir.Log, Args: []plan.Expr{plan.Ref{To: sum}}}
		return append(out, n.r.result(in, n.loops, plan.Lin{Coef: []float64{1, 1}, Args: []plan.Expr{plan.Ref{To: top}, log}}))
	}
	scale := &plan.Local{Name: l.fresh("scale"), Elem: ir.Real}
	out = append(out, &plan.Let{To: scale, Val: plan.Call{Op: ir.Div, Args: []plan.Expr{plan.Num{V: 1}, plan.Ref{To: sum}}}})
	return append(out, n.pass(func(w *leaf) {
		e := plan.Load{Access: n.r.place(in.Out)(w.indices(in.To, n.loops))}
		w.nodes = append(w.nodes, n.store(w, plan.Prod{Coef: 1, Args: []plan.Expr{e, plan.Ref{To: scale}}}))
	})...)
}

func (n *norm) store(w *leaf, val plan.Expr) plan.Node {
	return &plan.Store{To: n.r.place(n.in.Out)(w.indices(n.in.To, n.loops)), Vals: []plan.Expr{val}}
}

// result stores the output of an instruction at one point, or keeps it as a scalar.
func (r *region) result(in *ir.Instr, loops []plan.Index, val plan.Expr) plan.Node {
	if r.l.places[in.Out] == nil {
		t := &plan.Local{Name: r.l.fresh(in.Out.Name), Elem: ir.Real}
		r.l.locals[in.Out] = t
		return &plan.Let{To: t, Val: val}
	}
	return &plan.Store{To: r.place(in.Out)(r.leaf(nil).indices(in.To, loops)), Vals: []plan.Expr{val}}
}

// pass is a loop over the normalised axes where the guards hold.
func (n *norm) pass(f func(*leaf)) []plan.Node {
	w := n.r.leaf(nil)
	f(w)
	m := &member{in: n.in, order: n.over, loops: n.loops}
	nodes := w.nodes
	for i := len(n.over) - 1; i >= 0; i-- {
		l := n.over[i]
		loop := full(n.vars[l], n.in.Loops[l].Size, plan.Reduction, nil)
		g := &group{members: []*member{m}}
		nest := &nestWriter{r: n.r, g: g}
		nest.bound(loop, i)
		loop.Body = nest.guarded(i, nodes)
		nodes = []plan.Node{loop}
	}
	nest := &nestWriter{r: n.r, g: &group{members: []*member{m}}}
	return nest.guarded(-1, nodes)
}
