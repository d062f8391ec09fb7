package progress

import "time"

// A Meter measures the speed of work: the average, and the slowest interval. An
// interval is as many pieces of work as take a second, so that the worst speed is not
// that of a single slow piece; time that is not passed to Add does not count.
type Meter struct {
	units, time     float64
	partial, passed float64 // of the interval that is not complete
	worst           float64
}

// Add counts units of work and the time that they took.
func (m *Meter) Add(units int, took time.Duration) {
	m.units += float64(units)
	m.time += took.Seconds()
	m.partial += float64(units)
	if m.passed += took.Seconds(); m.passed < 1 {
		return
	}
	if r := m.partial / m.passed; m.worst == 0 || r < m.worst {
		m.worst = r
	}
	m.partial, m.passed = 0, 0
}

// Average is units per second, 0 without time.
func (m *Meter) Average() float64 {
	if m.time == 0 {
		return 0
	}
	return m.units / m.time
}

// Worst is the speed of the slowest interval, or the average as long as none is
// complete.
func (m *Meter) Worst() float64 {
	if m.worst == 0 {
		return m.Average()
	}
	return min(m.worst, m.Average())
}

// Time is the total time.
func (m *Meter) Time() time.Duration { return time.Duration(m.time * float64(time.Second)) }
