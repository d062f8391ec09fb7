package gen

import (
	"runtime"
	"slices"
	"time"
)

// Stats are the time and the allocated memory of the passes of one run. The runtime
// counts allocations of the whole process, so a run with Stats takes one unit at a time.
// A nil Stats measures nothing.
type Stats struct{ Passes []PassStats }

// PassStats is what one pass took for all units together. What a unit that it needs
// takes is counted with it: the tests of a composition compile its parts.
type PassStats struct {
	Name  string
	Runs  int // units, or 1 for a pass over all pages
	Time  time.Duration
	Bytes uint64 // allocated
}

// measure runs a pass and counts what it takes.
func (s *Stats) measure(pass string, run func()) {
	if s == nil {
		run()
		return
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	run()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	i := slices.IndexFunc(s.Passes, func(p PassStats) bool { return p.Name == pass })
	if i < 0 {
		i = len(s.Passes)
		s.Passes = append(s.Passes, PassStats{Name: pass})
	}
	p := &s.Passes[i]
	p.Runs++
	p.Time += took
	p.Bytes += after.TotalAlloc - before.TotalAlloc
}
