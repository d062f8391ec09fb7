package lower

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Expressions: the scalar that an instruction computes at one point of its
// iteration space.

// A leaf is the innermost body of a nest while it is written.
type leaf struct {
	r              *region
	inScope        map[*ir.Value]*plan.Local // values that this nest has computed at this point
	nodes          []plan.Node
	gathers        map[string]*plan.Var
	rematerialised map[string]*plan.Local // values that this nest computes as others do
}

func (r *region) leaf(here map[*ir.Value]*plan.Local) *leaf {
	return &leaf{r: r, inScope: here, gathers: map[string]*plan.Var{}, rematerialised: map[string]*plan.Local{}}
}

// index is a subscript at the given values of the loops.
func (w *leaf) index(s ir.Sub, loops []plan.Index) plan.Index {
	out := plan.Fixed(s.Const)
	for _, t := range s.Terms {
		out = out.Add(loops[t.Loop], shape.Int(int64(t.Coef)))
	}
	if s.Indirect == nil {
		return out
	}
	if c, ok := w.r.l.counts[s.Indirect.Val]; ok {
		out = out.Add(c, shape.Int(1))
	}
	from := w.r.place(s.Indirect.Val)(w.indices(s.Indirect.Sub, loops))
	key := from.String() + "+" + out.String()
	v := w.gathers[key]
	if v == nil {
		v = &plan.Var{Name: w.r.l.fresh("n"), Gathered: true}
		w.gathers[key] = v
		w.nodes = append(w.nodes, &plan.Gather{To: v, From: from, Plus: out})
	}
	return plan.At(v)
}

func (w *leaf) indices(subs []ir.Sub, loops []plan.Index) []plan.Index {
	out := make([]plan.Index, len(subs))
	for i, s := range subs {
		out[i] = w.index(s, loops)
	}
	return out
}

// arg is an argument at the given values of the loops.
func (w *leaf) arg(a ir.Arg, loops []plan.Index) plan.Expr {
	return w.read(a.Val, w.indices(a.Sub, loops))
}

// read is a value at the given subscripts.
func (w *leaf) read(v *ir.Value, idx []plan.Index) plan.Expr {
	if s := w.inScope[v]; s != nil {
		return plan.Ref{To: s}
	}
	if s := w.r.l.locals[v]; s != nil {
		return plan.Ref{To: s}
	}
	if w.r.rematerialised[v] {
		return w.once(v, idx)
	}
	if w.r.inline[v] {
		return w.expr(v.Def, loopsAt(v.Def, idx))
	}
	return plan.Load{Access: w.r.place(v)(idx)}
}

// once is a rematerialised value, computed once for all its readers in this
// nest.
func (w *leaf) once(v *ir.Value, idx []plan.Index) plan.Expr {
	key := fmt.Sprintf("%p", v)
	for _, x := range idx {
		key += " " + x.String()
	}
	if w.rematerialised[key] == nil {
		val := w.expr(v.Def, loopsAt(v.Def, idx))
		w.rematerialised[key] = w.let(v, val)
	}
	return plan.Ref{To: w.rematerialised[key]}
}

// let sets a new scalar named after a value.
func (w *leaf) let(v *ir.Value, val plan.Expr) *plan.Local {
	t := &plan.Local{Name: w.r.l.fresh(v.Name), Elem: v.Elem}
	w.nodes = append(w.nodes, &plan.Let{To: t, Val: val})
	return t
}

// loopsAt returns the loops of an elementwise instruction whose output is read
// at idx.
func loopsAt(in *ir.Instr, idx []plan.Index) []plan.Index {
	loops := make([]plan.Index, len(in.Loops))
	for i, s := range in.To {
		l, _ := s.Loop()
		loops[l] = idx[i]
	}
	return loops
}

// expr is what an instruction adds or assigns at the given loops.
func (w *leaf) expr(in *ir.Instr, loops []plan.Index) plan.Expr {
	switch in.Op {
	case ir.Const:
		return plan.Num{V: in.Coef[0]}
	case ir.Iota:
		at := ir.L(in.Over[0])
		if len(in.Args) > 0 {
			at.Indirect = &in.Args[0]
		}
		return plan.IndexExpr{Index: w.index(at, loops)}
	case ir.SizeOf:
		return plan.IndexExpr{Index: plan.Fixed(in.Poly)}
	case ir.Stop, ir.Override:
		return w.arg(in.Args[0], loops)
	}
	args := make([]plan.Expr, len(in.Args))
	for i, a := range in.Args {
		args[i] = w.arg(a, loops)
	}
	switch in.Op {
	case ir.Prod:
		return product(in.Coef[0], args)
	case ir.Lin:
		n := len(args)
		if in.Out.Elem == ir.Int {
			return args[0] // a copy of counts
		}
		return plan.Lin{Coef: in.Coef[:n], Args: args, Const: in.Coef[n]}
	}
	if !in.Op.Called() {
		panic("lower: BUG: no loops for " + in.Op.String())
	}
	return plan.Call{Op: in.Op, Args: args}
}

// product is coef·Π args. A product that is the first argument is flattened,
// which changes no rounding.
func product(coef float64, args []plan.Expr) plan.Expr {
	if len(args) == 0 {
		return plan.Num{V: coef}
	}
	if first, ok := args[0].(plan.Prod); ok && unit(coef) {
		return plan.Prod{Coef: coef * first.Coef, Args: append(append([]plan.Expr{}, first.Args...), args[1:]...)}
	}
	if coef == 1 && len(args) == 1 {
		return args[0]
	}
	return plan.Prod{Coef: coef, Args: args}
}

func unit(c float64) bool { return c == 1 || c == -1 }

// place is the address of a value in memory.
func (r *region) place(v *ir.Value) place {
	if p := r.l.places[v]; p != nil {
		return p
	}
	panic("lower: BUG: " + v.Name + " is not in memory")
}

// A read is a value with the subscripts at which an instruction reads it.
type read struct {
	val *ir.Value
	idx []plan.Index
}

// reads lists the values that an instruction reads at the given loops, through
// inlined values.
func (r *region) reads(in *ir.Instr, loops []plan.Index) []read {
	var out []read
	var visit func(in *ir.Instr, loops []plan.Index)
	var sub func(s ir.Sub, loops []plan.Index) plan.Index
	arg := func(a ir.Arg, loops []plan.Index) {
		idx := make([]plan.Index, len(a.Sub))
		for i, s := range a.Sub {
			idx[i] = sub(s, loops)
		}
		if r.inline[a.Val] {
			visit(a.Val.Def, loopsAt(a.Val.Def, idx))
			return
		}
		out = append(out, read{a.Val, idx})
	}
	sub = func(s ir.Sub, loops []plan.Index) plan.Index {
		x := plan.Fixed(s.Const)
		for _, t := range s.Terms {
			x = x.Add(loops[t.Loop], shape.Int(int64(t.Coef)))
		}
		if s.Indirect != nil {
			arg(*s.Indirect, loops)
			x = x.Add(plan.At(&plan.Var{Name: "via", Gathered: true}), shape.Int(1))
		}
		return x
	}
	visit = func(in *ir.Instr, loops []plan.Index) {
		for _, a := range in.Args {
			arg(a, loops)
		}
	}
	visit(in, loops)
	for _, s := range append(append([]ir.Sub{}, in.To...), in.Guard...) {
		if s.Indirect != nil {
			arg(*s.Indirect, loops)
		}
	}
	return out
}
