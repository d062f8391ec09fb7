package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nl-hecate/hecate/validation/opticks"
)

// Question: on a text of five megabytes, in ten minutes on all cores, is a model with memory better than a transformer of
// PyTorch in the same time?
//
// The text is the first five megabytes of the Go sources of the toolchain, in the order of their paths, without tests. The models
// are those of 460,000 parameters of baseline.go, each at the rate that was best there, everything else as there, but with all cores for each,
// one after the other. The number of updates follows from a short run before: what a model reads in the time, so that its
// learning rate has fallen when the time is over. The time is that of the updates.
const (
	timedText   = 5_000_000
	timedTrials = 200 // updates of the run before
)

func timed(ctx context.Context, a asked) (r report, err error) {
	dir, err := os.MkdirTemp("", "timed")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "text")
	if err := opticks.GoSources(path, timedText); err != nil {
		return r, err
	}
	d, err := textOf(path, "Go sources of the toolchain "+runtime.Version())
	if err != nil {
		return r, err
	}
	cores := runtime.NumCPU()
	t, err := startTorch(ctx, a.python, path, 1, cores)
	if err != nil {
		return r, err
	}
	defer t.close()
	all := baselineSizes()
	s := all[len(all)-1]
	var rows [][]string
	for _, x := range []struct {
		*rival
		rate float64
	}{{s.rivals[0], 4e-3}, {s.rivals[len(s.rivals)-1], 2e-3}} {
		s.steps = timedTrials
		trial, err := s.run(ctx, d, t, 0, job{x.rival, x.rate, 1})
		if err != nil {
			return r, err
		}
		s.steps = int(a.minutes * 60 * trial.perSecond / (baselineBatch * baselineChunk))
		got, err := s.run(ctx, d, t, 0, job{x.rival, x.rate, 1})
		if err != nil {
			return r, err
		}
		tokens := s.steps * baselineBatch * baselineChunk
		took := time.Duration(float64(tokens) / got.perSecond * float64(time.Second)).Round(time.Second)
		progress("%s: %s bits per byte, %d tokens in %v", x.name, figure(got.figure()), tokens, took)
		cells := []string{x.name, fmt.Sprint(got.parameters), fmt.Sprintf("%.1f million", float64(tokens)/1e6), fmt.Sprintf("%.1f", float64(tokens)/(0.9*timedText)), took.String()}
		for _, m := range got.marks {
			cells = append(cells, figure(m))
		}
		rows = append(rows, cells)
	}
	r.say("# Ten minutes on five megabytes")
	r.say("`make timed` wrote this page: the two models for %g minutes each, on %d cores, one after the other. %s, %d bytes; the last tenth is held out, and counting single bytes gives %.3f bits per byte. The head of validation/experiments/timed.go has the rest.",
		a.minutes, cores, d.name, timedText, d.unigram)
	head := []string{"model", "parameters", "tokens", "epochs", "time"}
	for i := range baselineMarks {
		head = append(head, fmt.Sprintf("after %d/%d", i+1, baselineMarks))
	}
	r.table(head, rows)
	r.say("Bits per byte held out, at quarters of the time. One seed.")
	return r, nil
}
