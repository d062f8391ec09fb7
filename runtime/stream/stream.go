// Package stream reads token ids from a source, in chunks and batches.
//
// A Source is a finite sequence of token ids in documents: bytes of a Text,
// ids in memory, a token file, or ids computed from a seed. A Part of it is
// what one reads: the first nine tenths, the held-out rest, or all.
//
// A Stream reads one part in batches: the part is cut into equal contiguous
// ranges, one for each slot of the batch, so that the context that a slot carries
// from chunk to chunk is that of the text. All chunks have the requested length.
// A wrapping stream continues at the start of a range after its end; a session
// ends there, and the rest of its last chunk has no targets. Ends of documents
// and the like are events of the chunk. A Cursor holds the position of a slot and
// a hash of what it has just read, and is refused where it does not fit.
package stream

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// Ignore is the target where there is nothing to predict: after the last token of
// a document or of a slot's range, before a token that its source does not score,
// and after the end of a session.
const Ignore int32 = -1

// ErrEnd says that a session is over: every slot has read its range.
var ErrEnd = errors.New("stream: the session is over")

// Panic messages for misuse by the caller.
const (
	badBatch  = "stream: a stream has a batch of at least one"
	badTokens = "stream: a chunk has at least one token"
	noNext    = "stream: Next cannot report an error; use Read for sessions and files"
)

// A Chunk is what all slots read at one pulse. Slot i has the elements
// [i·Tokens, (i+1)·Tokens) of Inputs and Targets. It is valid until the next
// chunk is read.
type Chunk struct {
	ID      uint64  // counts from 0
	Batch   int     // number of slots
	Tokens  int     // per slot
	Inputs  []int32 // ids of the source; 0 after the end of a session
	Targets []int32 // the next input, or Ignore
	Valid   []int   // per slot, how many of its tokens are the source's
	Events  []Event // by slot, then by position; then those of Mark
}

// A Stream reads a part of a source in batches. It serves one goroutine.
type Stream struct {
	part    Part
	session bool
	slots   []slot
	next    uint64 // id of the next chunk
	chunk   Chunk
	moved   []slot // the slots after the chunk that is being read
	scored  []bool // of the targets of a run
}

// A slot is one range [lo, hi) of the source and the position in it.
type slot struct {
	lo, hi, at int
	served     uint64 // tokens since the start
	last       int    // source's tokens in the last chunk, 0 before the first
	hash       uint64 // of those
}

// New returns a wrapping stream over a part with the given number of slots, each at
// the start of its range. The error wraps ErrTooShort if a slot would have fewer
// than two tokens. New panics unless batch is positive.
func New(p Part, batch int) (*Stream, error) {
	if batch < 1 {
		panic(badBatch)
	}
	if p.Len() < 2*batch {
		return nil, &SourceError{p.src.Name(), ErrTooShort,
			fmt.Sprintf("a batch of %d over %d %s", batch, p.Len(), unit(p.src)), fmt.Sprintf("two %s for each slot", unit(p.src))}
	}
	s := &Stream{part: p, slots: make([]slot, batch), moved: make([]slot, batch)}
	each, rest := p.Len()/batch, p.Len()%batch
	at := p.lo
	for i := range s.slots {
		n := each
		if i < rest {
			n++
		}
		s.slots[i] = slot{lo: at, hi: at + n, at: at, hash: emptyHash}
		at += n
	}
	s.chunk.Valid = make([]int, batch)
	return s, nil
}

// NewSession is New for a stream that ends when every slot has read its
// range once.
func NewSession(p Part, batch int) (*Stream, error) {
	s, err := New(p, batch)
	if err == nil {
		s.session = true
	}
	return s, err
}

// Batch returns the number of slots.
func (s *Stream) Batch() int { return len(s.slots) }

// Position returns the position in the source of the token that a slot reads next;
// it is the end of the slot's range where a session is over.
func (s *Stream) Position(slot int) int { return s.slots[slot].at }

// Left returns how many tokens a slot can read before it wraps or ends.
func (s *Stream) Left(slot int) int { return s.slots[slot].hi - s.slots[slot].at }

// Ended reports whether a session is over.
func (s *Stream) Ended() bool {
	return s.session && !slices.ContainsFunc(s.slots, func(l slot) bool { return l.at < l.hi })
}

// Next is Read for a stream that wraps over a source in memory, of which there
// is no error. It panics if there is one, and unless tokens is positive.
func (s *Stream) Next(tokens int) Chunk {
	c, err := s.Read(tokens)
	if err != nil {
		panic(noNext + ": " + err.Error())
	}
	return c
}

// Read returns the next chunk of the given number of tokens per slot. It
// allocates nothing once chunks of that length were made. The error is ErrEnd
// or the source's, and then the stream is unchanged. Read panics
// unless tokens is positive.
func (s *Stream) Read(tokens int) (Chunk, error) {
	if tokens < 1 {
		panic(badTokens)
	}
	if s.Ended() {
		return Chunk{}, ErrEnd
	}
	n := len(s.slots) * tokens
	c := &s.chunk
	if cap(c.Inputs) < n {
		c.Inputs, c.Targets, s.scored = make([]int32, n), make([]int32, n), make([]bool, n)
	}
	c.ID, c.Batch, c.Tokens = s.next, len(s.slots), tokens
	c.Inputs, c.Targets, c.Events = c.Inputs[:n], c.Targets[:n], c.Events[:0]
	for i, l := range s.slots {
		l.last, l.hash = 0, emptyHash
		s.moved[i] = l
		if err := s.read(i, c.Inputs[i*tokens:(i+1)*tokens], c.Targets[i*tokens:(i+1)*tokens]); err != nil {
			return Chunk{}, err
		}
		c.Valid[i] = s.moved[i].last
	}
	c.Events = slices.Grow(c.Events, pulse.MaxLevels+1) // for Mark
	copy(s.slots, s.moved)
	s.next++
	return *c, nil
}

// read fills one slot of the chunk, run by run, and advances the slot. A run
// ends with the chunk, a document or the range.
func (s *Stream) read(i int, inputs, targets []int32) error {
	l, src := &s.moved[i], s.part.src
	for t := 0; t < len(inputs); {
		if l.at == l.hi { // after the end of a session
			for ; t < len(inputs); t++ {
				inputs[t], targets[t] = 0, Ignore
			}
			return nil
		}
		end := min(src.DocumentEnd(l.at), l.hi)
		n := min(end-l.at, len(inputs)-t)
		if err := s.run(inputs[t:t+n], targets[t:t+n], l.at, end); err != nil {
			return err
		}
		l.hash = fnv(l.hash, inputs[t:t+n])
		l.at, l.last, l.served, t = l.at+n, l.last+n, l.served+uint64(n), t+n
		if l.at < end {
			return nil
		}
		e := Event{Slot: i, At: t, Kind: DocumentEnd}
		if l.at == l.hi && s.session {
			e.Kind = SessionEnd
		} else if l.at == l.hi {
			e.Kind, l.at = Wrap, l.lo
		}
		s.chunk.Events = append(s.chunk.Events, e)
	}
	return nil
}

// run reads tokens of one document from at on, and what follows each up to
// end, where it knows none.
func (s *Stream) run(inputs, targets []int32, at, end int) error {
	src := s.part.src
	if err := src.Read(inputs, at); err != nil {
		return err
	}
	last := len(inputs) - 1
	copy(targets, inputs[1:])
	known := len(inputs)
	if at+known < end {
		if err := src.Read(targets[last:], at+known); err != nil {
			return err
		}
	} else {
		targets[last] = Ignore
		known--
	}
	scorer, ok := src.(Scorer)
	if !ok {
		return nil
	}
	scored := s.scored[:known]
	if err := scorer.Scored(scored, at+1); err != nil {
		return err
	}
	for t, ok := range scored {
		if !ok {
			targets[t] = Ignore
		}
	}
	return nil
}
