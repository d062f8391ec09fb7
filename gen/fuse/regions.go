package fuse

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// regions wraps what vector units can compute. Of a nest without recurrence
// that is the largest part in which every innermost loop walks its buffers
// entry by entry. Of a recurrence with independent rows it is each loop over
// time: rows are adjacent in vectors where nothing is summed over them, and else a few
// rows run together with columns adjacent in vectors. What is left stays with the
// target as it is.
//
// It reports false for a recurrence whose sums over rows it cannot order.
func regions(ns []plan.Node) (out []plan.Node, cells []*plan.Buffer, ok bool) {
	w := &wrapper{}
	out = w.nodes(ns)
	return out, w.cells, !w.refused
}

type wrapper struct {
	count   int
	cells   []*plan.Buffer
	refused bool
}

func (w *wrapper) nodes(ns []plan.Node) []plan.Node {
	var out []plan.Node
	for _, n := range ns {
		out = append(out, w.node(n)...)
	}
	return out
}

func (w *wrapper) node(n plan.Node) []plan.Node {
	switch n := n.(type) {
	case *plan.If:
		n.Body = w.nodes(n.Body)
	case *plan.Loop:
		if row := onlyRow(n); row != nil {
			w.rows(n, row)
			return []plan.Node{n}
		}
		w.refused = w.refused || n.Kind == plan.Row
		if !copies(n) && (n.Kind == plan.Plain || n.Kind == plan.Reduction) {
			if ns := w.nest(n); ns != nil {
				return ns
			}
		}
		n.Body = w.nodes(n.Body)
	}
	return []plan.Node{n}
}

// nest is the region of a nest without recurrence, with what comes before and
// after it, or nil where vectors cannot compute it.
func (w *wrapper) nest(n *plan.Loop) []plan.Node {
	asked, gathered := boolArguments(n), totals(n)
	r := &plan.Region{Across: plan.Columns, Body: []plan.Node{n}}
	if !vectorizable(r, append(slices.Clone(asked), gathered...)...) {
		return nil
	}
	w.name(r, "Nest")
	var before, after []plan.Node
	for _, l := range asked {
		before = append(before, passBool(r, l))
	}
	for _, l := range gathered {
		after = append(after, w.passTotal(r, l))
	}
	perRow(r.Body)
	partial(r, PartialSums)
	return append(append(before, r), after...)
}

func (w *wrapper) name(r *plan.Region, word string) {
	w.count++
	r.Name = fmt.Sprintf("%s%d", word, w.count)
}

// onlyRow is the row loop that is all there is in a recurrence over batches.
func onlyRow(batch *plan.Loop) *plan.Loop {
	if batch.Kind != plan.Batch || len(batch.Body) != 1 {
		return nil
	}
	row, _ := batch.Body[0].(*plan.Loop)
	if row == nil || row.Kind != plan.Row {
		return nil
	}
	return row
}

// rows wraps the loops over time of a row loop where it can. Sums over rows
// must be sums of one batch, so that batches run in parallel.
func (w *wrapper) rows(batch, row *plan.Loop) {
	shared := shared(row)
	numbers := !slices.ContainsFunc(row.Private, func(b *plan.Buffer) bool { return b.Elem != ir.Real })
	if !numbers || !ownEntries(row, batch.Var) || !onlyAdds(row, shared) || !perBatch(row, shared, batch.Var) {
		w.refused = true
		return
	}
	across, sums := plan.Rows, RowPartialSums
	if len(shared) > 0 {
		across, sums = plan.Columns, PartialSums
	}
	row.Across, row.Shared = across, shared
	var out []*plan.Region
	ok := moves(row)
	plan.Walk(row.Body, func(n plan.Node) {
		if loop, is := n.(*plan.Loop); is && loop.Kind == plan.Time {
			r := &plan.Region{Row: row.Var, Across: across, Private: row.Private, Body: []plan.Node{loop}}
			out = append(out, r)
			ok = ok && vectorizable(r)
		}
	})
	if !ok {
		return
	}
	for _, r := range out {
		w.name(r, "Time")
		partial(r, sums)
	}
	row.Body = wrapTime(row.Body, out)
}

func wrapTime(ns []plan.Node, rs []*plan.Region) []plan.Node {
	out := make([]plan.Node, len(ns))
	for i, n := range ns {
		out[i] = n
		switch n := n.(type) {
		case *plan.Loop:
			at := slices.IndexFunc(rs, func(r *plan.Region) bool { return r.Body[0] == plan.Node(n) })
			if at >= 0 {
				out[i] = rs[at]
				continue
			}
			n.Body = wrapTime(n.Body, rs)
		case *plan.If:
			n.Body = wrapTime(n.Body, rs)
		}
	}
	return out
}

// shared lists the buffers that several rows write: sums over rows.
func shared(row *plan.Loop) []*plan.Buffer {
	var out []*plan.Buffer
	plan.Walk(row.Body, func(n plan.Node) {
		s, ok := n.(*plan.Store)
		if !ok || slices.Contains(row.Private, s.To.Buf.Base()) || s.To.Mentions(row.Var) {
			return
		}
		if b := s.To.Buf.Base(); !slices.Contains(out, b) {
			out = append(out, b)
		}
	})
	return out
}

// ownEntries reports whether every store outside of a row's own buffers is to
// entries of its batch: batches run at the same time.
func ownEntries(row *plan.Loop, batch *plan.Var) bool {
	for n := range plan.All(row.Body) {
		if s, is := n.(*plan.Store); is && !slices.Contains(row.Private, s.To.Buf.Base()) && !s.To.Mentions(batch) {
			return false
		}
	}
	return true
}

// onlyAdds reports whether shared buffers are added to and not read otherwise.
func onlyAdds(row *plan.Loop, shared []*plan.Buffer) bool {
	for n := range plan.All(row.Body) {
		loads := 0
		plan.EachLoad(n, func(a plan.Access) {
			if slices.Contains(shared, a.Buf.Base()) {
				loads++
			}
		})
		s, store := n.(*plan.Store)
		to := store && slices.Contains(shared, s.To.Buf.Base())
		if (to || loads > 0) && !(to && loads == 1 && plan.AddsTo(s.Vals[0], s.To)) {
			return false
		}
	}
	return true
}

// perBatch reports whether shared buffers are indexed by the batch first, and by
// nothing else that could reach another batch.
func perBatch(row *plan.Loop, shared []*plan.Buffer, batch *plan.Var) bool {
	for a := range plan.Accesses(row.Body) {
		if slices.Contains(shared, a.Buf.Base()) && (a.Buf.ViewOf != nil || len(a.Index) == 0 || a.Index[0].Var() != batch) {
			return false
		}
	}
	return true
}

// moves reports whether all that a row does outside time is to copy rows
// between its own buffers and others.
func moves(row *plan.Loop) bool {
	ok := true
	var look func(ns []plan.Node)
	look = func(ns []plan.Node) {
		for _, n := range ns {
			switch n := n.(type) {
			case *plan.Note:
			case *plan.If:
				ok = ok && len(n.Cond) == 0
				look(n.Body)
			case *plan.Loop:
				if n.Kind == plan.Segment {
					look(n.Body)
				} else if n.Kind != plan.Time {
					ok = ok && plan.RowCopyOf(n, row.Private) != nil
				}
			default:
				ok = false
			}
		}
	}
	look(row.Body)
	return ok
}

// copies reports whether every innermost loop of a nest only copies entries
// that are adjacent, which a target does best as it is.
func copies(n *plan.Loop) bool {
	for n := range plan.All([]plan.Node{n}) {
		if loop, is := n.(*plan.Loop); is && innermost(loop) && plan.CopyStore(loop) == nil {
			return false
		}
	}
	return true
}

func innermost(loop *plan.Loop) bool {
	for n := range plan.All(loop.Body) {
		if _, ok := n.(*plan.Loop); ok {
			return false
		}
	}
	return true
}

// partial sets partial sums of the innermost loops that accumulate.
func partial(r *plan.Region, sums int) {
	accumulates := func(n plan.Node) bool { _, ok := n.(*plan.Accumulate); return ok }
	for n := range plan.All(r.Body) {
		if loop, ok := n.(*plan.Loop); ok && innermost(loop) && loop.Kind != plan.Time && slices.ContainsFunc(loop.Body, accumulates) {
			loop.Sums = sums
		}
	}
}
