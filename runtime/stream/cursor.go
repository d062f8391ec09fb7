package stream

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// cursorVersion is the layout of Words.
const cursorVersion = 1

// CursorWords is the length of a cursor as stored in a checkpoint.
const CursorWords = 16

// What a saved cursor can be refused for; a *Mismatch wraps one.
var (
	ErrVersion  = errors.New("cursor version")
	ErrSlots    = errors.New("number of lanes")
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

// A Cursor is where one lane of a stream stands, with enough to notice that it
// is put on the wrong text.
//
//hecate:nozero
type Cursor struct {
	Slot, Slots   uint64    // which lane of how many
	Position      uint64    // byte of the text that is read next
	Lo, Hi        uint64    // the lane's stretch
	Total         uint64    // bytes of the text
	Chunk         uint64    // id of the next chunk
	PulseID       uint64    // step of the pulse that goes with the next chunk
	LastLen       uint64    // tokens of the last chunk, 0 before the first
	ContentHash   uint64    // FNV-1a 64 of the last chunk's inputs, 4 bytes each, little-endian
	DatasetDigest [4]uint64 // SHA-256 of the text
}

// Words returns the cursor as a row of a U64 tensor, [CursorWords].
func (c Cursor) Words() []uint64 {
	d := c.DatasetDigest
	return []uint64{cursorVersion, c.Slot, c.Slots, c.Position, c.Lo, c.Hi, c.Total, c.Chunk,
		c.PulseID, c.LastLen, c.ContentHash, d[0], d[1], d[2], d[3], 0}
}

// CursorFromWords is the inverse of Words; a *Mismatch of ErrVersion says that
// the layout is not ours.
func CursorFromWords(w []uint64) (Cursor, error) {
	if len(w) != CursorWords || w[0] != cursorVersion {
		saved := fmt.Sprintf("%d words", len(w))
		if len(w) > 0 {
			saved += fmt.Sprintf(" of version %d", w[0])
		}
		return Cursor{}, &Mismatch{ErrVersion, 0, saved, fmt.Sprintf("%d words of version %d", CursorWords, cursorVersion)}
	}
	return Cursor{Slot: w[1], Slots: w[2], Position: w[3], Lo: w[4], Hi: w[5], Total: w[6], Chunk: w[7],
		PulseID: w[8], LastLen: w[9], ContentHash: w[10], DatasetDigest: [4]uint64(w[11:15])}, nil
}

// Cursors returns one cursor per lane; p is the pulse of the next chunk.
func (s *Stream) Cursors(p pulse.Pulse) []Cursor {
	cs := make([]Cursor, len(s.lanes))
	for i, l := range s.lanes {
		cs[i] = Cursor{
			Slot: uint64(i), Slots: uint64(len(s.lanes)),
			Position: uint64(l.at), Lo: uint64(l.lo), Hi: uint64(l.hi), Total: uint64(s.part.text.Len()),
			Chunk: s.next, PulseID: p.Step(),
			LastLen: uint64(l.last), ContentHash: s.hashBefore(l, l.at, l.last),
			DatasetDigest: s.part.text.digest,
		}
	}
	return cs
}

// hashBefore hashes the n tokens that a lane at position at has just read. A
// chunk longer than the stretch went round more than once.
func (s *Stream) hashBefore(l lane, at, n int) uint64 {
	h := uint64(0xcbf29ce484222325)
	size := l.hi - l.lo
	start := ((at-l.lo-n)%size + size) % size
	for k := range n {
		h = (h ^ uint64(s.part.text.data[l.lo+(start+k)%size])) * 0x100000001b3
		for range 3 { // the high bytes of the token are zero
			h *= 0x100000001b3
		}
	}
	return h
}

// Restore puts the stream where the cursors say. p is the pulse of the model
// that will read the next chunk. Everything is checked first: on a *Mismatch
// the stream is unchanged.
func (s *Stream) Restore(cursors []Cursor, p pulse.Pulse) error {
	if len(cursors) != len(s.lanes) {
		return &Mismatch{ErrSlots, 0, fmt.Sprint(len(cursors)), fmt.Sprint(len(s.lanes))}
	}
	for i, c := range cursors {
		if err := s.check(i, c, p); err != nil {
			return err
		}
		if c.Chunk != cursors[0].Chunk {
			return &Mismatch{ErrChunk, i, fmt.Sprint(c.Chunk), fmt.Sprint(cursors[0].Chunk)}
		}
	}
	for i, c := range cursors {
		s.lanes[i].at, s.lanes[i].last = int(c.Position), int(c.LastLen)
	}
	s.next = cursors[0].Chunk
	return nil
}

func hex(d [4]uint64) string { return fmt.Sprintf("%016x%016x%016x%016x", d[0], d[1], d[2], d[3]) }

// maxLast bounds the length of a last chunk that is hashed again.
const maxLast = 1 << 24

// check compares one cursor with the lane it is for.
func (s *Stream) check(i int, c Cursor, p pulse.Pulse) error {
	l, t := s.lanes[i], s.part.text
	rows := []struct {
		what        error
		ok          bool
		saved, live string
	}{
		{ErrSlots, c.Slots == uint64(len(s.lanes)) && c.Slot == uint64(i),
			fmt.Sprintf("%d of %d", c.Slot, c.Slots), fmt.Sprintf("%d of %d", i, len(s.lanes))},
		{ErrLength, c.Total == uint64(t.Len()), fmt.Sprint(c.Total), fmt.Sprint(t.Len())},
		{ErrDataset, c.DatasetDigest == t.digest, hex(c.DatasetDigest), hex(t.digest)},
		{ErrPart, c.Lo == uint64(l.lo) && c.Hi == uint64(l.hi),
			fmt.Sprintf("[%d, %d)", c.Lo, c.Hi), fmt.Sprintf("[%d, %d)", l.lo, l.hi)},
		{ErrPosition, c.Position >= c.Lo && c.Position < c.Hi, fmt.Sprint(c.Position), fmt.Sprintf("[%d, %d)", l.lo, l.hi)},
		{ErrPulse, c.PulseID == p.Step(), fmt.Sprint(c.PulseID), fmt.Sprint(p.Step())},
		{ErrContent, c.LastLen <= maxLast, fmt.Sprintf("%d tokens", c.LastLen), fmt.Sprintf("at most %d", maxLast)},
	}
	for _, r := range rows {
		if !r.ok {
			return &Mismatch{r.what, i, r.saved, r.live}
		}
	}
	if h := s.hashBefore(l, int(c.Position), int(c.LastLen)); h != c.ContentHash {
		return &Mismatch{ErrContent, i, fmt.Sprintf("%016x", c.ContentHash), fmt.Sprintf("%016x", h)}
	}
	return nil
}
