// Package drive runs a build from its first step, or from a checkpoint, to its end,
// and writes its checkpoints and reports.
//
// After every step it decides whether to continue, in this order: a signal, the time
// limit, the number of steps. A build that ends early is saved like a complete one,
// and that is not an error. A step that fails ends the build with its error; earlier
// checkpoints stay as they are.
package drive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/command/internal/report"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
)

// A Run is one build.
type Run struct {
	Config  *config.Config
	Builder engine.Builder
	Files   Files
	Resume  string // the command that resumes it, for the line at the end
	Again   string // the command without its resume
	Resumed string // the checkpoint that it resumes from, "" for none
	notes   [][2]string
	console *report.Console
	plots   *report.Plots
	sinks   report.All
	meter   progress.Meter
	groups  []int
	names   int
	start   time.Time
	saved   string   // the newest checkpoint
	passing string   // the checkpoint that the next one replaces
	wrote   []string // paths, without the final checkpoint
	best    record
}

// Say keeps a line to be printed when the build begins.
func (r *Run) Say(word, format string, args ...any) {
	r.notes = append(r.notes, [2]string{word, fmt.Sprintf(format, args...)})
}

// Build runs a build to its end. It closes the builder.
func Build(ctx context.Context, r *Run, w io.Writer) (err error) {
	defer func() { err = errors.Join(err, r.Builder.Close()) }()
	r.start, r.saved = time.Now(), r.Resumed
	c := r.Config
	info := r.Builder.Info()
	names, groups := report.Groups(info.Params)
	r.groups, r.names = groups, len(names)
	r.console = &report.Console{W: w, JSON: c.Report.LogFormat == "json", Steps: r.steps(), Limit: c.Build.TimeLimit, Interval: c.Report.Interval}
	r.plots = &report.Plots{Stem: r.Files.Path("")}
	r.sinks = report.All{r.console, r.plots}
	if err := os.MkdirAll(r.Files.Dir, 0o755); err != nil {
		return err
	}
	if t := r.Builder.Tokenizer(); t != nil { // so that the folder is complete
		if err := checkpoint.WriteFile(r.Files.Path("-tokenizer.json"), t); err != nil {
			return err
		}
		r.wrote = append(r.wrote, r.Files.Path("-tokenizer.json"))
	}
	if c.Report.JSONL {
		r.sinks = append(r.sinks, &report.JSONL{Path: r.Files.Path(".jsonl")})
		r.wrote = append(r.wrote, r.Files.Path(".jsonl"))
	}
	if c.Report.TensorBoard {
		r.sinks = append(r.sinks, &report.Board{Dir: filepath.Join(r.Files.Dir, "tensorboard", r.Files.Stem)})
	}
	defer func() { err = errors.Join(err, r.sinks.Close()) }()
	for _, n := range r.notes {
		if err := r.console.Note(n[0], "%s", n[1]); err != nil {
			return err
		}
	}
	if err := r.sinks.Begin(info, r.Builder.Bits()); err != nil {
		return err
	}
	if r.complete() {
		if err := r.console.Note("note", "%d steps are done already, of %d", r.Builder.Done(), r.steps()); err != nil {
			return err
		}
	}
	why, err := r.run(ctx)
	if err != nil {
		return r.failed(err)
	}
	if why != "" {
		return r.stopped(ctx, why)
	}
	return r.finish(ctx)
}

// steps is the number of steps of the build, 0 while only the time limit bounds it.
func (r *Run) steps() int {
	return cmp.Or(r.Builder.Schedule().Steps, r.Config.TotalSteps())
}

// complete reports whether all steps are done.
func (r *Run) complete() bool { return r.steps() > 0 && r.Builder.Done() >= r.steps() }

// run makes the steps. why is the reason of an early end, or "".
func (r *Run) run(ctx context.Context) (why string, err error) {
	if _, ok := r.Builder.Before(); !ok && r.Builder.Done() == 0 {
		before, err := r.Builder.HeldOut(ctx)
		if err != nil {
			return r.cut(ctx, err)
		}
		if err := errors.Join(r.console.Before(before), r.sinks.HeldOut(report.Measured{Bits: before})); err != nil {
			return "", err
		}
	}
	if r.best, err = r.bestSoFar(); err != nil {
		return "", err
	}
	c := r.Config.Build
	first, began := r.Builder.Done(), time.Now()
	for !r.complete() {
		if why := r.over(ctx); why != "" {
			return why, nil
		}
		if err := r.step(); err != nil {
			return "", err
		}
		if err := r.decide(r.Builder.Done()-first, time.Since(began)); err != nil {
			return "", err
		}
		if r.complete() {
			break
		}
		n := r.Builder.Done()
		if c.EvaluateEvery > 0 && n%c.EvaluateEvery == 0 {
			if err := r.measure(ctx); err != nil {
				return r.cut(ctx, err)
			}
		}
		if err := r.checkpoint(n); err != nil {
			return "", err
		}
	}
	return "", r.console.Built(&r.meter)
}

// checkpoint saves the state at every so many steps. Without a number of its own a build
// keeps the last such checkpoint until it ends.
func (r *Run) checkpoint(n int) error {
	c := r.Config.Build
	every, path := c.CheckpointEvery, r.Files.At(n)
	if every == 0 {
		every = max(minEvery, r.steps()/10)
	}
	if n%every != 0 {
		return nil
	}
	if err := r.save(path); err != nil {
		return err
	}
	if c.CheckpointEvery == 0 {
		return r.pass(path)
	}
	return r.Files.prune(n, c.Keep)
}

// minEvery is the least number of steps between two checkpoints of a build without a number
// of its own.
const minEvery = 200

// pass removes the checkpoint that kept this attempt safe so far; path, if it is not empty,
// takes its place.
func (r *Run) pass(path string) (err error) {
	if r.passing != "" {
		err = os.Remove(r.passing)
	}
	r.passing = path
	return err
}

// over is the reason to make no further step, or "".
func (r *Run) over(ctx context.Context) string {
	if ctx.Err() != nil {
		return "a signal"
	}
	if limit := r.Config.Build.TimeLimit; limit > 0 && time.Since(r.start) >= limit {
		return fmt.Sprintf("the time limit of %v", limit)
	}
	return ""
}

// reserve is the part of a time limit that is kept for steps that are slower than those
// before.
const reserve = 0.02

// decide estimates the number of steps that the time limit allows, after some steps of this
// attempt, and makes it the schedule's when the rate begins to depend on it. The number is
// saved, so a build with a time limit is that of a number of steps, bit for bit.
func (r *Run) decide(steps int, took time.Duration) error {
	limit := r.Config.Build.TimeLimit
	if limit == 0 {
		return nil
	}
	done, s := r.Builder.Done(), r.Builder.Schedule()
	left := float64(limit)*(1-reserve) - float64(time.Since(r.start))
	total := done + int(max(0, left)*float64(steps)/float64(took))
	if most := r.steps(); most > 0 {
		total = min(total, most)
	}
	r.console.Steps = total
	if !s.Undecided() {
		return nil
	}
	n, ok := s.Decided(total, done)
	if !ok {
		return nil
	}
	if err := r.Builder.Decide(n); err != nil {
		return err
	}
	return r.console.Note("schedule", "%d steps fit into %v; the learning rate falls from here on; --steps %d makes the same build without a clock", n, limit, n)
}

// cut turns the error of an interrupted call into the signal.
func (r *Run) cut(ctx context.Context, err error) (string, error) {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return r.over(ctx), nil
	}
	return "", err
}

// step makes one update and reports it.
func (r *Run) step() error {
	began := time.Now()
	s, err := r.Builder.Step()
	if err != nil {
		return err
	}
	r.meter.Add(r.Config.PerStep(), time.Since(began))
	return r.sinks.Step(report.Step{Step: s, Average: r.meter.Average(), Worst: r.meter.Worst(), Groups: report.Norms(s.Norms, r.groups, r.names)})
}

// measure measures the held-out loss between steps, and saves the state if it is the
// best so far.
func (r *Run) measure(ctx context.Context) error {
	x, err := r.Builder.HeldOut(ctx)
	if err != nil {
		return err
	}
	if err := r.sinks.HeldOut(report.Measured{Step: r.Builder.Done(), Bits: x}); err != nil {
		return err
	}
	return r.keepBest(x)
}

// record is the entry of the best checkpoint.
type record struct {
	Step int     `json:"step"`
	Bits float64 `json:"held_out_bits_per_byte"`
}

// keepsBest reports whether the best checkpoint is kept.
func (r *Run) keepsBest() bool { return r.Config.Build.KeepBest && r.Config.Build.EvaluateEvery > 0 }

// keepBest saves the state if its held-out loss is the best so far.
func (r *Run) keepBest(x float64) error {
	if !r.keepsBest() || !(x < r.best.Bits) {
		return nil
	}
	r.best = record{r.Builder.Done(), x}
	if err := r.Builder.Save(r.Files.Best()); err != nil {
		return err
	}
	b, err := json.Marshal(r.best)
	if err != nil {
		return err
	}
	for _, path := range []string{r.Files.Best(), r.Files.Path("-best.json")} {
		if !slices.Contains(r.wrote, path) {
			r.wrote = append(r.wrote, path)
		}
	}
	return checkpoint.WriteFile(r.Files.Path("-best.json"), append(b, '\n'))
}

// bestSoFar is the held-out loss of the best checkpoint of the run.
func (r *Run) bestSoFar() (record, error) {
	none := record{Bits: math.Inf(1)}
	if r.Builder.Done() == 0 || !r.keepsBest() {
		return none, nil
	}
	b, err := os.ReadFile(r.Files.Path("-best.json"))
	if errors.Is(err, os.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	var best record
	if err := json.Unmarshal(b, &best); err != nil {
		return none, fmt.Errorf("%s: %w", r.Files.Path("-best.json"), err)
	}
	return best, nil
}

// save flushes the reports and writes a checkpoint.
func (r *Run) save(path string) error {
	if err := r.sinks.Flush(); err != nil {
		return err
	}
	if err := r.Builder.Save(path); err != nil {
		return err
	}
	r.saved = path
	return nil
}
