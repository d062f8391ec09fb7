//go:build amd64 && !purego

package kern

// The kernels in assembly, their arguments, and what is used again between
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
	rows, depth, mode int
	coef              float32
}

// A gemmPack is the argument of a packing kernel. Distances are in bytes.
type gemmPack struct {
	dst, src    *float32
	from, depth int
	mask        *int32
}

//go:noescape
func gemmBlock512(p *gemmBlock)

//go:noescape
func gemmBlock256(p *gemmBlock)

//go:noescape
func gemmPackColumns512(p *gemmPack)

//go:noescape
func gemmPackColumns256(p *gemmPack)

//go:noescape
func gemmPackRow512(p *gemmPack)

//go:noescape
func gemmPackRow256(p *gemmPack)

//go:noescape
func gemmPackRows512(p *gemmPack)

//go:noescape
func gemmPackRows256(p *gemmPack)

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
