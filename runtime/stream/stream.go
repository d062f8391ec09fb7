package stream

import "fmt"

// Ignore is the target where there is nothing to predict: behind the last byte
// of a document or of a lane.
const Ignore int32 = -1

// Panic messages for misuse by the caller.
const (
	BadLanes  = "stream: a stream has at least one lane"
	BadTokens = "stream: a chunk has at least one token"
)

// EventKind says what happens between two tokens.
type EventKind uint8

// The kinds. The zero kind is invalid.
const (
	_           EventKind = iota
	DocumentEnd           // the next token begins another document
	Wrap                  // the lane goes on at its start; a document end as well
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case DocumentEnd:
		return "document end"
	case Wrap:
		return "wrap"
	}
	return fmt.Sprintf("invalid event %d", uint8(k))
}

// An Event lies before token At of a lane's chunk; At is the chunk's length if
// it lies behind the last.
type Event struct {
	Lane, At int
	Kind     EventKind
}

// A Chunk is what all lanes read at one pulse. Lane l has the elements
// [l·Tokens, (l+1)·Tokens) of Inputs and Targets. It is valid until the next
// call of Next.
type Chunk struct {
	ID      uint64 // counts from 0
	Lanes   int
	Tokens  int     // per lane
	Inputs  []int32 // in [0, Vocab)
	Targets []int32 // the next input, or Ignore
	Events  []Event // by lane, then by place
}

// A Stream walks a part of a text in lanes. It serves one goroutine.
type Stream struct {
	part  Part
	lanes []lane
	next  uint64 // id of the next chunk
	chunk Chunk
}

// A lane is one stretch [lo, hi) of the text and where it stands.
type lane struct {
	lo, hi, at int
	last       int // length of the last chunk, 0 before the first
}

// New returns a stream over a part with the given number of lanes, each at the
// start of its stretch. The error wraps ErrTooShort if a lane would have less
// than two bytes. New panics with BadLanes.
func New(p Part, lanes int) (*Stream, error) {
	if lanes < 1 {
		panic(BadLanes)
	}
	if p.Len() < 2*lanes {
		return nil, fmt.Errorf("%w: %d lanes over %d bytes of %s, want two bytes a lane", ErrTooShort, lanes, p.Len(), p.text.name)
	}
	s := &Stream{part: p, lanes: make([]lane, lanes)}
	each, rest := p.Len()/lanes, p.Len()%lanes
	at := p.lo
	for i := range s.lanes {
		n := each
		if i < rest {
			n++
		}
		s.lanes[i] = lane{lo: at, hi: at + n, at: at}
		at += n
	}
	return s, nil
}

// Lanes returns the number of lanes.
func (s *Stream) Lanes() int { return len(s.lanes) }

// Left returns how many tokens a lane can read before it wraps.
func (s *Stream) Left(lane int) int { return s.lanes[lane].hi - s.lanes[lane].at }

// Next returns the next chunk of the given number of tokens per lane. It
// allocates nothing once chunks of that length were made. It panics with
// BadTokens.
func (s *Stream) Next(tokens int) Chunk {
	if tokens < 1 {
		panic(BadTokens)
	}
	n := len(s.lanes) * tokens
	c := &s.chunk
	if cap(c.Inputs) < n {
		c.Inputs, c.Targets = make([]int32, n), make([]int32, n)
	}
	c.ID, c.Lanes, c.Tokens = s.next, len(s.lanes), tokens
	c.Inputs, c.Targets, c.Events = c.Inputs[:n], c.Targets[:n], c.Events[:0]
	for i := range s.lanes {
		s.read(i, c.Inputs[i*tokens:(i+1)*tokens], c.Targets[i*tokens:(i+1)*tokens])
	}
	s.next++
	return *c
}

// read fills one lane of the chunk and moves the lane on.
func (s *Stream) read(i int, inputs, targets []int32) {
	l := &s.lanes[i]
	text := s.part.text
	for t := range inputs {
		inputs[t] = int32(text.data[l.at])
		event := EventKind(0)
		switch {
		case l.at+1 == l.hi:
			event = Wrap
		case text.endsAfter(l.at):
			event = DocumentEnd
		}
		l.at++
		if event == Wrap {
			l.at = l.lo
		}
		if event == 0 {
			targets[t] = int32(text.data[l.at])
			continue
		}
		targets[t] = Ignore
		s.chunk.Events = append(s.chunk.Events, Event{Lane: i, At: t + 1, Kind: event})
	}
	l.last = len(inputs)
}
