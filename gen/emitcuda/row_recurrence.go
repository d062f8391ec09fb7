package emitcuda

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A recurrence whose rows are independent: one row a thread, and a warp
// of rows of one batch a block. A thread walks through time alone; loops over
// columns are inside it. What all rows add to an entry goes through a tile
// (tile.go) at the end of the body in which they do. In the last block of a
// batch there may be fewer rows than threads; where there are barriers, the
// threads too many do the last row again and write nothing.

// rowThreads is the number of rows of a block: a warp, whose barriers are cheap.
const rowThreads = 32

// A rowRecurrence is such a recurrence.
type rowRecurrence struct {
	e          *emitter
	batch, row *plan.Loop
	x          *dependence.Nest
	blocks     shape.Poly // of a batch
	tiles      []*tile
	summed     map[*plan.Buffer]bool // entries to which several rows add
}

// rowRecurrenceOf returns the recurrence that a loop over batches is, or nil where it is
// none of this kind.
func (e *emitter) rowRecurrenceOf(batch *plan.Loop) *rowRecurrence {
	body := plan.WithoutNotes(batch.Body)
	if len(batch.Private) > 0 || len(body) != 1 {
		return nil
	}
	row, ok := body[0].(*plan.Loop)
	if !ok || row.Kind != plan.Row || len(row.Lo) > 1 || len(row.Hi) > 1 || !dependence.BoxOf(row).Known || !dependence.BoxOf(row).Lo.IsZero() || !e.constant(dependence.BoxOf(row).Hi) {
		return nil
	}
	r := &rowRecurrence{e: e, batch: batch, row: row, x: dependence.Of(batch), blocks: e.quotient("row_blocks", dependence.BoxOf(row).Hi, rowThreads), summed: map[*plan.Buffer]bool{}}
	if r.x.HasGemm || len(r.x.Totals) > 0 {
		return nil
	}
	private := map[*plan.Buffer]bool{}
	for _, b := range r.private() {
		private[b] = true
	}
	for b := range r.x.Writes {
		if private[b] {
			continue
		}
		own, ownBatch := r.x.Owns(row.Var, b), r.x.Owns(batch.Var, b)
		if !(own && ownBatch) && !r.x.Sums[b] || own && !ownBatch && owned(r.x, b, []*plan.Loop{row}) == nil {
			return nil
		}
		r.summed[b] = !own
	}
	if !r.findTiles(row.Body, nil, nil) {
		return nil
	}
	return r
}

// private lists the buffers that a row has for itself.
func (r *rowRecurrence) private() []*plan.Buffer {
	var out []*plan.Buffer
	plan.Walk([]plan.Node{r.row}, func(n plan.Node) {
		if l, ok := n.(*plan.Loop); ok {
			out = append(out, l.Private...)
		}
	})
	return out
}

// shared lists the buffers of which a block has a copy of its own, and how many
// copies there are.
func (r *rowRecurrence) shared() (bs []*plan.Buffer, count func(*plan.Buffer) shape.Poly) {
	batches := dependence.BoxOf(r.batch).Extent()
	count = func(b *plan.Buffer) shape.Poly {
		n := shape.Int(1)
		if r.summed[b] {
			n = r.blocks
		}
		if !r.ofBatch(b) {
			n = n.Mul(batches)
		}
		return n
	}
	for _, b := range r.e.inOrder(r.x.Writes) {
		if n, ok := count(b).Const(); !ok || n > 1 {
			bs = append(bs, b)
		}
	}
	return bs, count
}

// ofBatch reports whether a copy of a buffer has a contiguous part for each batch.
func (r *rowRecurrence) ofBatch(b *plan.Buffer) bool {
	return r.x.Owns(r.batch.Var, b) && (!r.summed[b] || prefix(owned(r.x, b, []*plan.Loop{r.batch})))
}

func (r *rowRecurrence) print(p *part) {
	e := r.e
	shared, count := r.shared()
	copies := e.copiesOf(shared, count)
	f := e.newFunction(rowThreads)
	f.rowVariables(r)
	for _, b := range shared {
		switch l := f.vars[r.batch.Var]; {
		case !r.summed[b]:
			f.ownCopy(b, copies[b], l)
			f.clearOwn(r.x, b, []*plan.Loop{r.row})
		case r.ofBatch(b):
			f.ownCopy(b, copies[b], fmt.Sprintf("(blockIdx.x %% %s)", f.Poly(r.blocks)))
			f.clearBlock(fmt.Sprintf("(%s + (i64)%s * %s)", f.own[b], l, f.rest(r.x, b)), f.rest(r.x, b))
		default:
			f.ownCopy(b, copies[b], "blockIdx.x")
			f.clearBlock(f.own[b], f.count(b.Len()))
		}
	}
	if len(r.tiles) > 0 && len(shared) > 0 {
		f.Line("__syncthreads();")
	}
	for _, b := range e.inOrder(p.fresh) {
		if !slices.Contains(shared, b) {
			f.clearOwn(r.x, b, []*plan.Loop{r.batch, r.row})
		}
	}
	blocks := dependence.BoxOf(r.batch).Extent().Mul(r.blocks)
	for _, t := range r.tiles {
		f.makeTile(t, &blocks)
	}
	f.scalarsOf(p.nodes)
	f.allocateAll(r.private(), true, &blocks)
	f.inTime(r.row.Body)
	f.finish(p.eqs, r.words(f), Factor{blocks, 1})
	e.addCopies(p, shared, copies, count)
}

// rowVariables prints which batch and row the thread has.
func (f *function) rowVariables(r *rowRecurrence) {
	l, i := f.name(r.batch.Var.Name), f.name(r.row.Var.Name)
	f.vars[r.batch.Var], f.vars[r.row.Var] = l, i
	f.fixed[r.batch], f.fixed[r.row] = true, true
	blocks, size := f.Poly(r.blocks), f.Atom(dependence.BoxOf(r.row).Hi)
	f.Line("const int row = threadIdx.x, %s = blockIdx.x / %s, m0 = blockIdx.x %% %s * %d;", l, blocks, blocks, rowThreads)
	if len(r.tiles) == 0 {
		f.Line("const int %s = m0 + row;", i)
		f.Line("if (%s >= %s) return;", i, size)
		return
	}
	f.Line("const int rows = %s %% %d == 0 || %s - m0 >= %d ? %d : %s - m0;", size, rowThreads, size, rowThreads, rowThreads, size)
	f.Line("const bool live = %s %% %d == 0 || row < rows;", size, rowThreads)
	f.Line("const int %s = m0 + (live ? row : rows - 1);", i)
	f.live = "live"
}

// words describes the mapping.
func (r *rowRecurrence) words(f *function) []string {
	l, i := f.vars[r.batch.Var], f.vars[r.row.Var]
	out := []string{fmt.Sprintf("A recurrence: one thread for each row %s, one block for %d rows of a slot %s of the batch; time runs inside.", i, rowThreads, l)}
	if len(r.tiles) > 0 {
		out = append(out, "What the rows add to one entry is laid side by side in shared memory and added in row order.")
	}
	return out
}

// inTime prints a body whose statements all threads reach together.
func (f *function) inTime(ns []plan.Node) {
	var full []*tile
	for _, n := range clike.Statements(ns) {
		switch n := n.(type) {
		case *plan.Note:
			f.node(n)
			continue
		case *plan.Loop:
			if n.Kind == plan.Segment || n.Kind == plan.Time {
				f.loop(n, f.inTime)
				continue
			}
		case *plan.If:
			if len(f.tilesIn(n)) > 0 {
				f.block("if ("+f.cond(n)+")", func() { f.inTime(n.Body) })
				continue
			}
		}
		f.node(n)
		full = append(full, f.tilesIn(n)...)
	}
	if len(full) > 0 {
		f.empty(full)
	}
}
