package irbuild

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// define builds the value of a definition: its with-names first, then its
// right-hand side under the indices of its left-hand side.
func (e *builder) define(d *notation.Define) *ten {
	if s, ok := d.Value.(*notation.Solve); ok {
		return e.solve(d, s)
	}
	e.push(&scope{})
	defer e.pop()
	if len(d.Target.Index) == 0 {
		if !e.with(d.With) {
			return nil
		}
		return e.any(d.Value)
	}
	vars, groups, ok := e.targetIndex(d.Target.Index)
	if !ok || !e.with(d.With) {
		return nil
	}
	t := e.expr(d.Value)
	if t == nil {
		return nil
	}
	return e.fold(e.lift(t, vars), groups)
}

// with binds local definitions; they are built where they are first read, so
// that a with-name may mention the indices of its reader.
func (e *builder) with(ds []*notation.Define) bool {
	for _, w := range ds {
		if w.Target.IsFunc {
			e.ds.Errorf(diag.NotSupported, w.Span, "a function cannot be defined after with")
			return false
		}
		e.bind(w.Target.Name.Name.Text, &binding{expr: &withExpr{w}})
	}
	return true
}

// withExpr is a local definition that is not built yet.
type withExpr struct{ *notation.Define }

// group is a pair (h∈H, i∈d_h) on the left-hand side: n visible axes from k on
// that are one axis in the result.
type group struct {
	k, n  int
	whole *ir.Axis
}

// targetIndex binds the indices of a left-hand side. A pair makes two.
func (e *builder) targetIndex(bs []*notation.Binder) (vars []*loopVar, groups []group, ok bool) {
	if b := twice(bs, map[string]bool{}); b != nil {
		e.ds.Errorf(diag.DuplicateName, b.Span, "the index %s is bound twice", b.Name.Text).Hint("give one of them another letter")
		return nil, nil, false
	}
	for _, b := range bs {
		if len(b.Tuple) > 0 {
			vs, _, _, ok := e.binders(b.Tuple)
			if !ok {
				return nil, nil, false
			}
			groups = append(groups, group{len(vars), len(vs), e.productAxis(b, vs)})
			vars = append(vars, vs...)
			continue
		}
		vs, unions, _, ok := e.binders([]*notation.Binder{b})
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

// twice finds an index that a left-hand side binds again.
func twice(bs []*notation.Binder, seen map[string]bool) *notation.Binder {
	for _, b := range bs {
		if d := twice(b.Tuple, seen); d != nil {
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

// productAxis is the declared axis whose factors a pair runs over.
func (e *builder) productAxis(b *notation.Binder, vs []*loopVar) *ir.Axis {
	for _, c := range e.blk.AxisSeq {
		if len(c.Factors) != len(vs) {
			continue
		}
		same := true
		for i, f := range c.Factors {
			same = same && e.axis(e.blk.Axes[f]) == vs[i].axis
		}
		if same {
			return e.axis(c)
		}
	}
	size := vs[0].axis.Size
	for _, v := range vs[1:] {
		size = size.Mul(v.axis.Size)
	}
	return e.sizedAxis(size)
}

// fold merges the axes of pairs, last first.
func (e *builder) fold(t *ten, groups []group) *ten {
	for i := len(groups) - 1; i >= 0; i-- {
		t = e.merge(t, groups[i].k, groups[i].n, groups[i].whole)
	}
	return t
}
