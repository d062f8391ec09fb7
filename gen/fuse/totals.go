package fuse

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A nest often sums all of its entries into a scalar that later statements
// need. A region has no results but buffers, so the scalar goes through a cell,
// a buffer of one entry:
//
//	s = 0                      s = 0
//	for i in [0, m)            region
//		for j in [0, n)            x = s
//			s += a[i, j]           for i in [0, m)
//	                               	for j in [0, n)
//	                               		x += a[i, j]
//	                               cell[0] = x
//	                           s = cell[0]

// perRow makes a loop inside another one accumulate into a scalar of its own, which
// the other one adds to the total: so several rows can run at once.
func perRow(ns []plan.Node) {
	plan.Walk(ns, func(n plan.Node) {
		outer, ok := n.(*plan.Loop)
		if !ok || innermost(outer) {
			return
		}
		begun := map[*plan.Local]bool{}
		var body []plan.Node
		for _, n := range outer.Body {
			if let, ok := n.(*plan.Let); ok {
				begun[let.To] = true
			}
			loop, ok := n.(*plan.Loop)
			if !ok || !innermost(loop) {
				body = append(body, n)
				continue
			}
			own := map[*plan.Local]*plan.Local{}
			var before, after []plan.Node
			for _, n := range loop.Body {
				acc, ok := n.(*plan.Accumulate)
				if !ok || acc.Max || begun[acc.To] || own[acc.To] != nil {
					continue
				}
				row := &plan.Local{Name: acc.To.Name + ".row", Elem: acc.To.Elem}
				own[acc.To] = row
				before = append(before, &plan.Let{To: row, Val: plan.Num{}})
				after = append(after, &plan.Accumulate{To: acc.To, Set: true, Val: plan.Lin{Coef: []float64{1, 1}, Args: []plan.Expr{plan.Ref{To: acc.To}, plan.Ref{To: row}}}})
			}
			if len(before) > 0 {
				n = plan.Substitute(own, nil).Node(loop)
			}
			body = append(append(append(body, before...), n), after...)
		}
		outer.Body = body
	})
}

// totals are the scalars from outside that a nest accumulates into.
func totals(n *plan.Loop) []*plan.Local {
	var own, out []*plan.Local
	plan.Walk([]plan.Node{n}, func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Let:
			own = append(own, n.To)
		case *plan.Accumulate:
			if n.To.Elem == ir.Real && !slices.Contains(own, n.To) && !slices.Contains(out, n.To) {
				out = append(out, n.To)
			}
		}
	})
	return out
}

// passTotal makes a region accumulate into a scalar of its own instead of one from outside,
// and returns the statement that reads the total from the cell after it.
func (w *wrapper) passTotal(r *plan.Region, outer *plan.Local) plan.Node {
	own := &plan.Local{Name: outer.Name, Elem: ir.Real}
	cell := &plan.Buffer{Name: outer.Name + ".total", Elem: ir.Real, Dims: []shape.Poly{shape.Int(1)}, Role: plan.Private}
	w.cells = append(w.cells, cell)
	at := plan.Access{Buf: cell, Index: []plan.Index{{}}}
	start := &plan.Let{To: own, Val: plan.Ref{To: outer}}
	end := &plan.Store{To: at, Vals: []plan.Expr{plan.Ref{To: own}}}
	r.Body = append(append([]plan.Node{start}, substitute(r.Body, outer, own)...), end)
	return &plan.Accumulate{To: outer, Set: true, Val: plan.Load{Access: at}}
}
