package emitcuda

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Private buffers are in shared memory as long as there is room, in the order
// of the plan, and else in global memory, a part for each block: the sizes of the model
// decide it, in the text. Where each row has its own, the entries of a column are
// adjacent, so that the threads of a warp, which are rows, touch neighbours.

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
// of a workspace buffer for each block, nil being one. A length that is not the
// model's alone never fits.
func (f *function) memory(name string, elem ir.Elem, n shape.Poly, note string, blocks *shape.Poly) string {
	all := n
	if blocks != nil {
		all = n.Mul(*blocks)
	}
	own := ""
	if f.e.constant(n) {
		own = f.name(name)
	} else if blocks == nil {
		return f.scratch(name, elem, n)
	}
	scratch := f.scratch(name+".scratch", elem, all)
	part := scratch
	if blocks != nil {
		part += fmt.Sprintf(" + blockIdx.x * (i64)(%s)", f.Poly(n))
	}
	if own == "" {
		own = f.name(name)
		f.Line("%s *const %s = %s;  // %s", language.Types[elem], own, part, note)
		return own
	}
	f.shared = append(f.shared, sharedArray{own, elem, n, scratch, part, note})
	f.launch.Arrays = append(f.launch.Arrays, Array{own, n.Mul(shape.Int(bytesOf[elem])), scratch})
	return own
}

// bytesOf are the bytes of an entry on a device.
var bytesOf = map[ir.Elem]int64{ir.Real: 4, ir.Int: 4, ir.Bool: 1}
