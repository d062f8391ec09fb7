package pulse

import "fmt"

// Unit is what the periods of a schedule count.
type Unit uint8

// The units. The zero Unit is chunks.
const (
	Chunks Unit = iota // calls, of however many tokens
	Tokens             // tokens, in however many calls
)

// String returns the unit in words.
func (u Unit) String() string {
	switch u {
	case Chunks:
		return "chunks"
	case Tokens:
		return "tokens"
	}
	return fmt.Sprintf("invalid unit %d", uint8(u))
}

// UnitOf is the inverse of String. The error lists the units.
func UnitOf(name string) (Unit, error) {
	for u := Chunks; u <= Tokens; u++ {
		if u.String() == name {
			return u, nil
		}
	}
	return 0, fmt.Errorf("pulse: there is no unit %q; there are %v and %v", name, Chunks, Tokens)
}

// A Schedule is the periods of the levels, the fastest first, in a unit. The
// zero Schedule is one level that is always active.
type Schedule struct {
	Unit    Unit
	Periods []int
}

// String prints a schedule as "1 8 64 chunks".
func (s Schedule) String() string {
	text := ""
	for _, p := range s.periods() {
		text += fmt.Sprint(p, " ")
	}
	return text + s.Unit.String()
}

// periods are those of the schedule, [1] where it has none.
func (s Schedule) periods() []int {
	if len(s.Periods) == 0 {
		return []int{1}
	}
	return s.Periods
}

// Check reports what is wrong with a schedule: its unit or, as CheckPeriods
// says, its periods.
func (s Schedule) Check() error {
	if s.Unit > Tokens {
		return fmt.Errorf("pulse: %v, want %v or %v", s.Unit, Chunks, Tokens)
	}
	return CheckPeriods(s.periods())
}

// First returns the pulse of the schedule's first chunk: step 0, every level
// active. It panics where phase, unit or periods are invalid.
func (s Schedule) First(phase Phase) Pulse {
	switch {
	case phase < Build || phase > Stream:
		panic(badPhase)
	case s.Unit > Tokens:
		panic(badUnit)
	case CheckPeriods(s.periods()) != nil:
		panic(badPeriods)
	}
	p := Pulse{levels: uint8(len(s.periods())), unit: s.Unit, phase: phase}
	for l, n := range s.periods() {
		p.periods[l] = uint32(n)
	}
	p.active = p.due()
	return p
}

// Schedule returns the schedule that a pulse follows.
func (p Pulse) Schedule() Schedule {
	s := Schedule{Unit: p.unit}
	for l := range p.Levels() {
		s.Periods = append(s.Periods, p.Period(l))
	}
	return s
}

// maxPeriod is the longest period.
const maxPeriod = 1 << 30

// CheckPeriods reports what is wrong with the periods of a configuration: one
// to eight levels, the first with period 1, each a multiple of the one before.
// The error says which periods would do.
func CheckPeriods(periods []int) error {
	if n := len(periods); n < 1 || n > MaxLevels {
		return fmt.Errorf("pulse: %d levels, want 1 to %d", n, MaxLevels)
	}
	last := 1
	for l, p := range periods {
		switch {
		case l == 0 && p != 1:
			return fmt.Errorf("pulse: level 0 has period %d, want 1: the fastest level is active on every chunk", p)
		case p < last:
			return fmt.Errorf("pulse: level %d has period %d, less than level %d's %d: order the levels from the fastest to the slowest", l, p, l-1, last)
		case p > maxPeriod:
			return fmt.Errorf("pulse: level %d has period %d, want at most %d", l, p, maxPeriod)
		case p%last != 0:
			below := p - p%last
			return fmt.Errorf("pulse: level %d has period %d, which level %d's period %d does not divide: take %d or %d", l, p, l-1, last, below, below+last)
		}
		last = p
	}
	return nil
}
