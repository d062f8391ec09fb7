package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/workers"
)

// The levels at which emitted code differs, slowest first: of products, and of
// recurrences. A level more is a line here: it becomes a row of every table.
var (
	productLevels    = []cpu.Level{cpu.Portable, cpu.FMA, cpu.AVX2, cpu.AVX512}
	recurrenceLevels = productLevels
	modelLevels      = []cpu.Level{cpu.Portable, cpu.AVX2, cpu.AVX512}
)

// twinWidth is the greatest width at which the Go twin of the fused arithmetic
// is timed: it is there for its bits, and far slower than anything beside it.
const twinWidth = 64

// A level is a way in which the emitted Go computes.
type level struct {
	cpu.Level
}

// levels are those that this machine can run; lacks are lines about the others.
func levels(of []cpu.Level) (out []level, lacks []string) {
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
func (l level) timed(d int) bool { return l.Level != cpu.FMA || d <= twinWidth }

// at returns f at this level. Every task that runs emitted code is one.
func (l level) at(f func() (int64, error)) func() (int64, error) {
	return func() (int64, error) {
		restore, err := cpu.Force(l.Level)
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
