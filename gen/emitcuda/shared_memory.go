package emitcuda

import (
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Private buffers are in shared memory as long as there is room, in the order
// of the plan, and else in global memory, a part for each block. Where each
// row has its own, the entries of a column are adjacent, so that the threads
// of a warp, which are rows, touch neighbours.

// sharedLimit is what all devices from compute capability 8.0 on have for a
// block that requests it, rounded down; in bytes.
const sharedLimit = 96 << 10

// maxWarps is how many numbers a sum over the threads of a block is laid out in.
const maxWarps = 32

// An allocation is where a private buffer is stored.
type allocation struct {
	name string
	each bool // one for each row of the block
}

// allocate allocates the private buffers of a loop. The first time in a
// function nothing may have been printed that a declaration cannot follow.
func (f *function) allocate(n *plan.Loop) { f.allocateAll(n.Private, false, nil) }

// allocateAll allocates private buffers. rows says that each thread has its
// own; blocks are the number of blocks, nil for one.
func (f *function) allocateAll(bs []*plan.Buffer, rows bool, blocks *shape.Poly) {
	for _, b := range bs {
		if b.Role == plan.View || f.private[b] != nil {
			continue
		}
		n := b.Len()
		if rows {
			n = n.Mul(shape.Int(int64(f.threads)))
		}
		p := &allocation{each: rows}
		f.private[b] = p
		p.name = f.memory(b.Name, b.Elem, n, dimsText(b), blocks)
	}
}

// memory makes an array of the block: in shared memory if it fits, else a part
// of a workspace buffer for each block, nil being one.
func (f *function) memory(name string, elem ir.Elem, n shape.Poly, note string, blocks *shape.Poly) string {
	if f.fits(elem, n) {
		return f.array(name, elem, n, note)
	}
	if blocks == nil {
		return f.scratch(name, elem, n)
	}
	all := f.scratch(name+".scratch", elem, n.Mul(*blocks))
	own := f.name(name)
	f.Line("%s *const %s = %s + blockIdx.x * (i64)(%s);  // %s", language.Types[elem], own, all, f.Poly(n), note)
	return own
}

// fits reports whether an array still fits into shared memory. Booleans
// are not in dynamic memory, so with them the limit is the static one.
func (f *function) fits(e ir.Elem, n shape.Poly) bool {
	if !f.e.constant(n) {
		return false
	}
	total, truth := f.e.bytes(sharedArray{elem: e, n: n}), e == ir.Bool
	if f.warps == "" { // a sum over the threads may still need its own
		total += f.e.bytes(sharedArray{elem: ir.Real, n: shape.Int(maxWarps)})
	}
	for _, a := range f.shared {
		total += f.e.bytes(a)
		truth = truth || a.elem == ir.Bool
	}
	if truth {
		return total <= staticLimit
	}
	return total <= sharedLimit
}
