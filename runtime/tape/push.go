package tape

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A Kind numbers a type that lives in slots; an arena keeps one slab per kind.
type Kind uint16

var kinds atomic.Uint32

// NewKind returns a kind that nothing else in the program has, counting up from 1.
// Generated code takes one for each of its types when the program starts, so that a
// unit's text does not depend on which other units there are. It panics with NoKinds
// after 65535 of them.
func NewKind() Kind {
	n := kinds.Add(1)
	if n > math.MaxUint16 {
		panic(NoKinds)
	}
	return Kind(n)
}

// slabBytes is about how large a piece of a slab is.
const slabBytes = 8 << 10

// A slab holds nodes of one type in pieces that never move, and beside them the
// one slot for what is not recorded.
type slab[N any] struct {
	pieces [][]N
	piece  []N // the one being filled
	used   int // of piece
	next   int // index after piece
	single N
}

type resetter interface{ reset() }

func (s *slab[N]) reset() { s.piece, s.used, s.next = nil, 0, 0 }

// open goes on to the next piece. Rare, and kept out of Push: so are newSlab
// and refuse.
//
//go:noinline
func (s *slab[N]) open() {
	if s.next == len(s.pieces) {
		s.pieces = append(s.pieces, make([]N, max(1, slabBytes/max(1, unsafe.Sizeof(s.single)))))
	}
	s.piece, s.used = s.pieces[s.next], 0
	s.next++
}

// Push returns a zeroed node of type N to be filled in. With a tape it is
// appended to it; without one it is the slot of its kind, which the next Push
// of that kind takes again. P is inferred:
//
//	n := tape.Push[F, matMulNode[F]](r, kindMatMul)
//
// Push panics with KindTaken if kind was used for another type, with Closed
// outside of r's scope and with Reversed once the tape has run backwards.
func Push[F num.Float, N any, P interface {
	*N
	Node[F]
}](r *Run[F], kind Kind) *N {
	t := r.Tape
	if t == nil {
		return Slot[F, N](r, kind)
	}
	if !t.recording {
		t.refuse()
	}
	var s *slab[N]
	if slabs := t.arena.slabs; int(kind) < len(slabs) {
		s, _ = slabs[kind].(*slab[N])
	}
	if s == nil {
		s = newSlab[F, N](t.arena, kind)
	}
	if s.used == len(s.piece) {
		s.open()
	}
	n := &s.piece[s.used]
	s.used++
	var zero N
	*n = zero
	if t.profile != nil {
		t.profile.record(P(n))
	}
	t.nodes = append(t.nodes, P(n))
	return n
}

// Slot returns the zeroed slot of a kind, for what is used before the next Slot
// of that kind: the call of a kernel that nothing records. It panics as Push
// does.
func Slot[F num.Float, N any](r *Run[F], kind Kind) *N {
	if !r.Arena.budget.open {
		panic(Closed)
	}
	var s *slab[N]
	if slabs := r.Arena.slabs; int(kind) < len(slabs) {
		s, _ = slabs[kind].(*slab[N])
	}
	if s == nil {
		s = newSlab[F, N](r.Arena, kind)
	}
	var zero N
	s.single = zero
	return &s.single
}

// newSlab makes the slab of a kind that is used for the first time.
//
//go:noinline
func newSlab[F num.Float, N any](a *Arena[F], kind Kind) *slab[N] {
	for len(a.slabs) <= int(kind) {
		a.slabs = append(a.slabs, nil)
	}
	if a.slabs[kind] != nil {
		panic(KindTaken)
	}
	s := &slab[N]{}
	a.slabs[kind] = s
	return s
}

//go:noinline
func (t *Tape[F]) refuse() {
	if t.arena.budget.open {
		panic(Reversed)
	}
	panic(Closed)
}
