package tape

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
)

// An Arena is the memory of one chunk's work: outputs, integers, and when a
// tape records, snapshots, adjoints and scratch. With and Without empty it at
// their start and hand it out again, so that from the second chunk of a shape
// on nothing is allocated. What was in it stays readable until the next scope
// opens, and must be copied to live longer.
//
// The zero Arena is ready. It serves one goroutine and must not be copied.
type Arena[F num.Float] struct {
	_ noCopy

	// Debug makes Alloc fill with NaN, so that an element no kernel wrote is
	// seen, and makes Reverse panic with Overwritten if a recorded value
	// changed after it was recorded. Slow; for tests.
	Debug bool

	// Limit bounds the bytes held; 0 means no bound. A scope that needs more
	// ends with a *LimitError.
	Limit int

	values  pool[F]
	adjoint pool[F]
	scratch pool[F]
	ints    pool[int32]
	budget  budget
	tape    Tape[F]
	run     Run[F]
	open    bool
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

// Alloc returns n elements for an output, aligned like a cache line. Their
// contents are unspecified: the kernel that fills them writes every one.
// Alloc panics with BadLength if n is negative.
func (a *Arena[F]) Alloc(n int) []F {
	b := a.values.take(n)
	if a.Debug {
		for i := range b {
			b[i] = F(math.NaN())
		}
	}
	return b
}

// Zeros returns n elements that are zero.
func (a *Arena[F]) Zeros(n int) []F {
	b := a.values.take(n)
	clear(b)
	return b
}

// Ints returns n integers, contents unspecified, for indices that a node keeps.
func (a *Arena[F]) Ints(n int) []int32 { return a.ints.take(n) }

// A Mark is a place in the arena to return to.
type Mark[F num.Float] struct{ at spot[F] }

// Mark remembers how much of the outputs' memory is used.
func (a *Arena[F]) Mark() Mark[F] { return Mark[F]{a.values.spot} }

// Release gives back everything allocated since the mark: a kernel's workspace.
// Nothing recorded may lie there, neither a value nor what a node saved;
// Arena.Debug finds it when something does.
func (a *Arena[F]) Release(m Mark[F]) {
	a.values.notePeak()
	a.values.spot = m.at
}

// Bytes returns the memory held, in bytes.
func (a *Arena[F]) Bytes() int { return a.budget.used }

func (a *Arena[F]) reset() {
	a.budget.limit = a.Limit
	a.values.reset(&a.budget)
	a.adjoint.reset(&a.budget)
	a.scratch.reset(&a.budget)
	a.ints.reset(&a.budget)
}

// A budget counts the bytes of all pools of an arena.
type budget struct{ used, limit int }

// take adds n bytes, or panics with a *LimitError.
func (b *budget) take(n int) {
	if b.limit > 0 && n > 0 && b.used+n > b.limit {
		panic(&LimitError{Need: b.used + n, Limit: b.limit})
	}
	b.used += n
}

// lineElements rounds every allocation up to 64 bytes of float32.
const lineElements = 16

// minBlock is the smallest block, in elements.
const minBlock = 1 << 12

// A spot is where the next allocation of a pool goes.
type spot[T any] struct {
	block []T
	used  int // of block
	base  int // elements used in blocks that are full
}

// A pool hands out pieces of a block. A block that is full is dropped (its
// pieces keep it alive) for a new one; reset joins them, so that the next
// cycle fits one block.
type pool[T any] struct {
	spot[T]
	budget *budget
	peak   int // the most elements used in this cycle
	held   int // elements in all blocks of this cycle
}

// take returns n elements; a negative n panics in grow.
func (p *pool[T]) take(n int) []T {
	at := p.used
	if uint(n) > uint(len(p.block)-at) {
		at = p.grow(n)
	}
	p.used = min(at+(n+lineElements-1)&^(lineElements-1), len(p.block))
	return p.block[at : at+n : at+n]
}

// grow replaces the block by one that holds n and as much as all before it; it
// returns 0, where the piece begins.
func (p *pool[T]) grow(n int) int {
	if n < 0 {
		panic(BadLength)
	}
	var t T
	each := int(unsafe.Sizeof(t))
	size := max(n, p.held, minBlock)
	if b := p.budget; b.limit > 0 && b.used+each*size > b.limit {
		size = n
	}
	p.budget.take(each * size)
	p.notePeak()
	p.base += p.used
	p.block, p.used = make([]T, size), 0
	p.held += size
	return 0
}

func (p *pool[T]) notePeak() { p.peak = max(p.peak, p.base+p.used) }

func (p *pool[T]) reset(b *budget) {
	p.budget = b
	p.notePeak()
	if p.held > len(p.block) {
		var t T
		size := p.peak + lineElements // the rounding of the last piece of each block
		b.take(int(unsafe.Sizeof(t)) * (size - p.held))
		p.block, p.held = make([]T, size), size
	}
	p.used, p.base, p.peak = 0, 0, 0
}
