package main

import (
	"fmt"
	"slices"
)

// The peak of the core is measured among everything else, because its clock
// moves: a loop of fused multiply-adds that never leave the registers.

const (
	peakName   = "peak"
	peakSlices = 8     // in each round
	peakRounds = 60000 // of the loop: as long as a slice of fast code
)

// peakTasks are the loops of bench/c for the widths of vectors that this CPU
// has. flops is how many operations a slice of each is.
func peakTasks(c *cc[float32]) (out []task, flops map[string]float64, err error) {
	flops = map[string]float64{}
	for i, name := range c.peaks {
		flop, _, err := c.peak(i, peakRounds)
		if err != nil {
			return nil, nil, err
		}
		flops[name] = flop
		for slice := range peakSlices {
			out = append(out, task{peakName, slice, name, func() (int64, error) {
				_, t, err := c.peak(i, peakRounds)
				return t.cpu, err
			}})
		}
	}
	return out, flops, nil
}

// A peakRate is the peak of one core in floating point operations per
// nanosecond (GFLOP/s); zero where it was not measured.
type peakRate struct {
	name         string
	median, best float64
}

// peaks are the measured ones, the widest vectors first.
func (r *report) peaks() (out []peakRate) {
	for _, name := range r.core.variants(peakName) {
		var all []int64
		for _, s := range r.core.slices(peakName, name) {
			all = append(all, s...)
		}
		all = slices.DeleteFunc(all, func(ns int64) bool { return ns == skipped })
		out = append(out, peakRate{name, r.peakFlops[name] / median(all), r.peakFlops[name] / float64(slices.Min(all))})
	}
	return out
}

// peak is the one that shares are of.
func (r *report) peak() peakRate {
	if all := r.peaks(); len(all) > 0 {
		return all[0]
	}
	return peakRate{}
}

// share is which part of the peak a variant reaches, counting only the
// operations that the recurrence or product needs; zero if there is no peak.
func (r *report) share(name, variant string, d int) float64 {
	ns := r.core.sum(at(name, d), variant)
	if r.peak().median == 0 || !(ns > 0) {
		return 0
	}
	return flops(name, d) / ns / r.peak().median
}

func (p peakRate) String() string {
	return fmt.Sprintf("%s %.0f GFLOP/s (best %.0f)", p.name, p.median, p.best)
}
