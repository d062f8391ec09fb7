package stream

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// cursorVersion is the layout of Words.
const cursorVersion = 2

// CursorWords is the length of a cursor as stored in a checkpoint.
const CursorWords = 24

// What a saved cursor can be refused for; a *Mismatch wraps one.
var (
	ErrVersion  = errors.New("cursor version")
	ErrSlots    = errors.New("number of lanes")
	ErrEnding   = errors.New("what happens at the end")
	ErrRNG      = errors.New("seed")
	ErrDataset  = errors.New("dataset digest")
	ErrLength   = errors.New("dataset length")
	ErrPart     = errors.New("part of the text")
	ErrPosition = errors.New("position")
	ErrChunk    = errors.New("chunk number")
	ErrPulse    = errors.New("pulse")
	ErrContent  = errors.New("content of the last chunk")
)

// A Mismatch says what differs between a saved cursor and the live stream.
type Mismatch struct {
	What        error
	Slot        int
	Saved, Live string
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("stream: %v of slot %d differs: saved %s, here %s", m.What, m.Slot, m.Saved, m.Live)
}

func (m *Mismatch) Unwrap() error { return m.What }

// A Cursor is the position of one slot of a stream, with enough to notice that it
// is applied to the wrong source. Sources are read by position, so there is no
// generator state to save; the seed of a source is compared.
//
//hecate:nozero
type Cursor struct {
	Slot, Slots   uint64    // which slot of how many
	Session       bool      // the stream ends and does not wrap
	Position      uint64    // token of the source that is read next
	Lo, Hi        uint64    // the slot's range
	Total         uint64    // tokens of the source
	Chunk         uint64    // id of the next chunk
	PulseID       uint64    // step of the pulse that goes with the next chunk
	Served        uint64    // tokens of this slot so far; they determine the position
	LastLen       uint64    // of them in the last chunk, 0 before the first
	ContentHash   uint64    // FNV-1a 64 of those, 4 bytes each, little-endian, as they were served
	DatasetDigest [4]uint64 // of the source
	RNG           [4]uint64 // what a Seeded source is computed from, else zero
}

// Words returns the cursor as a row of a U64 tensor, [CursorWords].
func (c Cursor) Words() []uint64 {
	session := uint64(0)
	if c.Session {
		session = 1
	}
	w := make([]uint64, 0, CursorWords)
	w = append(w, cursorVersion, c.Slot, c.Slots, session, c.Position, c.Lo, c.Hi, c.Total, c.Chunk, c.PulseID, c.Served, c.LastLen, c.ContentHash)
	w = append(w, c.DatasetDigest[:]...)
	w = append(w, c.RNG[:]...)
	return w[:CursorWords] // what is left is zero
}

// CursorFromWords is the inverse of Words; a *Mismatch of ErrVersion says that
// the layout is not ours.
func CursorFromWords(w []uint64) (Cursor, error) {
	const used = 21
	ours := len(w) == CursorWords && w[0] == cursorVersion && w[3] <= 1
	for i := used; ours && i < CursorWords; i++ {
		ours = w[i] == 0
	}
	if !ours {
		saved := fmt.Sprintf("%d words", len(w))
		if len(w) > 0 {
			saved += fmt.Sprintf(" of version %d", w[0])
			if len(w) == CursorWords && w[0] == cursorVersion {
				saved += " with unknown flags"
			}
		}
		return Cursor{}, &Mismatch{ErrVersion, 0, saved, fmt.Sprintf("%d words of version %d", CursorWords, cursorVersion)}
	}
	return Cursor{Slot: w[1], Slots: w[2], Session: w[3] == 1, Position: w[4], Lo: w[5], Hi: w[6], Total: w[7], Chunk: w[8],
		PulseID: w[9], Served: w[10], LastLen: w[11], ContentHash: w[12], DatasetDigest: [4]uint64(w[13:17]), RNG: [4]uint64(w[17:21])}, nil
}

// Cursors returns one cursor per slot; p is the pulse of the next chunk.
func (s *Stream) Cursors(p pulse.Pulse) []Cursor {
	cs := make([]Cursor, len(s.slots))
	for i, l := range s.slots {
		cs[i] = Cursor{
			Slot: uint64(i), Slots: uint64(len(s.slots)), Session: s.session,
			Position: uint64(l.at), Lo: uint64(l.lo), Hi: uint64(l.hi), Total: uint64(s.part.src.Len()),
			Chunk: s.next, PulseID: p.Step(), Served: l.served,
			LastLen: uint64(l.last), ContentHash: l.hash,
			DatasetDigest: s.part.src.Digest(), RNG: rng(s.part.src),
		}
	}
	return cs
}

func rng(src Source) (w [4]uint64) {
	if r, ok := src.(Seeded); ok {
		return r.RNG()
	}
	return w
}

// emptyHash is the FNV-1a 64 of nothing.
const emptyHash = 0xcbf29ce484222325

// fnv adds ids to a hash, 4 bytes each, little-endian.
func fnv(h uint64, ids []int32) uint64 {
	const prime = 0x100000001b3
	for _, id := range ids {
		for range 4 {
			h = (h ^ uint64(id&0xff)) * prime
			id >>= 8
		}
	}
	return h
}

// hashBefore reads again, and hashes, the n tokens that a slot at a position
// has just read. A chunk longer than the range wrapped more than once.
func (s *Stream) hashBefore(l slot, at, n int) (uint64, error) {
	h, buf := uint64(emptyHash), make([]int32, 1024)
	size := l.hi - l.lo
	start := l.lo + ((at-l.lo-n)%size+size)%size
	for n > 0 {
		piece := buf[:min(n, len(buf), l.hi-start)]
		if err := s.part.src.Read(piece, start); err != nil {
			return 0, err
		}
		h = fnv(h, piece)
		n -= len(piece)
		if start += len(piece); start == l.hi {
			start = l.lo
		}
	}
	return h, nil
}

// Restore moves the stream to the cursors. p is the pulse of the model that will
// read the next chunk. Everything is checked first, the last chunk of every slot
// by reading it again: on a *Mismatch, or an error of the source,
// the stream is unchanged.
func (s *Stream) Restore(cursors []Cursor, p pulse.Pulse) error {
	if len(cursors) != len(s.slots) {
		return &Mismatch{ErrSlots, 0, fmt.Sprint(len(cursors)), fmt.Sprint(len(s.slots))}
	}
	for i, c := range cursors {
		if c.Chunk != cursors[0].Chunk {
			return &Mismatch{ErrChunk, i, fmt.Sprint(c.Chunk), fmt.Sprintf("%d of slot 0", cursors[0].Chunk)}
		}
		if err := s.check(i, c, p); err != nil {
			return err
		}
	}
	for i, c := range cursors {
		l := &s.slots[i]
		l.at, l.last, l.served, l.hash = int(c.Position), int(c.LastLen), c.Served, c.ContentHash
	}
	s.next = cursors[0].Chunk
	return nil
}

// maxLast bounds the length of a last chunk that is hashed again.
const maxLast = 1 << 24

// check compares one cursor with the slot it is for.
func (s *Stream) check(i int, c Cursor, p pulse.Pulse) error {
	l, src := s.slots[i], s.part.src
	digest, seed := src.Digest(), rng(src)
	for _, r := range []struct {
		what        error
		ok          bool
		saved, live string
	}{
		{ErrSlots, c.Slots == uint64(len(s.slots)) && c.Slot == uint64(i),
			fmt.Sprintf("%d of %d", c.Slot, c.Slots), fmt.Sprintf("%d of %d", i, len(s.slots))},
		{ErrEnding, c.Session == s.session, ending(c.Session), ending(s.session)},
		{ErrLength, c.Total == uint64(src.Len()), fmt.Sprint(c.Total), fmt.Sprint(src.Len())},
		{ErrRNG, c.RNG == seed, hex(c.RNG), hex(seed)},
		{ErrDataset, c.DatasetDigest == digest, hex(c.DatasetDigest), hex(digest)},
		{ErrPart, c.Lo == uint64(l.lo) && c.Hi == uint64(l.hi),
			fmt.Sprintf("[%d, %d)", c.Lo, c.Hi), fmt.Sprintf("[%d, %d)", l.lo, l.hi)},
		{ErrPosition, c.Position == s.place(l, c.Served) && c.Position <= c.Hi,
			fmt.Sprintf("%d after %d tokens", c.Position, c.Served), fmt.Sprintf("%d in [%d, %d)", s.place(l, c.Served), l.lo, l.hi)},
		{ErrPulse, c.PulseID == p.Step(), fmt.Sprint(c.PulseID), fmt.Sprint(p.Step())},
		{ErrChunk, (c.Chunk == 0) == (c.Served == 0),
			fmt.Sprintf("%d after %d tokens", c.Chunk, c.Served), "chunk 0 exactly before the first token"},
		{ErrContent, c.LastLen <= min(c.Served, maxLast) && (c.LastLen > 0 || c.Chunk == 0 || s.session && c.Position == c.Hi),
			fmt.Sprintf("%d tokens of %d", c.LastLen, c.Served), fmt.Sprintf("1 to %d, and no more than were served", maxLast)},
	} {
		if !r.ok {
			return &Mismatch{r.what, i, r.saved, r.live}
		}
	}
	h, err := s.hashBefore(l, int(c.Position), int(c.LastLen))
	if err != nil {
		return err
	}
	if h != c.ContentHash {
		return &Mismatch{ErrContent, i, fmt.Sprintf("%016x", c.ContentHash), fmt.Sprintf("%016x", h)}
	}
	return nil
}

// place is the position of a slot that has served a number of tokens.
func (s *Stream) place(l slot, served uint64) uint64 {
	size := uint64(l.hi - l.lo)
	if s.session {
		return uint64(l.lo) + served
	}
	return uint64(l.lo) + served%size
}

func ending(session bool) string {
	if session {
		return "a session that ends"
	}
	return "a stream that wraps"
}
