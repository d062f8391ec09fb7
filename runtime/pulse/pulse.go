// Package pulse holds the clock that every part of a model sees.
//
// A Pulse is a value: parts read it and cannot change it, and the driver gets
// the next one from Next. One pulse is one chunk of tokens. It says how many
// chunks and tokens went before, how many tokens the chunk has, which levels are
// active on it, where the longer chunk of each level began, and what the run is
// for.
//
// A level has a period C in the unit of its schedule. In chunks it is active on
// the chunks whose number is a multiple of C. In tokens it is active on a chunk
// that holds the beginning of one of the level's own chunks: a token whose
// number is a multiple of C. So a call of 512 tokens makes every level of a
// shorter period active, and one of 3 tokens a level of period 8 on every second
// or third call. Cut into calls of one token, the second unit does what the
// first one does.
package pulse

import "fmt"

// MaxLevels is the number of levels a Pulse has room for.
const MaxLevels = 8

// Phase says what a run is for. It changes which parts of a run are kept, never
// what a forward computes.
type Phase uint8

// The phases. The zero Phase is invalid.
const (
	_      Phase = iota
	Build        // gradients persist: parameters are updated
	Test         // a measured run: nothing persists
	Stream       // context persists, parameters do not change
)

// String returns the phase in lower case.
func (p Phase) String() string {
	switch p {
	case Build:
		return "build"
	case Test:
		return "test"
	case Stream:
		return "stream"
	}
	return fmt.Sprintf("invalid phase %d", uint8(p))
}

// Panic messages for misuse by the caller.
const (
	badPhase   = "pulse: phase is not build, test or stream"
	badTokens  = "pulse: a chunk has at least one token"
	badPeriods = "pulse: periods were not checked with CheckPeriods"
	badUnit    = "pulse: unit is neither chunks nor tokens"
	zeroPulse  = "pulse: the zero Pulse has no next; start with First"
)

// A Pulse is the time of one chunk. Two pulses are equal (==) if everything
// about them is.
//
//hecate:clock
//hecate:nozero
type Pulse struct {
	step     uint64 // chunks before this one
	position uint64 // tokens before this chunk
	tokens   uint32 // of this chunk; 0: not cut yet, taken as 1
	periods  [MaxLevels]uint32
	levels   uint8
	active   uint8 // bit l: level l is active
	unit     Unit
	phase    Phase
}

// First returns the pulse of the first chunk of a schedule in chunks: step 0,
// every level active. The periods must have passed CheckPeriods; none means one
// level that is always active. First panics for an invalid phase or invalid periods.
func First(phase Phase, periods ...int) Pulse {
	return Schedule{Unit: Chunks, Periods: periods}.First(phase)
}

// Of returns the pulse of a chunk of the given number of tokens. The receiver, whose chunk
// has not been cut yet, is unchanged. Of panics for the zero Pulse and unless tokens is positive.
func (p Pulse) Of(tokens int) Pulse {
	if p.phase == 0 {
		panic(zeroPulse)
	}
	if tokens < 1 || tokens > maxTokens {
		panic(badTokens)
	}
	p.tokens = uint32(tokens)
	p.active = p.due()
	return p
}

const maxTokens = 1 << 30

// Next returns the pulse of the chunk that follows this one of the given number
// of tokens. The receiver is unchanged.
//
//hecate:advances
func (p Pulse) Next(tokens int) Pulse {
	if p.phase == 0 {
		panic(zeroPulse)
	}
	if tokens < 1 || tokens > maxTokens {
		panic(badTokens)
	}
	return p.At(p.step+1, p.position+uint64(tokens))
}

// At returns the pulse at a step and a position, for a run resumed from a
// checkpoint. Its chunk is not cut yet.
func (p Pulse) At(step, position uint64) Pulse {
	p.step, p.position, p.tokens = step, position, 0
	p.active = p.due()
	return p
}

// In returns the same time in another phase. It panics for an invalid phase.
func (p Pulse) In(phase Phase) Pulse {
	if phase < Build || phase > Stream {
		panic(badPhase)
	}
	p.phase = phase
	return p
}

// due returns the mask of the levels that are active.
func (p Pulse) due() (mask uint8) {
	at := p.now()
	for l := range p.Levels() {
		if p.began(l) >= at {
			mask |= 1 << l
		}
	}
	return mask
}

// now is where the chunk begins in the unit of the schedule.
func (p Pulse) now() uint64 {
	if p.unit == Tokens {
		return p.position
	}
	return p.step
}

// Step returns the number of chunks before this one.
func (p Pulse) Step() uint64 { return p.step }

// Position returns the number of tokens before this chunk.
func (p Pulse) Position() uint64 { return p.position }

// Tokens returns the number of tokens of this chunk, 1 while it is not cut.
func (p Pulse) Tokens() int { return max(int(p.tokens), 1) }

// Phase returns what the run is for.
func (p Pulse) Phase() Phase { return p.phase }

// Unit returns what the periods count.
func (p Pulse) Unit() Unit { return p.unit }

// Levels returns the number of levels, 1 to MaxLevels.
func (p Pulse) Levels() int { return int(p.levels) }

// Period returns a level's period in the unit of the schedule.
func (p Pulse) Period(level int) int { return int(p.periods[level]) }

// Active reports whether a level is active on this chunk. A level that the
// schedule does not have is not.
func (p Pulse) Active(level int) bool { return p.active>>level&1 == 1 }

// Mask returns the active levels as bits, level 0 lowest.
func (p Pulse) Mask() uint8 { return p.active }

// began returns where the level's own chunk that is under way at the end of this
// chunk began: a multiple of its period, counted in the unit of the schedule. It
// is within this chunk if and only if the level is active. Of a level with a
// period below the chunk's tokens it is the last beginning of several.
func (p Pulse) began(level int) uint64 {
	last := p.now()
	if p.unit == Tokens {
		last += uint64(p.Tokens() - 1)
	}
	return last - last%uint64(p.periods[level])
}

// Boundary reports whether a level's own chunk begins within this chunk. Under
// fixed periods that is when the level is active.
func (p Pulse) Boundary(level int) bool { return p.began(level) >= p.now() }
