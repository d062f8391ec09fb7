package workers

import (
	"sync"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A Scratch is memory that a part of a job borrows: what it holds is left from
// before. Data begins at a multiple of 64 bytes.
type Scratch struct{ Data []float32 }

// scratches are those that nobody has borrowed.
var scratches struct {
	sync.Mutex
	free []*Scratch
}

// Borrow returns memory for n numbers. It allocates only while no scratch of
// that size was ever given back.
func Borrow(n int) *Scratch {
	scratches.Lock()
	defer scratches.Unlock()
	best := -1
	for i, s := range scratches.free {
		if cap(s.Data) >= n && (best < 0 || cap(s.Data) < cap(scratches.free[best].Data)) {
			best = i
		}
	}
	if best < 0 {
		return &Scratch{tensor.Make[float32](n)}
	}
	s := scratches.free[best]
	last := len(scratches.free) - 1
	scratches.free[best] = scratches.free[last]
	scratches.free = scratches.free[:last]
	s.Data = s.Data[:n]
	return s
}

// Return returns memory to the pool.
func Return(s *Scratch) {
	scratches.Lock()
	defer scratches.Unlock()
	scratches.free = append(scratches.free, s)
}
