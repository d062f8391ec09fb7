// Package report writes what happens in a build: for people and for programs on
// the standard output, as JSON lines and as TensorBoard's events in files, and
// as plots.
//
// Each is a Sink and is told the same. A sink that cannot write says so, and the
// build ends: a report that has silently stopped is worse than none.
package report

import (
	"errors"
	"math"

	"github.com/nl-hecate/hecate/command/internal/engine"
)

// A Sink is told what happens.
type Sink interface {
	// Begin is told before the first step of this attempt; done steps were made
	// before, with the given losses.
	Begin(info engine.Info, bits []float64) error
	Step(Step) error
	HeldOut(Measured) error
	// Flush is called before each checkpoint: what was told must be on its way
	// to the disk.
	Flush() error
	Close() error
}

// Step is what an update did, and how fast it goes.
type Step struct {
	engine.Step
	Average, Worst float64   // tokens in a second
	Groups         []float64 // norms of gradients, as Groups of the info has them
}

// Measured is a held-out figure.
type Measured struct {
	Step int
	Bits float64 // per byte
}

// All are several sinks as one. Each is told, even where one before failed.
type All []Sink

func (a All) each(f func(Sink) error) (err error) {
	for _, s := range a {
		err = errors.Join(err, f(s))
	}
	return err
}

// Begin tells all of them.
func (a All) Begin(info engine.Info, bits []float64) error {
	return a.each(func(s Sink) error { return s.Begin(info, bits) })
}

// Step tells all of them.
func (a All) Step(x Step) error { return a.each(func(s Sink) error { return s.Step(x) }) }

// HeldOut tells all of them.
func (a All) HeldOut(x Measured) error { return a.each(func(s Sink) error { return s.HeldOut(x) }) }

// Flush flushes all of them.
func (a All) Flush() error { return a.each(Sink.Flush) }

// Close closes all of them.
func (a All) Close() error { return a.each(Sink.Close) }

// Groups names the groups whose gradients are reported together, and says to
// which each parameter belongs: levels where there are several, else blocks.
func Groups(params []engine.Param) (names []string, of []int) {
	levels := false
	for _, p := range params {
		levels = levels || p.Level > 0
	}
	at := map[string]int{}
	for _, p := range params {
		name := p.Block
		switch {
		case levels:
			name = "level " + string(rune('0'+p.Level)) // there are eight at most
		case name == "":
			name = "model"
		}
		i, ok := at[name]
		if !ok {
			i = len(names)
			at[name] = i
			names = append(names, name)
		}
		of = append(of, i)
	}
	return names, of
}

// Norms adds the norms of parameters to those of their groups.
func Norms(norms []float64, of []int, groups int) []float64 {
	out := make([]float64, groups)
	for i, x := range norms {
		out[of[i]] += float64(x * x)
	}
	for i, x := range out {
		out[i] = math.Sqrt(x)
	}
	return out
}
