package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// The levels at which emitted code differs, slowest first: of products, and of
// recurrences. A level more is a line here: it becomes a row of every table.
var (
	productLevels    = cpu.Targets()
	recurrenceLevels = productLevels
	modelLevels      = slices.DeleteFunc(cpu.Targets(), func(l cpu.Target) bool { return l == cpu.FMA })
)

// twinWidth is the greatest width at which the Go twin of the fused arithmetic
// is timed: it is there for its bits, and far slower than anything else.
const twinWidth = 64

// A level is a way in which the emitted Go computes.
type level struct {
	cpu.Target
}

// levels are those that this machine can run; lacks are lines about the others.
func levels(of []cpu.Target) (out []level, lacks []string) {
	for _, l := range of {
		restore, err := cpu.Force(l)
		restore()
		if err != nil {
			lacks = append(lacks, fmt.Sprintf("level %s: %v", l, err))
			continue
		}
		out = append(out, level{l})
	}
	return out, lacks
}

const goPrefix = "Go "

// variant is the level's name in tables.
func (l level) variant() string { return goPrefix + l.String() }

// timed reports whether the level is worth timing at a width.
func (l level) timed(d int) bool { return l.Target != cpu.FMA || d <= twinWidth }

// at returns f at this level. Every task that runs emitted code is one.
func (l level) at(f func() (int64, error)) func() (int64, error) {
	return func() (int64, error) {
		restore, err := cpu.Force(l.Target)
		if err != nil {
			return 0, err
		}
		defer restore()
		return f()
	}
}

// fastest is the variant of the fastest level among variants, whose order is
// that of levels; "" if there is none.
func fastest(variants []string) (last string) {
	for _, v := range variants {
		if strings.HasPrefix(v, goPrefix) {
			last = v
		}
	}
	return last
}

// setThreads bounds how many threads the emitted code uses.
func setThreads(n int) {
	workers.SetCount(n)
	if runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
}

// Two threads are measured in a run of their own, by the clock on the wall, for
// processor time does not fall with threads. One thread is measured there in the
// same way. That a short slice runs once before it is measured also keeps the
// waking of threads out of it.

// threadVariant names a variant with its threads.
func threadVariant(variant string, threads int) string {
	if threads == 1 {
		return variant + ", 1 thread"
	}
	return variant + ", 2 threads"
}

// enough reports whether the machine can show it.
func enough() bool { return runtime.NumCPU() >= 2 }

// threadCounts are the numbers of threads that are measured here.
func threadCounts() []int {
	if enough() {
		return []int{1, 2}
	}
	return []int{1}
}

// walled is the task of a call of the emitted code on the given number of threads.
func walled(l level, threads int, r runner) func() (int64, error) {
	return l.at(warmed(func(warm int) (int64, error) {
		setThreads(threads)
		defer setThreads(1)
		for range warm {
			r.Run()
		}
		start := time.Now()
		r.Run()
		return time.Since(start).Nanoseconds(), nil
	}))
}

// shares reports whether a variant of C is timed on two threads, and can be.
func shares(v ccVariant, d int) bool {
	mapped := strings.HasPrefix(v.name, "cols32") || strings.HasPrefix(v.name, "rows × time "+fastFlags)
	return mapped && d/2 >= v.multiple
}

// threadTasks are the slices of the delta rule on one and on two threads.
func (r *recurrence) threadTasks() (out []task) {
	n := sliceTokens(tokens, r.d, segment)
	for _, pass := range passNames {
		what := at(passOf(r.rule, pass), r.d)
		for _, threads := range []int{1, 2} {
			for i, p := range r.go32 {
				for slice, run := range p.slices(pass) {
					l := r.levels[i]
					out = append(out, task{what, slice, threadVariant(l.variant(), threads), walled(l, threads, run)})
				}
			}
			if r.c == nil {
				continue
			}
			for _, v := range r.c.fit(pass, r.d) {
				for start := 0; shares(v, r.d) && start < tokens; start += n {
					out = append(out, task{what, start / n, threadVariant(v.String(), threads), warmed(func(warm int) (int64, error) {
						t, err := r.c.run(r.series, v, start, min(n, tokens-start), threads, warm)
						return t.wall, err
					})})
				}
			}
		}
	}
	return out
}

// threadTasks are the products by the emitted code on one and on two threads.
func (p *projection) threadTasks() (out []task) {
	for form, prod := range products[float32]() {
		for _, threads := range []int{1, 2} {
			for _, l := range p.levels {
				out = append(out, task{at(prod.name, p.d), 0, threadVariant(l.variant(), threads), walled(l, threads, p.runner(form))})
			}
		}
	}
	return out
}
