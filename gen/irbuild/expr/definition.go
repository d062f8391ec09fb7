package expr

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Definitions: `name[i∈n, (h∈H, j∈d)] = value with a = …`.

// Define builds the value of a definition: its with-names first, then its
// right-hand side under the indices of its left-hand side.
func (e *Builder) Define(d *notation.Define) *tensor.Tensor {
	if s, ok := d.Value.(*notation.Solve); ok {
		return e.solve(d, s)
	}
	e.Push(&Scope{})
	defer e.Pop()
	if len(d.Target.Index) == 0 {
		if !e.With(d.With) {
			return nil
		}
		return e.OpenExpr(d.Value)
	}
	vars, groups, ok := e.TargetIndex(d.Target.Index)
	if !ok || !e.With(d.With) {
		return nil
	}
	t := e.Expr(d.Value)
	if t == nil {
		return nil
	}
	return e.mergeGroups(e.Tabulate(t, vars), groups)
}

// With binds local definitions; they are built where they are first read, so
// that a with-name may mention the indices of its reader.
func (e *Builder) With(ds []*notation.Define) bool {
	for _, w := range ds {
		if w.Target.IsFunc {
			e.Diags.Errorf(diag.NotSupported, w.Span, "a function cannot be defined after with")
			return false
		}
		e.Bind(w.Target.Name.Name.Text, &Binding{expr: &withExpr{w}})
	}
	return true
}

// group is a pair (h∈H, i∈d_h) on the left-hand side: n visible axes from k on
// that are one axis in the result.
type group struct {
	k, n  int
	whole *ir.Axis
}

// TargetIndex binds the indices of a left-hand side. A pair makes two.
func (e *Builder) TargetIndex(bs []*notation.Binder) (vars []*tensor.LoopVar, groups []group, ok bool) {
	if b := repeatedIndex(bs, map[string]bool{}); b != nil {
		e.Diags.Errorf(diag.DuplicateName, b.Span, "the index %s is bound twice", b.Name.Text).Hint("give one of them another letter")
		return nil, nil, false
	}
	for _, b := range bs {
		if len(b.Tuple) > 0 {
			vs, _, _, ok := e.Binders(b.Tuple)
			if !ok {
				return nil, nil, false
			}
			groups = append(groups, group{len(vars), len(vs), e.productAxis(vs)})
			vars = append(vars, vs...)
			continue
		}
		vs, unions, _, ok := e.Binders([]*notation.Binder{b})
		if !ok {
			return nil, nil, false
		}
		for _, u := range unions {
			vs = append(vs, u.whole)
		}
		vars = append(vars, vs...)
	}
	return vars, groups, true
}

// repeatedIndex finds an index that a left-hand side binds again.
func repeatedIndex(bs []*notation.Binder, seen map[string]bool) *notation.Binder {
	for _, b := range bs {
		if d := repeatedIndex(b.Tuple, seen); d != nil {
			return d
		}
		if n := b.Name.Text; n != "" {
			if seen[n] {
				return b
			}
			seen[n] = true
		}
	}
	return nil
}

// mergeGroups merges the axes of pairs, last first.
func (e *Builder) mergeGroups(t *tensor.Tensor, groups []group) *tensor.Tensor {
	for _, g := range slices.Backward(groups) {
		t = e.Reshape(t, g.k, g.n, g.whole)
	}
	return t
}
