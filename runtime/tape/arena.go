package tape

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
)

// An Arena is the memory of one chunk's work. With and Without empty it at
// their start and hand it out again, so that from the second chunk of a shape
// on nothing is allocated. It keeps the most that a chunk has needed.
//
// Three things live in it, for three lengths of time:
//
//   - values: results, what a forward saves for its backward, snapshots and
//     adjoints. They stay readable until the next scope opens, and must be
//     copied to live longer; memory states are, by block.Memory.Keep.
//   - scratch: the workspace of the running kernel, a stack, released by
//     Release when the kernel ends.
//   - slots: the nodes of the tape, with the calls of kernels that they keep.
//
// A Value knows the scope in which it was computed. Used in a later one, or in
// another arena's, it panics with ForeignValue; nothing is allocated between
// scopes (Closed). Slices know nothing, but Debug makes their staleness show.
//
// The zero Arena is ready. It must not be copied, and serves one goroutine at a
// time: streams that run at once have an arena each, and share parameters
// only. A second scope on an arena that is in use panics with Nested, from
// whatever goroutine. A kernel may split its work over goroutines as long as
// only the one that opened the scope asks the arena for memory.
type Arena[F num.Float] struct {
	_ noCopy

	// Debug fills what is free with numbers that show: NaN, true, and indices
	// far below zero. So an element that no kernel wrote is seen, and one that
	// is read after it was given back. It makes Reverse panic with Overwritten
	// if a recorded value changed after it was recorded. It is read when a
	// scope opens. Slow; for tests.
	Debug bool

	// Trace makes a tape remember which node computed what, so that Tape.Fault
	// can say which number went bad first. It is read when a scope opens. Slow;
	// for a run that has failed, done again.
	Trace bool

	// Profile measures the nodes of tapes; nil measures nothing. It is read when a
	// scope opens.
	Profile *Profile

	// BFloat16 rounds the operands of matrix products and of attention to bfloat16, to nearest, ties
	// to even; a device stores them so. All else is in F: parameters, sums, states, gates and adjoints.
	BFloat16 bool

	// Limit bounds the bytes held; 0 means no bound. A scope that needs more
	// ends with a *LimitError.
	Limit int

	// Memory is where numbers are: values, adjoints and scratch. nil is the memory of the
	// host. It is read when a scope opens.
	Memory device.Memory

	values  pool[F]
	scalars pool[F]
	ints    pool[int32]
	bools   pool[bool]
	handles pool[Value[F]]
	scratch pool[F]
	flags   pool[bool]
	slabs   []resetter // by kind
	budget  budget
	tape    Tape[F]
	run     Run[F]
	gen     uint32 // of the scope; 0 marks the caller's own memory
	busy    atomic.Bool
}

// noCopy makes go vet report a copied Arena.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// A LimitError says that a scope needed more memory than Arena.Limit.
type LimitError struct{ Need, Limit int } // bytes

func (e *LimitError) Error() string {
	return fmt.Sprintf("tape: a chunk needs %d bytes or more, the limit is %d", e.Need, e.Limit)
}

// Alloc returns n elements of a value, at a cache line. Their contents are
// unspecified: the kernel that fills them writes every one. Alloc panics with
// BadLength if n is negative, as its like below do.
func (a *Arena[F]) Alloc(n int) []F { return a.values.take(n) }

// Zeros returns n elements of a value that are zero: for sums.
func (a *Arena[F]) Zeros(n int) []F {
	b := a.values.take(n)
	device.Clear(b)
	return b
}

// Scalar returns one element of the host's memory, x, that lives as long as values: a number that
// the host knows, for a kernel.
func (a *Arena[F]) Scalar(x F) []F {
	b := a.scalars.take(1)
	b[0] = x
	return b
}

// Ints returns n integers, contents unspecified, that live as long as values.
func (a *Arena[F]) Ints(n int) []int32 { return a.ints.take(n) }

// Bools returns n truth values, contents unspecified, that live as long as
// values.
func (a *Arena[F]) Bools(n int) []bool { return a.bools.take(n) }

// Values returns room for n values, contents unspecified.
func (a *Arena[F]) Values(n int) []Value[F] { return a.handles.take(n) }

// Scratch returns n elements of workspace at a cache line, contents
// unspecified. They live until the Release of a Mark before them.
func (a *Arena[F]) Scratch(n int) []F { return a.scratch.take(n) }

// Operands is Scratch for n operands in bfloat16, nil without BFloat16. A device has its own memory
// for them, and is only told so by one element.
func (a *Arena[F]) Operands(n int) []F {
	switch {
	case !a.BFloat16:
		return nil
	case a.Memory != nil:
		n = min(n, 1)
	}
	return a.scratch.take(n)
}

// Flags is Scratch of truth values.
func (a *Arena[F]) Flags(n int) []bool { return a.flags.take(n) }

// A Mark is a place in the scratch to return to.
type Mark struct{ scratch, flags spot }

// Mark remembers how much scratch is in use.
func (a *Arena[F]) Mark() Mark { return Mark{a.scratch.spot, a.flags.spot} }

// Release frees all scratch taken since the mark, the workspace of a
// kernel. Nothing recorded may be there, neither a value nor what a node
// saved.
func (a *Arena[F]) Release(m Mark) {
	if a.scratch.spot != m.scratch {
		a.scratch.release(m.scratch)
	}
	if a.flags.spot != m.flags {
		a.flags.release(m.flags)
	}
}

// workspace is how much scratch is in use; it grows with everything taken.
func (a *Arena[F]) workspace() int {
	return a.scratch.used + a.scratch.full + a.flags.used + a.flags.full
}

// Value returns data, computed into the arena, as a value of this scope that no
// gradient reaches.
func (a *Arena[F]) Value(data []F) Value[F] { return Value[F]{Data: data, gen: a.gen} }

// Data returns the elements of a value that is used as an input. It panics with
// ForeignValue if they were computed in an earlier scope or in another arena.
func (a *Arena[F]) Data(v Value[F]) []F {
	if v.gen != 0 && v.gen != a.gen {
		panic(ForeignValue)
	}
	return v.Data
}

// Computed reports whether a value was computed in the arena's present scope,
// or in its last one while none is open.
func (a *Arena[F]) Computed(v Value[F]) bool { return v.gen != 0 && v.gen == a.gen }

// Bytes returns the memory held for elements, in bytes.
func (a *Arena[F]) Bytes() int { return a.budget.used }

// start empties the arena for a new scope. Its generation comes from the
// arena's address and a count, so that those of two arenas differ without any
// state outside them.
func (a *Arena[F]) start() {
	if a.gen == 0 {
		a.gen = uint32(uint64(uintptr(unsafe.Pointer(a))>>4) * 0x9E3779B97F4A7C15 >> 32)
	}
	a.gen = max(a.gen+1, 1)
	a.budget.limit, a.budget.open = a.Limit, true
	nan := F(math.NaN())
	a.values.memory, a.tape.adjoint.memory, a.scratch.memory = a.Memory, a.Memory, a.Memory
	a.values.reset(&a.budget, a.Debug, nan)
	a.scalars.reset(&a.budget, a.Debug, nan)
	a.tape.adjoint.reset(&a.budget, a.Debug, nan)
	a.scratch.reset(&a.budget, a.Debug, nan)
	a.ints.reset(&a.budget, a.Debug, math.MinInt32)
	a.bools.reset(&a.budget, a.Debug, true)
	a.flags.reset(&a.budget, a.Debug, true)
	a.handles.reset(&a.budget, a.Debug, Value[F]{})
	for _, s := range a.slabs {
		if s != nil {
			s.reset()
		}
	}
}

// stop ends the scope: its values can still be read.
func (a *Arena[F]) stop() {
	a.budget.open, a.tape.recording, a.run.Tape = false, false, nil
	a.values.shut()
	a.scalars.shut()
	a.tape.adjoint.shut()
	a.scratch.shut()
	a.ints.shut()
	a.bools.shut()
	a.flags.shut()
	a.handles.shut()
	a.busy.Store(false)
}
