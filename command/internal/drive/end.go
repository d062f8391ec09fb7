package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/report"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
)

// failed adds the path of the newest checkpoint to an error, and for a build that has
// diverged what to try.
func (r *Run) failed(err error) error {
	if r.saved != "" {
		err = fmt.Errorf("%w\nthe newest valid checkpoint is %s", err, r.saved)
	}
	if !errors.Is(err, module.ErrDiverged) {
		return err
	}
	again, way := r.Again, "to build again with half the learning rate"
	if r.saved != "" {
		again, way = again+" --set "+quoted("build.from="+r.saved), "to go on from its parameters with half the learning rate"
	}
	info := r.Builder.Info()
	if again += fmt.Sprintf(" --lr %.3g", info.Rate/2); info.Clip == 0 {
		again, way = again+" --clip 1", way+" and clipped gradients"
	}
	return fmt.Errorf("%w\n%s: %s", err, way, again)
}

// stopped saves the state after an early end, measures it unless a signal ended it,
// and prints the command that resumes the build.
func (r *Run) stopped(ctx context.Context, why string) error {
	n := r.Builder.Done()
	if _, ok := r.Builder.Before(); !ok && n == 0 {
		return r.console.Note("stopped", "by %s before the first step; there is nothing to save", why)
	}
	if err := r.saveLast(); err != nil {
		return r.failed(err)
	}
	of := ""
	if total := r.steps(); total > 0 {
		of = fmt.Sprintf(" of %d", total)
	}
	after, err := r.measureLast(ctx)
	if err != nil {
		return r.failed(err)
	}
	if err := r.conclude(ctx, after); err != nil {
		return err
	}
	return errors.Join(
		r.console.Note("stopped", "by %s after %d%s steps", why, n, of),
		r.wroteLine(),
		r.console.Note("go on", "%s", r.Resume+" "+quoted(r.Files.Last())))
}

// quoted is a word quoted for a shell.
func quoted(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Command is a command line quoted for a shell.
func Command(words ...string) string {
	out := slices.Clone(words)
	for i, w := range out {
		out[i] = quoted(w)
	}
	return strings.Join(out, " ")
}

// finish saves, measures and plots the final state. The state is on the disk before
// anything else is tried.
func (r *Run) finish(ctx context.Context) error {
	if err := r.saveLast(); err != nil {
		return r.failed(err)
	}
	after, err := r.measureLast(ctx)
	if err != nil {
		return err
	}
	if math.IsNaN(after) && ctx.Err() != nil {
		if err := r.console.Note("stopped", "by a signal, after the last step; the held-out part was not measured"); err != nil {
			return err
		}
	}
	if err := r.conclude(ctx, after); err != nil {
		return err
	}
	return r.wroteLine()
}

// saveLast saves the final state, which replaces the checkpoint that kept the build safe.
func (r *Run) saveLast() error {
	if err := r.save(r.Files.Last()); err != nil {
		return err
	}
	return r.pass("")
}

// conclude reports the levels and draws plots and a sample.
func (r *Run) conclude(ctx context.Context, after float64) error {
	if r.best.Bits < after {
		if err := r.console.Note("best", "%.3f bits/%s at step %d: %s", r.best.Bits, r.Builder.Info().Unit, r.best.Step, r.Files.Best()); err != nil {
			return err
		}
	}
	levels, err := r.Builder.Levels()
	if err != nil {
		return err
	}
	if err := errors.Join(r.console.Levels(levels), r.draw(after)); err != nil {
		return err
	}
	if n := r.Config.Build.Sample; n > 0 && ctx.Err() == nil {
		text, err := r.Builder.Sample(ctx, n)
		if err != nil {
			return err
		}
		if err := errors.Join(checkpoint.WriteFile(r.Files.Path(".txt"), text), r.console.Sample(text)); err != nil {
			return err
		}
		r.wrote = append(r.wrote, r.Files.Path(".txt"))
	}
	return nil
}

// measureLast measures the final held-out loss; NaN after a signal.
func (r *Run) measureLast(ctx context.Context) (float64, error) {
	after, err := r.Builder.HeldOut(ctx)
	if ctx.Err() != nil {
		return math.NaN(), nil
	}
	if err != nil {
		return after, err
	}
	before, ok := r.Builder.Before()
	if !ok {
		before = math.NaN()
	}
	return after, errors.Join(r.console.After(r.Builder.Done(), before, after),
		r.sinks[1:].HeldOut(report.Measured{Step: r.Builder.Done(), Bits: after}), r.keepBest(after))
}

// draw writes the plots.
func (r *Run) draw(after float64) error {
	if !r.Config.Report.Plots {
		return nil
	}
	before, ok := r.Builder.Before()
	if !ok {
		before = math.NaN()
	}
	files, err := r.plots.Draw(before, after)
	if err != nil {
		return err
	}
	for path, data := range files {
		if err := checkpoint.WriteFile(path, data); err != nil {
			return err
		}
	}
	r.wrote = append(r.wrote, slices.Sorted(maps.Keys(files))...)
	return nil
}

func (r *Run) wroteLine() error {
	if rows, updates := r.Builder.Profiled(); updates > 0 {
		path, text := r.Files.Path("-profile.txt"), report.Profile(rows, updates)
		if err := errors.Join(checkpoint.WriteFile(path, []byte(text)), r.console.Note("profile", "%s", text)); err != nil {
			return err
		}
		r.wrote = append(r.wrote, path)
	}
	return r.console.Wrote(append([]string{r.Files.Last()}, r.wrote...))
}
