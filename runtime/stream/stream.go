// Package stream gives a model its tokens: from a source, in chunks, from several places at once.
//
// A Source is a finite sequence of token ids in documents: bytes of a Text,
// ids in memory, a token file, or ids computed from a seed. A Part of it is
// what one reads: the first nine tenths, the held-out rest, or all.
//
// A Stream runs over one part in lanes: the part is cut into equal contiguous
// stretches, and every lane walks its own, so that the context a lane carries
// from chunk to chunk is that of the text. Chunks always have the asked-for
// length. A wrapping stream goes on at the start of a stretch behind its end;
// a session ends there, and what is left of its last chunk has no targets.
// What happens between two tokens is an event of the chunk. A Cursor says
// where a lane stands and what it has just read, and is refused where it does
// not fit.
package stream

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// Ignore is the target where there is nothing to predict: behind the last
// token of a document or of a lane, before a token that its source does not
// score, and behind the end of a session.
const Ignore int32 = -1

// ErrEnd says that a session is over: every lane has read its stretch.
var ErrEnd = errors.New("stream: the session is over")

// Panic messages for misuse by the caller.
const (
	badBatch  = "stream: a stream has at least one lane"
	badTokens = "stream: a chunk has at least one token"
	noNext    = "stream: Next cannot report an error; use Read for sessions and files"
)

// A Chunk is what all lanes read at one pulse. Lane l has the elements
// [l·Tokens, (l+1)·Tokens) of Inputs and Targets. It is valid until the next
// chunk is read.
type Chunk struct {
	ID      uint64 // counts from 0
	Lanes   int
	Tokens  int     // per lane
	Inputs  []int32 // ids of the source; 0 behind the end of a session
	Targets []int32 // the next input, or Ignore
	Valid   []int   // per lane, how many of its tokens are the source's
	Events  []Event // by lane, then by place; Mark's behind them
}

// A Stream walks a part of a source in lanes. It serves one goroutine.
type Stream struct {
	part    Part
	session bool
	lanes   []lane
	next    uint64 // id of the next chunk
	chunk   Chunk
	moved   []lane // where the lanes stand behind the chunk that is being read
	scored  []bool // of the targets of a run
}

// A lane is one stretch [lo, hi) of the source and where it stands.
type lane struct {
	lo, hi, at int
	served     uint64 // tokens since the start
	last       int    // source's tokens in the last chunk, 0 before the first
	hash       uint64 // of those
}

// New returns a stream over a part with the given number of lanes, each at the
// start of its stretch, that wraps. The error wraps ErrTooShort if a lane
// would have less than two tokens. New panics unless lanes is positive.
func New(p Part, lanes int) (*Stream, error) {
	if lanes < 1 {
		panic(badBatch)
	}
	if p.Len() < 2*lanes {
		return nil, &SourceError{p.src.Name(), ErrTooShort,
			fmt.Sprintf("%d lanes over %d %s", lanes, p.Len(), unit(p.src)), fmt.Sprintf("two %s a lane", unit(p.src))}
	}
	s := &Stream{part: p, lanes: make([]lane, lanes), moved: make([]lane, lanes)}
	each, rest := p.Len()/lanes, p.Len()%lanes
	at := p.lo
	for i := range s.lanes {
		n := each
		if i < rest {
			n++
		}
		s.lanes[i] = lane{lo: at, hi: at + n, at: at, hash: emptyHash}
		at += n
	}
	s.chunk.Valid = make([]int, lanes)
	return s, nil
}

// NewSession is New for a stream that ends when every lane has read its
// stretch once.
func NewSession(p Part, lanes int) (*Stream, error) {
	s, err := New(p, lanes)
	if err == nil {
		s.session = true
	}
	return s, err
}

// Lanes returns the number of lanes.
func (s *Stream) Lanes() int { return len(s.lanes) }

// Position returns the place in the source of the token that a lane reads next;
// it is the end of the lane's stretch where a session is over.
func (s *Stream) Position(lane int) int { return s.lanes[lane].at }

// Left returns how many tokens a lane can read before it wraps or ends.
func (s *Stream) Left(lane int) int { return s.lanes[lane].hi - s.lanes[lane].at }

// Ended reports whether a session is over.
func (s *Stream) Ended() bool {
	return s.session && !slices.ContainsFunc(s.lanes, func(l lane) bool { return l.at < l.hi })
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

// Read returns the next chunk of the given number of tokens per lane. It
// allocates nothing once chunks of that length were made. The error is ErrEnd
// or the source's, and then the stream stands where it stood. Read panics
// unless tokens is positive.
func (s *Stream) Read(tokens int) (Chunk, error) {
	if tokens < 1 {
		panic(badTokens)
	}
	if s.Ended() {
		return Chunk{}, ErrEnd
	}
	n := len(s.lanes) * tokens
	c := &s.chunk
	if cap(c.Inputs) < n {
		c.Inputs, c.Targets, s.scored = make([]int32, n), make([]int32, n), make([]bool, n)
	}
	c.ID, c.Lanes, c.Tokens = s.next, len(s.lanes), tokens
	c.Inputs, c.Targets, c.Events = c.Inputs[:n], c.Targets[:n], c.Events[:0]
	for i, l := range s.lanes {
		l.last, l.hash = 0, emptyHash
		s.moved[i] = l
		if err := s.read(i, c.Inputs[i*tokens:(i+1)*tokens], c.Targets[i*tokens:(i+1)*tokens]); err != nil {
			return Chunk{}, err
		}
		c.Valid[i] = s.moved[i].last
	}
	c.Events = slices.Grow(c.Events, pulse.MaxLevels+1) // for Mark
	copy(s.lanes, s.moved)
	s.next++
	return *c, nil
}

// read fills one lane of the chunk, run by run, and moves the lane on. A run
// ends with the chunk, a document or the stretch.
func (s *Stream) read(i int, inputs, targets []int32) error {
	l, src := &s.moved[i], s.part.src
	for t := 0; t < len(inputs); {
		if l.at == l.hi { // behind the end of a session
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
		e := Event{Lane: i, At: t, Kind: DocumentEnd}
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
