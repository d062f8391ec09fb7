package claim

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/scan"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Kinks and invariants: two sides, and the value or the condition that belongs to them.

// Inside is the result of the program of an invariant that is 0 where the conditions of
// its binders do not hold.
const Inside = "inside"

// Value is the result of the program of a kink for the value whose smoothness it is about.
const Value = "value"

// Kink builds the two sides of a kink, for every entry that its free indices name, and the
// value whose smoothness it is about: the result of an operation or of one step of a rule,
// or the function that the kink refers to, else the page's first function.
func Kink(blk *check.Block, k *notation.Kink, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+".kink", ds)
	e.Span = k.Span
	vars, ok := freeIndices(e, k.Left, k.Right)
	if !ok {
		return nil
	}
	left, right := e.Expr(k.Left), e.Expr(k.Right)
	value := kinkValue(e, k, n)
	if left == nil || right == nil || value == nil {
		return nil
	}
	if len(right.Axes) == 0 && len(right.Factors) > 0 { // a number is the same for every entry
		right = right.Over(left.Axes)
	}
	if left, right, ok = alike(e, k.Left, k.Right, left, right); !ok {
		return nil
	}
	all := append(slices.Clone(n.vars()), vars...)
	result(e, Left, left, all)
	result(e, Right, right, all)
	result(e, Value, value, n.vars())
	return &Equality{Func: finished(e), Free: n.known()}
}

// freeIndices binds the indices that neither Σ nor a left-hand side binds, each to the
// axis that it reads.
func freeIndices(e *expr.Builder, xs ...notation.Expr) ([]*tensor.LoopVar, bool) {
	var vars []*tensor.LoopVar
	ok := true
	for _, x := range xs {
		notation.Inspect(x, func(n any) bool {
			switch n := n.(type) {
			case *notation.Reduce:
				return false
			case *notation.Index:
				for i, a := range n.At {
					id, isID := a.(*notation.Ident)
					if !isID || e.Local(id.Name.Text) != nil || e.Block.Symbols[id.Name.Text] != nil {
						continue
					}
					t := e.Expr(n.X)
					if t == nil || i >= len(t.Axes) {
						ok = false
						continue
					}
					v := e.NewVar(id.Name.Text, t.Axes[i])
					e.Bind(id.Name.Text, &expr.Binding{Index: v})
					vars = append(vars, v)
				}
			}
			return true
		})
	}
	return vars, ok
}

// kinkValue is the value that a kink is about.
func kinkValue(e *expr.Builder, k *notation.Kink, n claimNamer) *tensor.Tensor {
	if p, ok := n.(*outputClaim); ok {
		return p.Names.Values["out"]
	}
	name := ""
	for _, x := range []notation.Expr{k.Left, k.Right} {
		notation.Inspect(x, func(y any) bool {
			if f, ok := y.(*notation.Field); ok && name == "" {
				name = expr.Text(f.X)
			}
			return true
		})
	}
	for d := range notation.Functions(e.Block.Unit.Body) {
		if name == "" {
			name = d.Target.Name.Name.Text
		}
	}
	f := e.Block.Funcs[name]
	if step, ok := n.(*stepClaim); ok && name == "" {
		step.step(e)
		return step.now["y"]
	}
	if f == nil {
		e.Errorf(diag.NotSupported, k.Left, "nothing on this page has this kink").Hint("write ℓ.r, a local name of a function")
		return nil
	}
	call, _ := callOf(f.Def.Target)
	return e.Expr(call)
}

// Invariant builds the two sides of an invariant of an operation, for every
// entry that its binders name.
func Invariant(blk *check.Block, p scan.Probe, ds *diag.List) *Equality {
	e, n := newClaim(blk, blk.ID+"."+p.Name, ds)
	e.Span = p.Left.Where()
	vars, conds, ok := p.Bind(e)
	if !ok {
		return nil
	}
	all := append(slices.Clone(n.vars()), vars...)
	left, right, ok := scan.Sides(e, p)
	if !ok {
		return nil
	}
	result(e, Left, left, all)
	result(e, Right, right, all)
	if in := scan.Holds(e, vars, conds); in != nil {
		result(e, Inside, in, all)
	}
	return &Equality{Func: finished(e), Free: n.known()}
}
