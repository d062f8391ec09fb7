package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/sample"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/synthetic"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/tokenizer"
	"github.com/nl-hecate/hecate/runtime/update"
)

// The tensors and metadata that a build adds to the checkpoint of its session.
const (
	curveName  = "build.curve"  // bits per byte by step
	beforeName = "build.before" // the held-out loss before the first step, if it was measured
	levelsKey  = "build.levels" // metadata: the level of each parameter above level 0, for hecate inspect
)

// builder is a Builder over a session.
type builder struct {
	session  *module.Session[float32]
	place    *place
	identity module.Identity
	info     Info
	reading  reading
	bits     []float64
	before   []float64
	rate     float64
	sample   sample.Settings
	norms    []float64
	health   []module.Health
	levels   []Level
	updates  []int
}

// NewBuilder returns a build that resumes from a checkpoint, or a new one.
func (m *Modules) NewBuilder(c *config.Loaded, resume string) (Builder, error) {
	r, err := m.read(c)
	if err != nil {
		return nil, err
	}
	at, err := m.place(c.Build.Device)
	if err != nil {
		return nil, fmt.Errorf("build.device is %q: %w", c.Build.Device, err)
	}
	var n Needs
	if at.gpu != nil {
		if n, err = m.needs(c, r); err == nil {
			if at, err = at.enough(n, "the build", c.Build.Device); err != nil {
				err = fmt.Errorf("build.device is %q: %w", c.Build.Device, err)
			}
		}
		if err != nil {
			return nil, errors.Join(err, at.close())
		}
	}
	b, err := m.builder(c, r, at, resume)
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	if at.gpu != nil {
		b.info.OnDevice = n.Bytes
	}
	return b, nil
}

// builder makes a builder that computes at a place.
func (m *Modules) builder(c *config.Loaded, r reading, place *place, resume string) (*builder, error) {
	model, sizes, err := m.model(c, r.source.Vocab())
	if err != nil {
		return nil, err
	}
	when, err := schedule(c, model)
	if err != nil {
		return nil, err
	}
	u, err := m.update(c)
	if err != nil {
		return nil, err
	}
	buffer, err := catalog.NewUpdate[float32](m.Catalog, c.Update.Buffer)
	if err != nil {
		return nil, err
	}
	s, err := stream.New(r.built, c.Stream.Batch)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	learning, err := rates(c)
	if err != nil {
		return nil, err
	}
	mod, err := module.New(module.Config[float32]{Memory: place.memory, BFloat16: c.Build.Precision == config.BF16, Model: model, Update: u, Buffer: buffer, Clip: c.Update.Clip, Schedule: learning,
		NoDecay: kindsOf(c.Update.NoDecay), Chunks: c.Build.GradientChunks, Seed: c.Model.Seed})
	if err != nil {
		return nil, err
	}
	mod.Profile(c.Report.Profile)
	if err := longEnough(c, &r); err != nil {
		return nil, err
	}
	if err := mod.CheckChunk(c.Stream.Chunk); err != nil {
		return nil, c.Wrong("stream.chunk", "stream.chunk"+strings.TrimPrefix(err.Error(), "the chunk"), "")
	}
	b := &builder{place: place, reading: r, updates: make([]int, len(when.Periods)), rate: rateOf(u), sample: c.Sample.Settings(c.Model.Seed)}
	if b.session, err = module.NewSession(mod, s, when, pulse.Build); err != nil {
		return nil, err
	}
	b.info = Info{Precision: c.Build.Precision, Steps: c.TotalSteps(), Rates: learning.String(), Rate: b.rate, Clip: c.Update.Clip, Model: spelled(c.Model.Formula), Sizes: sizes, Batch: c.Stream.Batch, Chunk: c.Stream.Chunk, Across: c.Build.GradientChunks, Stream: c.Stream.Kind,
		Periods: when.Periods, Counts: when.Unit.String(), Buffer: buffer.Name()}
	b.identity = m.identity(c, &b.info, u, &r)
	if err := b.describe(); err != nil {
		return nil, err
	}
	return b, b.begin(c.Build.From, resume)
}

// longEnough refuses a text of which no sequence of the batch fills the chunks of a gradient of several.
func longEnough(c *config.Loaded, r *reading) error {
	n, want := r.built.Len()/c.Stream.Batch, c.Stream.Chunk*c.Build.GradientChunks
	if c.Build.GradientChunks == 1 || n >= want {
		return nil
	}
	return c.Wrong("build.gradient_chunks", fmt.Sprintf("build.gradient_chunks is %d: a gradient spans %d tokens of each sequence, and the text has %d for each of %d",
		c.Build.GradientChunks, want, n, c.Stream.Batch), "")
}

// describe fills the info from the module and the source.
func (b *builder) describe() (err error) {
	mod, r := b.session.Module(), &b.reading
	b.info.Arithmetic, b.info.Device, b.info.Fallback = b.place.arithmetic, b.place.name, b.place.why
	b.info.MovedBy, b.info.Params = strings.Join(mod.MovedBy(), ", "), table(mod)
	b.info.Text, b.info.TextBytes, b.info.Unit = r.note, r.size, r.unit
	b.info.Built = r.built.Len()
	b.info.HeldOut = int(math.Round(float64(r.heldOut.Len()) * r.scale[1]))
	b.info.States = states(mod)
	counted, err := stream.Count(r.built, r.heldOut)
	if err != nil {
		return err
	}
	b.info.Unigram, b.info.Bigram = counted.Unigram/r.scale[1], counted.Bigram/r.scale[1]
	if s, ok := r.source.(*synthetic.Source); ok {
		b.info.Optimum, b.info.Forgetful = s.Kind().Optimum(), s.Kind().Forgetful()
	}
	return r.rest()
}

// begin loads the parameters of a donor, or resumes from a checkpoint.
func (b *builder) begin(from, resume string) error {
	if from != "" {
		s, err := checkpoint.Read(from)
		if err == nil {
			err = b.session.Module().Donate(s)
		}
		if err != nil {
			return fmt.Errorf("begin from %s: %w", from, err)
		}
	}
	if resume == "" {
		return nil
	}
	s, err := checkpoint.Read(resume)
	if err == nil {
		err = b.session.ResumeBuild(s, b.identity, func(s *checkpoint.Snapshot) (err error) {
			if b.bits, err = list(s, curveName); err == nil {
				b.before, err = list(s, beforeName)
			}
			return err
		})
	}
	if chunks := b.session.Conductor().Pulse().Step(); err == nil && uint64(len(b.bits)*b.info.Across) != chunks {
		err = fmt.Errorf("%s has %d losses after %d chunks, %d to a step", curveName, len(b.bits), chunks, b.info.Across)
	}
	if errors.Is(err, module.ErrSchedule) {
		err = fmt.Errorf("%w; give the steps and the schedule of the saved build, or begin a new one from its parameters with build.from", err)
	}
	if err != nil {
		return fmt.Errorf("resume %s: %w", resume, err)
	}
	return nil
}

// rateOf is the setting lr, 0 without one.
func rateOf(u update.Update[float32]) (rate float64) {
	u.Settings(func(name string, x float64) {
		if name == "lr" {
			rate = x
		}
	})
	return rate
}

// Info describes the build.
func (b *builder) Info() Info { return b.info }

// Done is the number of updates so far.
func (b *builder) Done() int { return len(b.bits) }

// Bits are the losses of all updates.
func (b *builder) Bits() []float64 { return b.bits }

// Schedule is the schedule of the learning rate.
func (b *builder) Schedule() update.Schedule { return b.session.Module().Moves().Schedule() }

// Decide sets the number of steps of the schedule.
func (b *builder) Decide(steps int) error { return b.session.Module().Decide(steps) }

// Profiled is the time of each unit and operation.
func (b *builder) Profiled() ([]tape.Spent, int) { return b.session.Module().Profiled() }

// Before is the held-out loss before the first step.
func (b *builder) Before() (bits float64, ok bool) {
	if len(b.before) == 0 {
		return 0, false
	}
	return b.before[0], true
}

// Step makes one update.
func (b *builder) Step() (Step, error) {
	x, err := b.session.Step(b.info.Chunk)
	if err != nil {
		return Step{}, err
	}
	bits := x.Nats / math.Ln2 / b.reading.scale[0]
	b.bits = append(b.bits, bits)
	mod := b.session.Module()
	b.norms = mod.Norms(b.norms[:0])
	s := Step{Step: len(b.bits), Tokens: int(b.session.Conductor().Pulse().Position()) * b.info.Batch, Nats: x.Nats, Bits: bits,
		Rate: b.rate * b.Schedule().Factor(len(b.bits)), Norm: x.Norm, Norms: b.norms}
	clear(b.updates)
	for i, n := range mod.Moves().Clocks() {
		l := b.info.Params[i].Level
		b.updates[l] = max(b.updates[l], int(n))
	}
	s.Updates = b.updates
	if len(b.info.Periods) > 1 {
		s.Levels, err = b.Levels()
	}
	return s, err
}

// Levels describes each level.
func (b *builder) Levels() (out []Level, err error) {
	b.health, err = b.session.Health(b.health[:0])
	b.levels = b.levels[:0]
	for _, h := range b.health {
		b.levels = append(b.levels, Level{h.Level, h.Gated, int(h.Updates), h.Open, h.Share, int(h.Waiting), h.Ratio, h.Gradient, h.Parameter, h.State})
	}
	return b.levels, err
}

// HeldOut measures the held-out part.
func (b *builder) HeldOut(ctx context.Context) (float64, error) {
	bits, err := b.reading.measure(ctx, b.session.Module(), b.session.Conductor().Pulse().Schedule(), b.info.Chunk)
	if err == nil && b.Done() == 0 {
		b.before = []float64{bits}
	}
	return bits, err
}

// measure measures the held-out part, in bits for each unit.
func (r *reading) measure(ctx context.Context, mod *module.Module[float32], s pulse.Schedule, chunk int) (bits float64, err error) {
	var nats float64
	if _, ok := r.source.(stream.Scorer); ok {
		nats, err = mod.ScorePart(ctx, s, r.heldOut, chunk)
	} else {
		nats, err = mod.Score(ctx, s, r.last, r.ids, chunk)
	}
	return nats / math.Ln2 / r.scale[1], err
}

// Sample generates text that continues what the first slot of the batch has read.
func (b *builder) Sample(ctx context.Context, n int) ([]byte, error) {
	state, err := b.session.Conductor().State()
	if err != nil {
		return nil, err
	}
	next := make([]int32, 1)
	if err := b.reading.source.Read(next, int(state.Cursors[0].Position)); err != nil {
		return nil, err
	}
	drawn, err := b.session.Generate(ctx, 0, next, module.Sampling{Settings: b.sample, Limit: n, Chunk: b.info.Chunk})
	if err != nil {
		return nil, err
	}
	return b.reading.text(drawn)
}

// Tokenizer is the file of the tokenizer.
func (b *builder) Tokenizer() []byte {
	if t, ok := b.reading.tokenizer.(*tokenizer.BPE); ok {
		return t.JSON()
	}
	return nil
}

// Save writes the whole state.
func (b *builder) Save(path string) error {
	s, err := b.session.SnapshotBuild(b.identity)
	if err != nil {
		return err
	}
	if err := errors.Join(checkpoint.Add(s, curveName, tensor.Shape{len(b.bits)}, b.bits), checkpoint.Add(s, beforeName, tensor.Shape{len(b.before)}, b.before)); err != nil {
		return err
	}
	s.SetMeta(levelsKey, levelWords(b.info.Params))
	return checkpoint.Write(path, s)
}

// levelWords lists the parameters of slower levels with their levels.
func levelWords(params []Param) string {
	var words []string
	for _, p := range params {
		if p.Level > 0 {
			words = append(words, fmt.Sprintf("%s=%d", p.Name, p.Level))
		}
	}
	return strings.Join(words, " ")
}

// Arena runs the chunks of one gradient, of the whole batch, on a fork of the context; the
// gradient is not used.
func (b *builder) Arena() (bytes int, err error) {
	n := b.info.Batch * b.info.Chunk
	c := stream.Chunk{Batch: b.info.Batch, Tokens: b.info.Chunk, Inputs: slices.Repeat(b.reading.ids[:1], n), Targets: slices.Repeat(b.reading.ids[:1], n)}
	mod := b.session.Module()
	err = b.session.Probe(func(h rtcontext.Handle[*module.Memory[float32]], p pulse.Pulse) error {
		for range b.info.Across {
			if p = p.Of(c.Tokens); err == nil {
				_, h, err = mod.Process(c, h, p)
			}
			p = p.Next(c.Tokens)
		}
		return err
	})
	return mod.Bytes(), err
}

// Close gives the device back.
func (b *builder) Close() error { return b.place.close() }
