package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtdevice "github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tokenizer"
)

// A saved is the model of a checkpoint of a build, with the description of its input:
// the schedule of its levels, the kind of its stream and the tokenizer.
type saved struct {
	info      Info
	steps     int
	place     *place
	module    *module.Module[float32]
	schedule  pulse.Schedule
	config    config.Loaded       // of the stream, without its path
	tokenizer tokenizer.Tokenizer // nil where tokens are not text
}

// open reads a checkpoint of a build. tokenizer is a file, or "" for the one saved
// with the checkpoint.
func (m *Modules) open(path, tokenizer, device string, chunk int) (*saved, error) {
	snap, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	at, err := m.place(device)
	if err != nil {
		return nil, fmt.Errorf("--device is %q: %w", device, err)
	}
	x := &saved{place: at, config: config.Loaded{Config: config.Default()}}
	if err = x.readMetadata(snap); err == nil {
		err = m.ready(x, device, max(chunk, x.info.Chunk))
	}
	if err == nil {
		err = m.load(x, snap)
	}
	if err == nil {
		err = x.tokens(snap, path, tokenizer)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), x.Close())
	}
	return x, nil
}

// Close gives the device back.
func (x *saved) Close() error { return x.place.close() }

// readMetadata fills the info from the metadata.
func (x *saved) readMetadata(snap *checkpoint.Snapshot) (err error) {
	get := func(name string) string {
		v, e := snap.Meta("run." + name)
		err = errors.Join(err, e)
		return v
	}
	number := func(name string) int {
		v := get(name)
		n, e := strconv.Atoi(v)
		if e != nil && err == nil {
			err = fmt.Errorf("metadata run.%s: %q is not a whole number", name, v)
		}
		return n
	}
	if _, e := snap.Meta("run.model"); e != nil {
		return errors.New("not a checkpoint of a build: it names no model")
	}
	i, s := &x.info, &x.config.Stream
	*i = Info{Model: get("model"), Sizes: get("sizes"), Counts: get("unit of the periods"), Text: get("text"), Chunk: number("chunk"),
		Stream: get(kindName), Unit: "byte", Precision: config.Default().Build.Precision}
	narrow, e := module.BFloat16Of(snap)
	if err = errors.Join(err, e); narrow {
		i.Precision = config.BF16
	}
	for w := range strings.FieldsSeq(get("periods")) {
		n, e := strconv.Atoi(w)
		err = errors.Join(err, e)
		i.Periods = append(i.Periods, n)
	}
	x.schedule.Periods = i.Periods
	s.Kind, s.Separator, s.Batch, s.Chunk = i.Stream, get(separatorName), number("lanes"), i.Chunk
	share, e := strconv.ParseFloat(get(shareName), 64)
	if s.HeldOut = share; e != nil || err != nil {
		return errors.Join(err, e)
	}
	if s.Kind == "synthetic" {
		s.Source, s.Episodes = get(sourceName), number(episodesName)
		x.config.Model.Seed, e = strconv.ParseUint(get("seed"), 10, 64)
		err = errors.Join(err, e)
	}
	if x.schedule.Unit, e = pulse.UnitOf(i.Counts); e == nil {
		e = x.schedule.Check()
	}
	return errors.Join(err, e)
}

// ready checks that the device has what reading a checkpoint takes; for auto the processor takes the place of one
// that has not.
func (m *Modules) ready(x *saved, device string, chunk int) error {
	if x.place.gpu != nil {
		n, err := m.dry(func(s rtdevice.Memory) error { return m.tryReading(x, s, chunk) })
		if err == nil {
			x.place, err = x.place.enough(n, "the model", device)
		}
		if err != nil {
			return fmt.Errorf("--device is %q: %w", device, err)
		}
	}
	x.info.Arithmetic, x.info.Device, x.info.Fallback = x.place.arithmetic, x.place.name, x.place.why
	return nil
}

// tryReading measures arbitrary tokens in a memory, in calls of whole chunks, the second of which finds slower
// levels closed, and samples.
func (m *Modules) tryReading(x *saved, s rtdevice.Memory, chunk int) error {
	mod, err := m.newModule(x, s)
	if err != nil {
		return err
	}
	part, err := stream.NewTokens("tokens", mod.Model().Vocabulary(), make([]int32, 2*chunk+1))
	if err == nil {
		_, err = mod.ScorePart(context.Background(), x.schedule, stream.Whole(part), chunk)
	}
	if err == nil {
		_, err = mod.Generate(context.Background(), mod.NewContext(1), 0, x.schedule.First(pulse.Stream), []int32{0}, module.Sampling{Limit: 2, Chunk: chunk})
	}
	return err
}

// newModule makes the model of a checkpoint with its first parameters.
func (m *Modules) newModule(x *saved, memory rtdevice.Memory) (*module.Module[float32], error) {
	sizes := map[string]int{}
	for w := range strings.FieldsSeq(x.info.Sizes) {
		k, v, _ := strings.Cut(w, "=")
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, fmt.Errorf("metadata run.sizes: %q is not a size", w)
		}
		sizes[k] = n
	}
	model, err := catalog.NewModel[float32](m.Catalog, x.info.Model, block.NewSizes(sizes))
	if err != nil {
		return nil, err
	}
	return module.New(module.Config[float32]{Model: model, Memory: memory, BFloat16: x.info.Precision == config.BF16})
}

// load makes the model of a checkpoint and loads its parameters.
func (m *Modules) load(x *saved, snap *checkpoint.Snapshot) (err error) {
	if x.module, err = m.newModule(x, x.place.memory); err != nil {
		return err
	}
	if err := x.module.Donate(snap); err != nil {
		return err
	}
	x.info.Batch, x.info.Params = 1, table(x.module)
	x.info.States = states(x.module)
	bits, err := list(snap, curveName)
	x.steps = len(bits)
	return err
}

// tokens finds the tokenizer of a build: the named one, or one in the folder of the
// checkpoint; its digest must be the one in the checkpoint.
func (x *saved) tokens(snap *checkpoint.Snapshot, path, named string) (err error) {
	want, e := snap.Meta("run." + tokenizerName)
	switch {
	case x.info.Stream == "bytes":
		x.tokenizer, err = tokenizer.NewBytes()
		return err
	case e != nil: // there was none
		x.info.Unit = "token"
		return nil
	case named != "":
		t, err := tokenizer.Open(named)
		if err != nil {
			return fmt.Errorf("tokenizer: %w", err)
		}
		if has := digest(t); has != want {
			return fmt.Errorf("the tokenizer differs: the build had %s, %s has %s", want, named, has)
		}
		x.take(named, t)
		return nil
	}
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.json")) // the pattern is right
	for _, file := range beside {
		if t, err := tokenizer.Open(file); err == nil && digest(t) == want {
			x.take(file, t)
			return nil
		}
	}
	return fmt.Errorf("it was built with the tokenizer %s, which is not in its folder; name it with --tokenizer", want)
}

func (x *saved) take(file string, t tokenizer.Tokenizer) {
	x.tokenizer, x.config.Stream.Tokenizer = t, file
}

// stream is the configuration of a stream of the build's kind over other files.
func (x *saved) stream(paths []string) (*config.Loaded, error) {
	c := x.config
	switch c.Stream.Path = paths; {
	case c.Stream.Kind == "synthetic" && len(paths) > 0:
		return nil, fmt.Errorf("it was built on the synthetic source %s, and %s is a file", c.Stream.Source, paths[0])
	case c.Stream.Kind == "tokens" && len(paths) == 0:
		return nil, errors.New("it was built on files of tokens; name some with --text")
	}
	return &c, nil
}

// Measure measures a checkpoint on a text as a build does.
func (m *Modules) Measure(ctx context.Context, path string, text Text, chunk int) (out Measured, err error) {
	x, err := m.open(path, text.Tokenizer, text.Device, chunk)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	c, err := x.stream(text.Paths)
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	whole := len(text.Paths) > 0 && !text.HeldOut
	var r reading
	if whole {
		r, err = m.readWhole(c)
	} else if r, err = m.read(c); err == nil {
		err = r.rest()
	}
	if err != nil {
		return out, err
	}
	if err := x.fits(&r); err != nil {
		return out, err
	}
	if chunk == 0 {
		chunk = x.info.Chunk
	}
	out = Measured{Model: x.info.Model, Step: x.steps, Text: r.note, Whole: whole, Size: r.heldOut.Len(), Unit: r.unit, Chunk: chunk, Fallback: x.info.Fallback, Precision: x.info.Precision}
	if r.tokenizer != nil {
		out.Size, err = tokenizer.Size(r.tokenizer, r.heldOut)
	}
	if err == nil {
		out.Bits, err = r.measure(ctx, x.module, x.schedule, chunk)
	}
	return out, err
}

// fits refuses an input with tokens that the model does not know.
func (x *saved) fits(r *reading) error {
	if has, v := r.source.Vocab(), x.module.Model().Vocabulary(); has > v {
		return fmt.Errorf("%s has %d ids, the model knows %d", r.note, has, v)
	}
	return nil
}

// size is the number of units of a token.
func (x *saved) size(id int32) int {
	if x.tokenizer == nil {
		return 1
	}
	if x.info.Stream == "bytes" {
		return 1
	}
	b, _, err := x.tokenizer.Token(id)
	if err != nil {
		return 0 // a special token is not text
	}
	return len(b)
}

// sizes is the number of units of the targets of a chunk.
func (x *saved) sizes(c stream.Chunk) (n int) {
	for _, id := range c.Targets {
		if id != stream.Ignore {
			n += x.size(id)
		}
	}
	return n
}
