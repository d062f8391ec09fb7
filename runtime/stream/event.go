package stream

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// EventKind says what happens between two tokens.
type EventKind uint8

// The kinds. The zero kind is invalid. The first three belong to a lane, whose
// context ends there; the last two come from the pulse and belong to all lanes.
const (
	_             EventKind = iota
	DocumentEnd             // the next token begins another document
	Wrap                    // the lane goes on at its start; a document end as well
	SessionEnd              // the lane has no further tokens; a document end as well
	ChunkBoundary           // the own chunk of a level begins
	FrequencySync           // the chunks of all levels begin together
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case DocumentEnd:
		return "document end"
	case Wrap:
		return "wrap"
	case SessionEnd:
		return "session end"
	case ChunkBoundary:
		return "chunk boundary"
	case FrequencySync:
		return "frequency sync"
	}
	return fmt.Sprintf("invalid event %d", uint8(k))
}

// AllLanes is the lane of an event that comes from the pulse.
const AllLanes = -1

// An Event lies before token At of a lane's chunk; At is the chunk's length if
// it lies behind the last.
type Event struct {
	Lane, At int
	Kind     EventKind
	Level    int // of a ChunkBoundary
}

// Mark puts the events of a pulse into the chunk that is read at it: a
// ChunkBoundary for each level whose own chunk begins, level 0 first, and a
// FrequencySync behind them if that is every level. They lie before token 0 of
// all lanes. Marks of an earlier call are replaced. Mark allocates nothing in a
// chunk that a stream has made.
func (c *Chunk) Mark(p pulse.Pulse) {
	n := len(c.Events)
	for n > 0 && c.Events[n-1].Lane == AllLanes {
		n--
	}
	c.Events = c.Events[:n]
	for level := range p.Levels() {
		if p.Boundary(level) {
			c.Events = append(c.Events, Event{Lane: AllLanes, Kind: ChunkBoundary, Level: level})
		}
	}
	if p.Levels() > 0 && len(c.Events)-n == p.Levels() {
		c.Events = append(c.Events, Event{Lane: AllLanes, Kind: FrequencySync})
	}
}
