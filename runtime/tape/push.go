package tape

import (
	"math"

	"github.com/nl-hecate/hecate/runtime/num"
)

// A Kind numbers a node type. Generated code assigns one to each, counting up
// from 0; the tape keeps one slab of nodes per kind.
type Kind uint16

// slabNodes is the number of nodes in one piece of a slab.
const slabNodes = 64

// A slab holds nodes of one type in pieces that never move.
type slab[N any] struct {
	pieces [][]N
	piece  []N // the one being filled
	used   int // of piece
	next   int // index behind piece
}

type resetter interface{ reset() }

func (s *slab[N]) reset() { s.piece, s.used, s.next = nil, 0, 0 }

func (s *slab[N]) node() *N {
	if s.used == len(s.piece) {
		s.open()
	}
	n := &s.piece[s.used]
	s.used++
	return n
}

// open goes on to the next piece.
func (s *slab[N]) open() {
	if s.next == len(s.pieces) {
		s.pieces = append(s.pieces, make([]N, slabNodes))
	}
	s.piece, s.used = s.pieces[s.next], 0
	s.next++
}

// Push appends a node of type N to the tape and returns it zeroed, to be
// filled in; on a nil tape it returns nil. P is inferred:
//
//	if n := tape.Push[F, matMulNode[F]](r.Tape, kindMatMul); n != nil { … }
//
// Push panics with KindTaken if kind was used for another type, and with
// Reversed once the tape has run backwards.
func Push[F num.Float, N any, P interface {
	*N
	Node[F]
}](t *Tape[F], kind Kind) *N {
	if t == nil {
		return nil
	}
	if !t.open || t.reversed {
		t.refuse()
	}
	if int(kind) >= len(t.slabs) || t.slabs[kind] == nil {
		t.keep(kind, &slab[N]{})
	}
	s, ok := t.slabs[kind].(*slab[N])
	if !ok {
		panic(KindTaken)
	}
	n := s.node()
	var zero N
	*n = zero
	t.nodes = append(t.nodes, P(n))
	return n
}

// keep stores the slab of a kind that is used for the first time.
func (t *Tape[F]) keep(kind Kind, s resetter) {
	for len(t.slabs) <= int(kind) {
		t.slabs = append(t.slabs, nil)
	}
	t.slabs[kind] = s
}

func (t *Tape[F]) refuse() {
	if !t.open {
		panic(Closed)
	}
	panic(Reversed)
}

// verify panics if a recorded value is no longer what it was.
func (t *Tape[F]) verify() {
	for _, s := range t.sealed {
		if s.sum != checksum(s.data) {
			panic(Overwritten)
		}
	}
}

// checksum is FNV-1a over the bits of the elements.
func checksum[F num.Float](data []F) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, x := range data {
		h = (h ^ math.Float64bits(float64(x))) * 0x100000001b3
	}
	return h
}
