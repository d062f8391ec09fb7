package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/config"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// Present makes builders and readers of what the generated code has.
type Present struct {
	Catalog  build.Catalog[float32]
	Rules    func() []string
	Fallback build.Fallback
}

// World lists what there is by name.
func (p *Present) World() config.World {
	return config.World{Models: p.Catalog.Models(), Updates: p.Catalog.Updates(), Rules: p.Rules()}
}

// KnowsSize reports whether a model has a size of this name.
func (p *Present) KnowsSize(model, size string) bool {
	if !slices.Contains(p.Catalog.Models(), model) {
		return false
	}
	_, err := p.Catalog.New(model, block.NewSizes(map[string]int{size: 1}))
	if err == nil {
		return true
	}
	return !slices.Contains(strings.Split(strings.TrimPrefix(err.Error(), "sizes: "), "; "), "there is no size "+size)
}

// Check refuses what is configured and cannot be done here: nothing is left out
// in silence.
func (p *Present) Check(c *config.Loaded) error {
	var all config.Problems
	no := func(is bool, key, message, hint string) {
		var one config.Problems
		if is && errors.As(c.Wrong(key, message, hint), &one) {
			all = append(all, one...)
		}
	}
	m := c.Model.Formula
	no(strings.ContainsAny(m, "(,)"), "model.formula", fmt.Sprintf("no compiled model is named %q", m),
		"a formula becomes a model by one line on a page, such as: model Mine = "+m)
	no(len(c.Levels) > 1, "level.1.period", fmt.Sprintf("%d levels are configured, the builder runs one", len(c.Levels)), "")
	no(len(c.Levels) > 0 && c.Levels[0].Rule != "", "level.0.rule", "the rule of a level is that of the model's formula here", "name a model with that rule")
	no(c.Stream.Kind != "bytes", "stream.kind", fmt.Sprintf("the builder reads bytes, not %s", c.Stream.Kind), "")
	no(len(c.Stream.Path) > 1, "stream.path", fmt.Sprintf("the builder reads one file, not %d", len(c.Stream.Path)), "")
	no(c.Stream.Separator != "", "stream.separator", "the builder reads a file as one document", "")
	no(c.Stream.HeldOut != config.Default().Stream.HeldOut, "stream.held_out", fmt.Sprintf("the builder holds out %v, not %v", config.Default().Stream.HeldOut, c.Stream.HeldOut), "")
	no(c.Build.From != "", "build.from", "the builder cannot begin from a donor", "")
	if all != nil {
		return all
	}
	return nil
}

// A runner is a Builder over attempts. Where it must save, it lets the attempt
// end, which writes a checkpoint, and goes on with another attempt from there,
// which is exact; it measures and samples with an attempt that has no step left
// to make.
type runner struct {
	present *Present
	opt     build.Options
	work    string   // a folder of our own
	tries   int      // attempts so far
	now     *attempt // nil: the state lies at saved
	saved   string
	info    Info
	bits    []float64
	before  []float64
	asked   asked
	sample  int
	look    *watch // of the first attempt: the model and its table
}

// asked is what an attempt without steps found.
type asked struct {
	done int // steps; 0: nothing was asked yet
	bits float64
	text []byte
}

// NewBuilder returns a build that goes on from a checkpoint, or begins.
func (p *Present) NewBuilder(c *config.Loaded, resume string) (Builder, error) {
	if err := p.Check(c); err != nil {
		return nil, err
	}
	r := &runner{present: p, saved: resume, sample: c.Build.Sample}
	r.opt = build.Options{Model: c.Model.Formula, Sizes: c.Model.Sizes, Lanes: c.Stream.Lanes, Chunk: c.Stream.Chunk,
		Update: c.Update.Name, Rate: c.Update.LR, Clip: c.Update.Clip, Seed: c.Model.Seed}
	for _, name := range slices.Sorted(maps.Keys(c.Update.Settings)) {
		r.opt.Set = append(r.opt.Set, build.Setting{Name: name, Value: c.Update.Settings[name]})
	}
	if len(c.Stream.Path) > 0 {
		r.opt.Text = c.Stream.Path[0]
	}
	var err error
	if resume != "" {
		if r.bits, r.before, err = curves(resume); err != nil {
			return nil, fmt.Errorf("resume %s: %w", resume, err)
		}
	}
	if r.work, err = os.MkdirTemp("", "hecate-build-*"); err != nil {
		return nil, err
	}
	if r.now, err = r.begin(math.MaxInt, 0); err != nil {
		return nil, errors.Join(placed(c, err), r.Close())
	}
	r.info, r.look = r.now.info, &r.now.watch
	u, err := p.Catalog.NewUpdate(r.opt.Update)
	if err != nil {
		return nil, err
	}
	r.info.Params, r.info.States = r.now.watch.table(u), r.now.watch.states
	return r, nil
}

var namedSize = regexp.MustCompile(`(?:size|setting) ([A-Za-z_0-9.]+)`)

// placed puts an error that names a size or a setting where that was configured.
func placed(c *config.Loaded, err error) error {
	for _, m := range namedSize.FindAllStringSubmatch(err.Error(), -1) {
		for _, key := range []string{"model.sizes." + m[1], "update.settings." + m[1]} {
			if c.Given(key) {
				return c.Wrong(key, err.Error(), "")
			}
		}
	}
	return err
}

// begin starts an attempt from what was saved last.
func (r *runner) begin(steps, sample int) (*attempt, error) {
	opt := r.opt
	r.tries++
	opt.Resume, opt.Steps, opt.Sample = r.saved, steps, sample
	opt.Out = filepath.Join(r.work, fmt.Sprint(r.tries))
	return r.present.begin(opt)
}

// file is what an attempt wrote.
func (r *runner) file(a *attempt, ext string) string {
	return filepath.Join(a.out, strings.ToLower(r.opt.Model)+ext)
}

// park ends the attempt, so that the state lies at saved.
func (r *runner) park() error {
	a := r.now
	if a == nil {
		return nil
	}
	r.now = nil
	err := a.end()
	if r.Done() == 0 && len(r.before) == 0 {
		return nil // nothing was computed: the next attempt begins where this one did
	}
	if err != nil {
		return err
	}
	r.saved = r.file(a, ".safetensors")
	return nil
}

// Info is what is known of the build.
func (r *runner) Info() Info { return r.info }

// Done is how many updates there have been.
func (r *runner) Done() int { return len(r.bits) }

// Bits are the losses of all of them.
func (r *runner) Bits() []float64 { return r.bits }

// Before is the held-out figure before the first step.
func (r *runner) Before() (bits float64, ok bool) {
	if len(r.before) == 0 {
		return 0, false
	}
	return r.before[0], true
}

// Step makes one update.
func (r *runner) Step() (Step, error) {
	if r.now == nil {
		var err error
		if r.now, err = r.begin(math.MaxInt, 0); err != nil {
			return Step{}, err
		}
	}
	for {
		e, ok := r.now.next()
		if !ok {
			err := r.now.err
			r.now = nil
			return Step{}, err
		}
		if e == measured {
			r.before = []float64{r.measured(r.now)}
		}
		if e == stepped {
			break
		}
	}
	w := &r.now.watch
	nats, valid := w.take()
	nats /= float64(max(valid, 1))
	r.bits = append(r.bits, nats/math.Ln2)
	s := Step{Step: len(r.bits), Tokens: len(r.bits) * r.opt.Lanes * r.opt.Chunk, Nats: nats, Bits: nats / math.Ln2, Rate: w.rate, Norms: w.norms, Fires: []int{len(r.bits)}}
	sum := 0.0
	for _, n := range w.norms {
		sum += float64(n * n)
	}
	s.Norm = math.Sqrt(sum)
	return s, nil
}

// measured is what an attempt found on the held-out part, in bits per byte.
func (r *runner) measured(a *attempt) float64 {
	x := total(a.watch.asked) / math.Ln2 / float64(max(r.info.HeldOut, 1))
	a.watch.asked = nil
	return x
}

// HeldOut measures the held-out part.
func (r *runner) HeldOut(ctx context.Context) (float64, error) {
	if r.Done() > 0 {
		err := r.ask(ctx)
		return r.asked.bits, err
	}
	if len(r.before) > 0 {
		return r.before[0], nil
	}
	if r.now == nil {
		var err error
		if r.now, err = r.begin(math.MaxInt, 0); err != nil {
			return 0, err
		}
	}
	a, ok := r.now, false
	if err := a.asking(ctx, func() { _, ok = a.next() }); err != nil {
		r.now = nil // it holds a figure that is none
		return 0, errors.Join(err, a.end())
	}
	if !ok {
		r.now = nil
		return 0, a.err
	}
	r.before = []float64{r.measured(a)}
	return r.before[0], nil
}

// Sample draws text.
func (r *runner) Sample(ctx context.Context, n int) ([]byte, error) {
	if r.Done() == 0 {
		return nil, errors.New("a sample needs a step")
	}
	if n != r.sample {
		r.sample, r.asked = n, asked{}
	}
	err := r.ask(ctx)
	return r.asked.text, err
}

// ask runs an attempt without steps, once after each step.
func (r *runner) ask(ctx context.Context) error {
	if r.asked.done == r.Done() {
		return nil
	}
	if err := r.park(); err != nil {
		return err
	}
	a, err := r.begin(r.Done(), r.sample)
	if err != nil {
		return err
	}
	if err := a.asking(ctx, func() { a.next() }); err != nil {
		return errors.Join(err, a.end())
	}
	if a.err != nil {
		return a.err
	}
	r.asked = asked{done: r.Done(), bits: r.measured(a)}
	if r.sample > 0 {
		r.asked.text, err = os.ReadFile(r.file(a, ".txt"))
	}
	return errors.Join(err, os.RemoveAll(a.out))
}

// Save writes the whole state.
func (r *runner) Save(path string) error {
	if err := r.park(); err != nil {
		return err
	}
	if r.saved == "" {
		return errors.New("there is nothing to save before the first measurement")
	}
	s, err := checkpoint.Read(r.saved)
	if err != nil {
		return err
	}
	return checkpoint.Write(path, s)
}

// Arena runs one lane's chunk.
func (r *runner) Arena() (int, error) {
	var a tape.Arena[float32]
	r.look.params.Fill(r.opt.Seed)
	ids := make([]int32, r.opt.Chunk)
	memory := r.look.model.NewMemory(1)
	err := tape.With(&a, pulse.First(pulse.Build), func(run *tape.Run[float32]) error {
		call := block.Call[float32]{Run: run, Pulse: run.Pulse, Lanes: 1, Steps: len(ids)}
		loss, _, err := r.look.model.Step(call, block.Bind(run, r.look.params.View()), memory, ids, ids)
		if err != nil {
			return err
		}
		run.Tape.Seed(loss, []float32{1})
		run.Tape.Reverse()
		return nil
	})
	return a.Bytes(), err
}

// Close ends the build.
func (r *runner) Close() error {
	if r.now != nil {
		_ = r.now.end() // what it says of its own saving is of no interest
		r.now = nil
	}
	return os.RemoveAll(r.work)
}

// curves returns the losses in a checkpoint and the figure before the first.
func curves(path string) (bits, before []float64, err error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if bits, err = list(s, "build.curve"); err == nil {
		before, err = list(s, "build.before")
	}
	return bits, before, err
}

func list(s *checkpoint.Snapshot, name string) ([]float64, error) {
	_, shape, err := s.Shape(name)
	if err != nil {
		return nil, err
	}
	n, err := shape.Size()
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	return out, checkpoint.Take(s, name, tensor.Shape{n}, out)
}

// Steps returns how many updates a checkpoint has behind it.
func (p *Present) Steps(path string) (int, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return 0, err
	}
	clock := make([]uint64, 2)
	if err := checkpoint.Take(s, "build.pulse", tensor.Shape{2}, clock); err != nil {
		return 0, err
	}
	return int(clock[0]), nil
}
