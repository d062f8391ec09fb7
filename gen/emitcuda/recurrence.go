package emitcuda

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/dependence"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A recurrence: a loop over batches around a loop over time.
//
// Blocks share entries where a sum over batches, or over rows of several blocks,
// goes into one entry. Then each such block sums into a copy of the buffer of
// its own, and a later launch adds the copies, in order.

// scan prints a recurrence.
func (e *emitter) scan(p *part) {
	batch := p.nodes[0].(*plan.Loop)
	if !simpleBatch(batch) {
		e.block(p)
		return
	}
	if r := e.rowRecurrenceOf(batch); r != nil {
		r.print(p)
		return
	}
	e.batches(p, batch)
}

// simpleBatch reports that a loop over batches runs over all of them.
func simpleBatch(batch *plan.Loop) bool {
	box := dependence.BoxOf(batch)
	return box.Known && len(batch.Lo) == 1 && len(batch.Hi) == 1 && box.Lo.IsZero()
}

// sharedOf lists the buffers of which each batch of a recurrence has a copy of its own. It is not
// ok where batches depend on each other.
func (e *emitter) sharedOf(batch *plan.Loop, x *dependence.Nest) (shared []*plan.Buffer, ok bool) {
	for _, b := range e.inOrder(x.Writes) {
		if !x.Owns(batch.Var, b) {
			if !x.Sums[b] {
				return nil, false
			}
			shared = append(shared, b)
		}
	}
	return shared, len(x.Totals) == 0
}

// batches prints a recurrence whose rows depend on each other: one block for each batch.
func (e *emitter) batches(p *part, batch *plan.Loop) {
	x := dependence.Of(batch)
	shared, ok := e.sharedOf(batch, x)
	if !ok {
		e.block(p)
		return
	}
	blocks := dependence.BoxOf(batch).Extent()
	copies := e.copiesOf(shared, func(*plan.Buffer) shape.Poly { return blocks })
	f := e.newFunction(blockThreads)
	v := f.name(batch.Var.Name)
	f.vars[batch.Var], f.fixed[batch] = v, true
	f.Line("const int %s = blockIdx.x;", v)
	for _, b := range shared {
		f.ownCopy(b, copies[b], v)
		f.clearBlock(f.own[b], f.count(b.Len()))
		f.wrote[b] = true
	}
	for _, b := range e.inOrder(p.fresh) {
		if !slices.Contains(shared, b) {
			f.clearBlock(fmt.Sprintf("(%s + (i64)%s * %s)", f.target(b), v, f.rest(x, b)), f.rest(x, b))
			f.wrote[b] = true
		}
	}
	f.scalarsOf(p.nodes)
	f.allocateAll(batch.Private, false, &blocks)
	f.blockNodes(batch.Body)
	f.finish(p.eqs, []string{fmt.Sprintf("A recurrence: one block for each slot %s of the batch, in phases between barriers; the threads share the loops over rows and columns of each phase.", v)}, Factor{blocks, 1})
	e.addCopies(p, shared, copies, func(*plan.Buffer) shape.Poly { return blocks })
}

// inOrder lists the kernel's own buffers of a set in the order of the text.
func (e *emitter) inOrder(set map[*plan.Buffer]bool) []*plan.Buffer {
	var out []*plan.Buffer
	for _, b := range e.text.Buffers {
		if b.Of != nil && set[b.Of] {
			out = append(out, b.Of)
		}
	}
	return out
}

// copiesOf makes room for copies of buffers.
func (e *emitter) copiesOf(bs []*plan.Buffer, count func(*plan.Buffer) shape.Poly) map[*plan.Buffer]string {
	out := map[*plan.Buffer]string{}
	for _, b := range bs {
		out[b] = e.addWork(b.Name+".copies", ir.Real, b.Len().Mul(count(b)))
	}
	return out
}

// ownCopy makes a buffer's name in the block that of the block's copy.
func (f *function) ownCopy(b *plan.Buffer, copies, number string) {
	f.uses[copies], f.writes[copies] = true, true
	n := f.name(b.Name + ".own")
	f.own[b] = n
	f.Line("float *const %s = %s + (i64)%s * %s;", n, copies, number, paren(f.count(b.Len())))
}

func paren(s string) string {
	if strings.ContainsAny(s, " ") && !strings.HasPrefix(s, "(") || strings.HasPrefix(s, "(i64)") {
		return "(" + s + ")"
	}
	return s
}

// addCopies adds the copies to the buffers, in order.
func (e *emitter) addCopies(p *part, bs []*plan.Buffer, copies map[*plan.Buffer]string, count func(*plan.Buffer) shape.Poly) {
	for _, b := range bs {
		f := e.newFunction(gridThreads)
		f.uses[copies[b]] = true
		f.item(b.Len(), f.count(b.Len()))
		name := f.target(b)
		if b.Optional {
			f.Line("if (%s == nullptr) return;", name)
		}
		if p.fresh[b] {
			f.Line("float dot = 0.0f;")
		} else {
			f.Line("float dot = %s[item];", name)
		}
		f.Line("for (i64 copy = 0; copy < %s; ++copy) dot += %s[copy * %s + item];", f.count(count(b)), copies[b], paren(f.count(b.Len())))
		f.Line("%s[item] = dot;", name)
		f.finish(p.eqs, []string{"One thread for each entry of " + name + ": the copies of the blocks are added in order."}, Factor{b.Len(), gridThreads})
	}
}
