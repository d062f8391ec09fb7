//go:build (amd64 || arm64) && !purego

package kern

// The arguments of the kernels in assembly, and what is used again between
// products.

import (
	"sync"
	"sync/atomic"
)

// Modes of a block.
const (
	gemmBegun      = 1 // the sums so far are in memory
	gemmUnfinished = 2 // the sums go back there
	gemmAdd        = 4 // C is added to
)

// A gemmBlock is the argument of a micro-kernel. Distances are in bytes.
type gemmBlock struct {
	a                 *float32
	aRow, aCol        int
	b                 *float32
	bRow              int
	c                 *float32
	cRow              int
	sums              *float32
	mask              *int32 // of the columns of C that there are
	columns           int    // their number
	rows, depth, mode int
	coef              float32
}

// A gemmPack is the argument of a packing kernel. Distances are in bytes.
type gemmPack struct {
	dst, src    *float32
	from, depth int
	mask        *int32 // of the columns that there are
	columns     int    // their number
}

// blockKernels are the kernels of a level.
type blockKernels struct {
	width, height          int // of a panel, and of the largest block
	block                  func(*gemmBlock)
	packPanelColumns       func(*gemmPack) // of half a panel
	packRow, packPanelRows func(*gemmPack) // of half a panel, and of a whole one
	trianglePanel          int             // columns of a panel of a triangular system
	triangle               func(*triangleBlock)
}

// gemmMasks has the mask of n columns from entry gemmWidest−n on.
var gemmMasks = func() (m [2 * gemmWidest]int32) {
	for i := range gemmWidest {
		m[i] = -1
	}
	return m
}()

// A shelf keeps buffers for reuse. One is in front, where a caller on
// its own finds it without a lock.
type shelf[T any] struct {
	front atomic.Pointer[T]
	sync.Mutex
	free []*T
}

func (s *shelf[T]) take() *T {
	if x := s.front.Swap(nil); x != nil {
		return x
	}
	s.Lock()
	defer s.Unlock()
	if n := len(s.free); n > 0 {
		x := s.free[n-1]
		s.free = s.free[:n-1]
		return x
	}
	return new(T)
}

func (s *shelf[T]) put(x *T) {
	if s.front.CompareAndSwap(nil, x) {
		return
	}
	s.Lock()
	s.free = append(s.free, x)
	s.Unlock()
}
