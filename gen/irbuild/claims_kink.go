package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Inside is the result of an invariant's program that is 0 where the conditions of its
// binders do not hold.
const Inside = "inside"

// Value is the result of a kink's or an invariant's program besides its sides.
const Value = "value"

// Kink builds the two sides of a kink, for every entry that its free indices
// name, and the value whose smoothness it is about: what an operation or one
// step of a rule gives, or the function that the kink looks into, else the
// page's first function.
func Kink(blk *check.Block, k *notation.Kink, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+".kink", ds)
	e.span = k.Span
	vars, ok := e.freeIndices(k.Left, k.Right)
	if !ok {
		return nil
	}
	left, right := e.expr(k.Left), e.expr(k.Right)
	value := e.kinked(k, n)
	if left == nil || right == nil || value == nil {
		return nil
	}
	if len(right.axes) == 0 && len(right.fs) > 0 { // a number is the same for every entry
		right = &ten{axes: left.axes, elem: ir.Real, coef: right.coef, fs: right.fs}
	}
	if left, right, ok = e.alike(k.Left, k.Right, left, right); !ok {
		return nil
	}
	all := append(slices.Clone(n.vars()), vars...)
	e.result(Left, left, all)
	e.result(Right, right, all)
	e.result(Value, value, n.vars())
	return &Equality{Func: e.finished(), Free: n.known()}
}

// freeIndices binds the indices that no Σ and no left-hand side binds, each to
// the axis that it reads.
func (e *builder) freeIndices(xs ...notation.Expr) ([]*loopVar, bool) {
	var vars []*loopVar
	ok := true
	for _, x := range xs {
		notation.Inspect(x, func(n any) bool {
			switch n := n.(type) {
			case *notation.Reduce:
				return false
			case *notation.Index:
				for i, a := range n.At {
					id, isID := a.(*notation.Ident)
					if !isID || e.local(id.Name.Text) != nil || e.blk.Symbols[id.Name.Text] != nil {
						continue
					}
					t := e.expr(n.X)
					if t == nil || i >= len(t.axes) {
						ok = false
						continue
					}
					v := e.newVar(id.Name.Text, t.axes[i])
					e.bind(id.Name.Text, &binding{idx: v})
					vars = append(vars, v)
				}
			}
			return true
		})
	}
	return vars, ok
}

// kinked is the value that a kink is about.
func (e *builder) kinked(k *notation.Kink, n claimNamer) *ten {
	if p, ok := n.(*plainClaim); ok {
		return p.plainNames.vals["out"]
	}
	name := ""
	for _, x := range []notation.Expr{k.Left, k.Right} {
		notation.Inspect(x, func(y any) bool {
			if f, ok := y.(*notation.Field); ok && name == "" {
				name = text(f.X)
			}
			return true
		})
	}
	for _, st := range e.blk.Unit.Body {
		if d, ok := st.(*notation.Define); ok && d.Target.IsFunc && name == "" {
			name = d.Target.Name.Name.Text
		}
	}
	f := e.blk.Funcs[name]
	if step, ok := n.(*stepClaim); ok && name == "" {
		step.step(e)
		return step.now["y"]
	}
	if f == nil {
		e.errorf(diag.NotSupported, k.Left, "nothing on this page has this kink").Hint("write ℓ.r, a local name of a function")
		return nil
	}
	call := &notation.Call{Span: f.Def.Target.Span, Fun: f.Def.Target.Name.Name}
	for _, p := range f.Params {
		call.Args = append(call.Args, &notation.Ident{Span: p.Span, Name: p.Name})
	}
	return e.expr(call)
}

// Invariant builds the two sides of an invariant of an operation, for every
// entry that its binders name.
func Invariant(blk *check.Block, p Probe, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+"."+p.Name, ds)
	e.span = p.Left.Where()
	vars, unions, conds, ok := e.binders(p.Binders)
	if len(unions) > 0 {
		e.ds.Errorf(diag.NotSupported, p.Left.Where(), "an invariant over a union of axes is not supported")
		ok = false
	}
	if !ok {
		return nil
	}
	all := append(slices.Clone(n.vars()), vars...)
	left, right, ok := e.sides(p)
	if !ok {
		return nil
	}
	e.result(Left, left, all)
	e.result(Right, right, all)
	if in := e.holds(vars, conds); in != nil {
		e.result(Inside, in, all)
	}
	return &Equality{Func: e.finished(), Free: n.known()}
}

// frees lists the declared names behind the parameters of a block's program.
func frees(blk *check.Block, f *ir.Func, prefix string, out map[string]Free) {
	for _, s := range blk.SymSeq {
		if name := prefix + ident.ASCII(s.Name); f.Param(name) != nil {
			out[name] = Free{Text: prefix + s.Name, Sym: s, Type: s.Type}
		}
	}
	for _, p := range blk.Parts {
		if p.Block != nil {
			frees(p.Block, f, prefix+p.Name+".", out)
		}
	}
}

// Frees lists the declared names behind the parameters of a program that was
// built of the block: those of its parts too. A function of a page of its own
// has its parameters.
func Frees(blk *check.Block, f *ir.Func) map[string]Free {
	out := map[string]Free{}
	if d := blk.Unit.Result; blk.Unit.Kind == notation.FuncUnit && d != nil {
		for _, p := range d.Target.Params {
			out[ident.ASCII(p.Name.Text)] = Free{Text: p.Name.Text, Type: p.Type}
		}
	}
	frees(blk, f, "", out)
	return out
}
