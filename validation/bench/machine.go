package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// machine describes where a run took place, in words.
func machine() string {
	words := []string{fmt.Sprintf("%d CPUs", runtime.NumCPU())}
	if runtime.NumCPU() == 1 {
		words[0] = "1 CPU"
	}
	if name := cpuName(); name != "" {
		words[0] += ", " + name
	}
	words = append(words, runtime.GOOS+" "+runtime.GOARCH, strings.Replace(runtime.Version(), "go", "Go ", 1))
	if out, err := exec.Command("gcc", "-dumpfullversion").Output(); err == nil {
		words = append(words, "gcc "+strings.TrimSpace(string(out)))
	}
	if load := load(); load != "" {
		words = append(words, "load "+load+" at the start")
	}
	return strings.Join(words, "; ")
}

// cpuName is the processor's name and its widest vectors, where Linux tells.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	field := func(key string) string {
		for line := range strings.Lines(string(text)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
				return strings.TrimSpace(v)
			}
		}
		return ""
	}
	name := field("model name")
	flags := " " + field("flags") + " "
	for _, f := range []struct{ flag, name string }{{" avx512f ", "AVX-512"}, {" avx2 ", "AVX2"}} {
		if strings.Contains(flags, f.flag) {
			return name + " with " + f.name
		}
	}
	return name
}

// load is the number of processes that wanted to run during the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// The peaks of the core are measured among everything else, because its clock
// moves: a loop of fused multiply-adds that never leave the registers, and one of loads from
// the second-level cache.

const (
	peakName   = "peak"
	loadPrefix = "loads " // of the names of the second kind
	peakSlices = 8        // in each round
	peakRounds = 60000    // of the loop: as long as a slice of fast code
)

// peakTasks are the loops of validation/bench/c for the widths of vectors that this CPU
// has. flops is how many operations a slice of each is, or bytes.
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
// nanosecond (GFLOP/s), or in bytes (GB/s); zero where it was not measured.
type peakRate struct {
	name         string
	median, best float64
}

// peaks are the measured ones of operations or of loads, the widest vectors first.
func (r *report) peaks(of *times, loads bool) (out []peakRate) {
	for _, name := range of.variants(peakName) {
		if strings.HasPrefix(name, loadPrefix) != loads {
			continue
		}
		var all []int64
		for _, s := range of.slices(peakName, name) {
			all = append(all, s...)
		}
		all = slices.DeleteFunc(all, func(ns int64) bool { return ns == skipped })
		out = append(out, peakRate{name, r.peakFlops[name] / median(all), r.peakFlops[name] / float64(slices.Min(all))})
	}
	return out
}

// peak is the one that shares are of, or zero.
func (r *report) peak(of *times, loads bool) peakRate {
	return slices.Concat(r.peaks(of, loads), []peakRate{{}})[0]
}

// share is which part of the peak a variant reaches, counting only the
// operations that the recurrence or product needs; zero if there is no peak.
func (r *report) share(name, variant string, d int) float64 {
	ns := r.core.sum(at(name, d), variant)
	peak := r.peak(r.core, false).median
	if peak == 0 || !(ns > 0) {
		return 0
	}
	return flops(name, d) / ns / peak
}

func (p peakRate) String() string {
	unit := "GFLOP/s"
	if strings.HasPrefix(p.name, loadPrefix) {
		unit = "GB/s"
	}
	return fmt.Sprintf("%s %.0f %s (best %.0f)", p.name, p.median, unit, p.best)
}
