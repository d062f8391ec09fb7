// Package build builds a small language model on a text: it streams the text
// through the model in lanes, follows the gradient, measures the held-out part
// before and after, and writes what came of it.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/progress"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Options are what a run can be told.
type Options struct {
	Model  string
	Sizes  map[string]int // those that differ from the defaults
	Text   string         // path, or "" for the toolchain's text
	Steps  int            // chunks of all lanes
	Lanes  int
	Chunk  int
	Update string    // by the name of its page
	Rate   float64   // 0: the update's own
	Set    []Setting // further settings of the update that differ from its page
	Clip   float64   // bound of the norm of all gradients of a step; 0: none
	Seed   uint64
	Out    string // folder
	Resume string // checkpoint to go on from; Auto is the newest in Out, or none
	Sample int    // bytes of text to draw at the end
	Every  int    // steps from one checkpoint on the way to the next; 0: none
	Keep   int    // of those, the newest that stay beside the best; 0: all
}

// Auto is the Resume of a run that begins, or goes on from where it was ended.
const Auto = "auto"

// A run is one build from its first step to its outputs.
type run[F Float] struct {
	opt     Options
	recipe  recipe
	session *module.Session[F]
	part    stream.Part
	heldOut stream.Part
	curve   []float64 // bits per byte of every step, before its update
	before  []float64 // the held-out figure before the first step
	w       io.Writer
}

// Run builds a model. ctx ends the build early: what there is is measured no
// more, but saved. What is wrong with the options, the text or the world is an
// error of one line.
func Run[F Float](ctx context.Context, c Catalog[F], opt Options, f Fallback, w io.Writer) error {
	r, err := prepare(c, opt, f, w)
	if err != nil {
		return err
	}
	unigram, bigram := stream.Counts(r.part, r.heldOut)
	fmt.Fprintf(w, "held out: the last %s bytes; counts of the rest give %.3f bits/byte (unigram), %.3f (bigram)\n",
		progress.Count(r.heldOut.Len()), unigram, bigram)
	if len(r.before) == 0 {
		m, err := r.measure(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		r.before = []float64{m}
		fmt.Fprintf(w, "before:   %.3f bits/byte on the held-out part\n", m)
	}
	stopped, err := r.steps(ctx)
	if err != nil {
		return err
	}
	after := math.NaN()
	if !stopped {
		if after, err = r.measure(ctx); err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		fmt.Fprintf(w, "after:    %.3f bits/byte on the held-out part (before %.3f, unigram %.3f, bigram %.3f)\n",
			after, r.before[0], unigram, bigram)
	}
	return r.outputs(ctx, unigram, bigram, after, stopped)
}

// prepare opens the text, makes the model and takes up a saved run.
func prepare[F Float](c Catalog[F], opt Options, f Fallback, w io.Writer) (*run[F], error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	m, sizes, err := c.model(opt.Model, opt.Sizes)
	if err != nil {
		return nil, err
	}
	u, err := c.update(opt.Update, opt.Rate, opt.Set)
	if err != nil {
		return nil, err
	}
	text, note, err := openText(opt.Text, f)
	if err != nil {
		return nil, err
	}
	r := &run[F]{opt: opt, w: w}
	r.recipe = recipe{Spec: c.Spec, Model: opt.Model, Sizes: sizeWords(sizes), Update: u.Name(), Settings: update.Text(u), Clip: opt.Clip, Lanes: opt.Lanes, Chunk: opt.Chunk, Seed: opt.Seed, Text: filepath.Base(note)}
	r.part, r.heldOut = text.Split()
	if err := r.open(m, u); err != nil {
		return nil, err
	}
	if err := r.takeUp(); err != nil {
		return nil, err
	}
	b := r.session.Module()
	fmt.Fprintf(w, "%s: %s parameters (%s), %s arithmetic (%s), %s\n", opt.Model, progress.Count(b.Params().Size()), r.recipe.Sizes, cpu.Active().Arithmetic(), cpu.Active(), strings.Join(b.MovedBy(), ", "))
	fmt.Fprintf(w, "text:     %s (%s bytes)\n", note, progress.Count(text.Len()))
	return r, nil
}

// open makes the session: the model's module on the text.
func (r *run[F]) open(model block.Model[F], u update.Update[F]) error {
	s, err := stream.New(r.part, r.opt.Lanes)
	if err != nil {
		return fmt.Errorf("text: %w", err)
	}
	if r.heldOut.Len() == 0 {
		return fmt.Errorf("text: %d bytes leave nothing to hold out", r.part.Len())
	}
	m, err := module.New(module.Config[F]{Model: model, Update: u, Clip: r.opt.Clip, Seed: r.opt.Seed})
	if err != nil {
		return err
	}
	if err := m.CheckChunk(r.opt.Chunk); err != nil {
		return fmt.Errorf("--chunk%s", strings.TrimPrefix(err.Error(), "the chunk"))
	}
	r.session, err = module.NewSession(m, s, pulse.Schedule{}, pulse.Build)
	return err
}

// takeUp goes on from a checkpoint, if the run is to.
func (r *run[F]) takeUp() error {
	path := r.opt.Resume
	if path == Auto {
		var err error
		if path, err = r.newest(); err != nil {
			return fmt.Errorf("resume: %w", err)
		}
	}
	if path == "" {
		return nil
	}
	if err := r.resume(path); err != nil {
		return fmt.Errorf("resume %s: %w", path, err)
	}
	return nil
}

// check refuses numbers that cannot be.
func (o Options) check() error {
	for _, n := range []struct {
		name  string
		got   int
		least int
	}{{"steps", o.Steps, 1}, {"lanes", o.Lanes, 1}, {"chunk", o.Chunk, 1}, {"sample", o.Sample, 0}, {"every", o.Every, 0}, {"keep", o.Keep, 0}} {
		if n.got < n.least {
			return fmt.Errorf("--%s is %d, must be at least %d", n.name, n.got, n.least)
		}
	}
	for _, x := range []struct {
		name string
		got  float64
	}{{"lr", o.Rate}, {"clip", o.Clip}} {
		if !(x.got >= 0) || math.IsInf(x.got, 1) {
			return fmt.Errorf("--%s is %v, must be a number from 0", x.name, x.got)
		}
	}
	return nil
}

// measure returns the bits per byte of the held-out part.
func (r *run[F]) measure(ctx context.Context) (float64, error) {
	b := r.part.Bytes()
	text := make([]int32, r.heldOut.Len())
	for i, x := range r.heldOut.Bytes() {
		text[i] = int32(x)
	}
	nats, err := r.session.Module().Score(ctx, pulse.Schedule{}, int32(b[len(b)-1]), text, r.opt.Chunk)
	return bits(nats), err
}

// steps runs what is left of the build; it returns early when ctx ends.
func (r *run[F]) steps(ctx context.Context) (stopped bool, err error) {
	bar := progress.New(r.w)
	first := len(r.curve)
	per := r.opt.Lanes * r.opt.Chunk
	for len(r.curve) < r.opt.Steps {
		if ctx.Err() != nil {
			bar.Done()
			fmt.Fprintf(r.w, "stopped after %d of %d steps\n", len(r.curve), r.opt.Steps)
			return true, nil
		}
		step, err := r.session.Step(r.opt.Chunk)
		if err != nil {
			bar.Done()
			return false, err
		}
		r.curve = append(r.curve, bits(step.Nats))
		if r.opt.Every > 0 && len(r.curve)%r.opt.Every == 0 {
			if err := r.save(); err != nil {
				bar.Done()
				return false, err
			}
		}
		done := len(r.curve) - first
		bar.Set(float64(len(r.curve))/float64(r.opt.Steps), func() string {
			rate := float64(done*per) / bar.Elapsed().Seconds()
			return fmt.Sprintf("step %d, %.3f bits/byte, %s tokens/s", len(r.curve), recent(r.curve), progress.Count(int64(rate)))
		})
	}
	bar.Done()
	fmt.Fprintf(r.w, "built:    %s tokens in %s, %s tokens/s\n", progress.Count(int64((len(r.curve)-first)*per)), progress.Clock(bar.Elapsed()),
		progress.Count(int64(float64((len(r.curve)-first)*per)/max(bar.Elapsed().Seconds(), 1e-9))))
	return false, nil
}

// recent is the mean of the last losses.
func recent(curve []float64) float64 {
	last := curve[max(0, len(curve)-50):]
	sum := 0.0
	for _, x := range last {
		sum += x
	}
	return sum / float64(len(last))
}
