// Package report reports a build: on the standard output as text or JSON, in files as
// JSON lines and TensorBoard events, and as plots.
//
// Each is a Sink. A sink that cannot write ends the build: a report that has silently
// stopped is worse than none.
package report

import (
	"errors"
	"math"

	"github.com/nl-hecate/hecate/command/internal/engine"
)

// A Sink receives the events of a build.
type Sink interface {
	// Begin is called before the first step of this attempt; done steps were made
	// before, with the given losses.
	Begin(info engine.Info, bits []float64) error
	Step(Step) error
	HeldOut(Measured) error
	// Flush is called before each checkpoint and hands buffered output to the
	// operating system.
	Flush() error
	Close() error
}

// Step is the result of an update and the speed.
type Step struct {
	engine.Step
	Average, Worst float64   // tokens per second
	Groups         []float64 // norms of gradients, as Groups of the info has them
}

// Measured is a held-out loss.
type Measured struct {
	Step int
	Bits float64 // per byte
}

// All combines sinks. Each is called, even if an earlier one failed.
type All []Sink

func (a All) each(f func(Sink) error) (err error) {
	for _, s := range a {
		err = errors.Join(err, f(s))
	}
	return err
}

// Begin calls all sinks.
func (a All) Begin(info engine.Info, bits []float64) error {
	return a.each(func(s Sink) error { return s.Begin(info, bits) })
}

// Step calls all sinks.
func (a All) Step(x Step) error { return a.each(func(s Sink) error { return s.Step(x) }) }

// HeldOut calls all sinks.
func (a All) HeldOut(x Measured) error { return a.each(func(s Sink) error { return s.HeldOut(x) }) }

// Flush flushes all sinks.
func (a All) Flush() error { return a.each(Sink.Flush) }

// Close closes all sinks.
func (a All) Close() error { return a.each(Sink.Close) }

// Groups returns the names of the groups whose gradients are reported together, and
// the group of each parameter: the levels if there is more than one, else the blocks.
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
