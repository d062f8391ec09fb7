package progress

import "time"

// A Meter measures how fast work goes: on the average, and in its slowest
// stretch. A stretch is as many pieces of work as take a second, so that the
// worst is no accident of a single piece; time that is not given to it, as that
// of saving, does not count.
type Meter struct {
	units, time     float64
	stretch, passed float64 // of the stretch that is not complete
	worst           float64
}

// Add counts units of work that took a time.
func (m *Meter) Add(units int, took time.Duration) {
	m.units += float64(units)
	m.time += took.Seconds()
	m.stretch += float64(units)
	if m.passed += took.Seconds(); m.passed < 1 {
		return
	}
	if r := m.stretch / m.passed; m.worst == 0 || r < m.worst {
		m.worst = r
	}
	m.stretch, m.passed = 0, 0
}

// Average is units in a second, 0 if there was no time.
func (m *Meter) Average() float64 {
	if m.time == 0 {
		return 0
	}
	return m.units / m.time
}

// Worst is that of the slowest stretch, or the average as long as none is
// complete.
func (m *Meter) Worst() float64 {
	if m.worst == 0 {
		return m.Average()
	}
	return min(m.worst, m.Average())
}

// Time is the time that was given to it.
func (m *Meter) Time() time.Duration { return time.Duration(m.time * float64(time.Second)) }
