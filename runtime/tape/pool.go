package tape

import (
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A pool allocates pieces of one block, one after the other, each at a cache
// line. When the block is full it goes on in a new one that has room for all so
// far; the pieces keep the old one alive. The next scope begins with a block of
// the most that a scope has needed, so from then on nothing is allocated.
//
// A poisoned pool keeps what is free filled with a value that shows: what is
// handed out, and what was handed out and has been given back.

// minBlock is the smallest block, in elements.
const minBlock = 1 << 12

// A spot is how much of a pool is in use.
type spot struct {
	used int // elements of the block
	full int // elements of blocks before it
}

type pool[T any] struct {
	spot
	block  []T // whole lines
	budget *budget
	peak   int // the most elements used in this scope
	held   int // elements in all blocks of this scope
	poison bool
	bad    T             // what free memory holds under poison
	memory device.Memory // that blocks are of; nil is the host's
	old    [][]T         // blocks of it that were full in this scope
}

// A budget counts the bytes of all pools of an arena, and knows whether they
// may be used.
type budget struct {
	used, limit int
	open        bool
}

// take adds n bytes, or panics with a *LimitError.
func (b *budget) take(n int) {
	if b.limit > 0 && n > 0 && b.used+n > b.limit {
		panic(&LimitError{Need: b.used + n, Limit: b.limit})
	}
	b.used += n
}

// take returns n elements. It panics in grow where n is negative or the pool
// shut.
func (p *pool[T]) take(n int) []T {
	at := p.used
	if uint(n) > uint(len(p.block)-at) {
		at = p.grow(n)
	}
	p.used = at + tensor.Lines[T](n)
	return p.block[at : at+n : at+n]
}

// grow replaces the block by one that holds n and as much as all before it; it
// returns 0, where the piece begins.
//
//go:noinline
func (p *pool[T]) grow(n int) int {
	switch {
	case n < 0:
		panic(BadLength)
	case p.budget == nil || !p.budget.open:
		panic(Closed)
	}
	p.note()
	size := tensor.Lines[T](max(p.full+p.used+n, minBlock))
	if b := p.budget; b.limit > 0 && b.used+p.bytes(size) > b.limit {
		size = tensor.Lines[T](n)
	}
	p.budget.take(p.bytes(size))
	p.full += p.used
	p.used = 0
	p.held += size
	if p.memory != nil && len(p.block) > 0 {
		p.old = append(p.old, p.block)
	}
	p.fresh(size)
	return 0
}

// fresh makes a new block.
func (p *pool[T]) fresh(size int) {
	if p.memory != nil {
		p.block = device.Make[T](p.memory, size)
	} else {
		p.block = tensor.Make[T](size)
	}
	p.spoil(p.block)
}

func (p *pool[T]) spoil(s []T) {
	if p.poison && p.memory == nil {
		for i := range s {
			s[i] = p.bad
		}
	}
}

func (p *pool[T]) bytes(n int) int {
	var t T
	return n * int(unsafe.Sizeof(t))
}

func (p *pool[T]) note() { p.peak = max(p.peak, p.full+p.used) }

// release frees what was taken since m. A block that was opened since then
// stays, for it is larger.
func (p *pool[T]) release(m spot) {
	p.note()
	if p.full != m.full {
		m = spot{full: m.full + m.used}
	}
	p.spoil(p.block[m.used:p.used])
	p.spot = m
}

// shut ends a scope: allocated pieces can be read until reset, and nothing more is
// allocated.
func (p *pool[T]) shut() {
	p.note()
	p.used = len(p.block)
}

// reset begins a scope with one block for as much as the last one needed, or
// more.
func (p *pool[T]) reset(b *budget, poison bool, bad T) {
	p.budget, p.poison, p.bad = b, poison, bad
	p.used, p.full = 0, 0
	for _, b := range p.old {
		device.Free(p.memory, b)
	}
	p.old = p.old[:0]
	if p.peak > len(p.block) {
		if p.memory != nil {
			device.Free(p.memory, p.block)
		}
		p.fresh(tensor.Lines[T](p.peak))
	} else {
		p.spoil(p.block)
	}
	b.take(p.bytes(len(p.block) - p.held))
	p.held, p.peak = len(p.block), 0
}
