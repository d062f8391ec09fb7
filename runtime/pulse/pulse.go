// Package pulse holds the clock that every part of a model sees.
//
// A Pulse is a value: parts read it and cannot change it, and the driver gets
// the next one from Next. One pulse is one chunk of tokens. A level with
// period n is active on the chunks whose number is a multiple of n; the chunk
// on which a level is active is also the one on which that level's own, longer
// chunk begins.
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
	BadPhase   = "pulse: phase is not build, test or stream"
	BadTokens  = "pulse: a chunk has at least one token"
	BadPeriods = "pulse: periods were not checked with CheckPeriods"
	ZeroPulse  = "pulse: the zero Pulse has no next; start with First"
)

// A Pulse is the time of one chunk.
//
//hecate:clock
//hecate:nozero
type Pulse struct {
	step     uint64 // chunks before this one
	position uint64 // tokens before this chunk
	periods  [MaxLevels]uint32
	levels   uint8
	active   uint8 // bit l: level l is active
	phase    Phase
}

// CheckPeriods reports what is wrong with the periods of a configuration: one
// to eight levels, the first with period 1, each a multiple of the one before.
func CheckPeriods(periods []int) error {
	if n := len(periods); n < 1 || n > MaxLevels {
		return fmt.Errorf("pulse: %d levels, want 1 to %d", n, MaxLevels)
	}
	last := 1
	for l, p := range periods {
		switch {
		case l == 0 && p != 1:
			return fmt.Errorf("pulse: level 0 has period %d, want 1", p)
		case p < last || p%last != 0 || p > 1<<30:
			return fmt.Errorf("pulse: level %d has period %d, want a multiple of level %d's %d", l, p, l-1, last)
		}
		last = p
	}
	return nil
}

// First returns the pulse of the first chunk: step 0, every level active. The
// periods, in chunks, must have passed CheckPeriods; none means one level that
// is always active. First panics with BadPhase or BadPeriods.
func First(phase Phase, periods ...int) Pulse {
	if phase < Build || phase > Stream {
		panic(BadPhase)
	}
	if len(periods) == 0 {
		periods = []int{1}
	}
	if CheckPeriods(periods) != nil {
		panic(BadPeriods)
	}
	p := Pulse{levels: uint8(len(periods)), phase: phase}
	for l, n := range periods {
		p.periods[l] = uint32(n)
	}
	p.active = p.due()
	return p
}

// Next returns the pulse of the chunk that follows this one of the given number
// of tokens. The receiver is unchanged.
//
//hecate:advances
func (p Pulse) Next(tokens int) Pulse {
	if p.phase == 0 {
		panic(ZeroPulse)
	}
	if tokens < 1 {
		panic(BadTokens)
	}
	p.step++
	p.position += uint64(tokens)
	p.active = p.due()
	return p
}

// due returns the mask of the levels whose period divides the step.
func (p Pulse) due() (mask uint8) {
	for l := range p.levels {
		if p.step%uint64(p.periods[l]) == 0 {
			mask |= 1 << l
		}
	}
	return mask
}

// At returns the pulse at a step and a position, for a run resumed from a
// checkpoint.
//
//hecate:advances
func (p Pulse) At(step, position uint64) Pulse {
	p.step, p.position = step, position
	p.active = p.due()
	return p
}

// Step returns the number of chunks before this one.
func (p Pulse) Step() uint64 { return p.step }

// Position returns the number of tokens before this chunk.
func (p Pulse) Position() uint64 { return p.position }

// Phase returns what the run is for.
func (p Pulse) Phase() Phase { return p.phase }

// Levels returns the number of levels, 1 to MaxLevels.
func (p Pulse) Levels() int { return int(p.levels) }

// Period returns a level's period in chunks.
func (p Pulse) Period(level int) int { return int(p.periods[level]) }

// Active reports whether a level is active on this chunk.
func (p Pulse) Active(level int) bool { return p.active>>level&1 == 1 }

// Mask returns the active levels as bits, level 0 lowest.
func (p Pulse) Mask() uint8 { return p.active }

// Boundary reports whether a level's own chunk begins with this chunk. Under
// fixed periods that is the chunk on which the level is active.
func (p Pulse) Boundary(level int) bool { return p.Active(level) }
