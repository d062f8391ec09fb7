package stream

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// EventKind says what happens between two tokens.
type EventKind uint8

// The kinds. The zero kind is invalid. The first three belong to a slot, whose
// context ends there; the last two come from the pulse and belong to all slots.
const (
	_             EventKind = iota
	DocumentEnd             // the next token begins another document
	Wrap                    // the slot continues at the start of its range; a document end as well
	SessionEnd              // the slot has no further tokens; a document end as well
	ChunkBoundary           // a level's own chunk begins
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

// AllSlots is the slot of an event that comes from the pulse.
const AllSlots = -1

// An Event happens before token At of a slot's chunk; At is the chunk's length if
// it happens after the last token.
type Event struct {
	Slot, At int
	Kind     EventKind
	Level    int // of a ChunkBoundary
}

// Mark puts the events of a pulse into the chunk that is read at it: a
// ChunkBoundary for each level whose own chunk begins, level 0 first, and a
// FrequencySync after them if that is every level. They happen before token 0 of
// all slots. Marks of an earlier call are replaced. Mark allocates nothing in a
// chunk that a stream has made.
func (c *Chunk) Mark(p pulse.Pulse) {
	n := len(c.Events)
	for n > 0 && c.Events[n-1].Slot == AllSlots {
		n--
	}
	c.Events = c.Events[:n]
	for level := range p.Levels() {
		if p.Boundary(level) {
			c.Events = append(c.Events, Event{Slot: AllSlots, Kind: ChunkBoundary, Level: level})
		}
	}
	if p.Levels() > 0 && len(c.Events)-n == p.Levels() {
		c.Events = append(c.Events, Event{Slot: AllSlots, Kind: FrequencySync})
	}
}
