package block

import (
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// The number of tokens between two checkpoints of a state (activation
// checkpointing): a backward recomputes at most one segment at a time. With
// independent rows it keeps the states of a few rows while it does so, otherwise
// of all of them; SegmentWhole is shorter, so that they fit the second-level cache.
const (
	Segment      = 64
	SegmentWhole = 16
)

// Adjoint returns the adjoint of a value, n entries, or zeros.
func Adjoint[F num.Float](t *tape.Tape[F], v tape.Value[F], n int) []F {
	if a := t.Adjoint(v); a != nil {
		return a
	}
	return Zeros(t, n)
}

// Zeros is scratch of n zeros.
func Zeros[F num.Float](t *tape.Tape[F], n int) []F {
	s := t.Scratch(n)
	device.Clear(s)
	return s
}

// Accumulate adds part to the adjoint of v; a constant has none.
func Accumulate[F num.Float](t *tape.Tape[F], v tape.Value[F], part []F) {
	g := t.Grad(v)
	if g == nil {
		return
	}
	device.Add(g, part)
}

// Blocks is the same memory as groups of entries, B = [n]E: the entries of rows
// that a kernel processes together are adjacent.
func Blocks[B, E any](s []E) []B {
	var b B
	var e E
	n := int(unsafe.Sizeof(b) / unsafe.Sizeof(e))
	if len(s) < n {
		return nil
	}
	return unsafe.Slice((*B)(unsafe.Pointer(&s[0])), len(s)/n)
}
