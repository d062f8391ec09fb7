package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// reader is a Reader over a model and its parameters.
type reader struct {
	info   Info
	model  block.Model[float32]
	params *rtcontext.ParamSet[float32]
	arena  *tape.Arena[float32]
	memory *block.Memory[float32]
	pulse  pulse.Pulse
	last   int // the byte that was read last, -1 before the first
	logits []float32
	fed    bool // whether the memory has seen the last byte
}

// NewReader opens the parameters of a checkpoint.
func (p *Present) NewReader(path string) (Reader, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	r := &reader{params: &rtcontext.ParamSet[float32]{}, arena: &tape.Arena[float32]{}, pulse: pulse.First(pulse.Stream), last: -1}
	if err := p.open(r, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.memory = r.model.NewMemory(1)
	r.memory.Each("", func(_ string, _ []int, data []float32) { r.info.States += len(data) })
	return r, nil
}

// open makes the model that a checkpoint names and takes its parameters.
func (p *Present) open(r *reader, s *checkpoint.Snapshot) error {
	name, err := s.Meta("build.model")
	if err != nil {
		return errors.New("no checkpoint of a build: it names no model")
	}
	words, err := s.Meta("build.sizes")
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, w := range strings.Fields(words) {
		k, v, _ := strings.Cut(w, "=")
		if sizes[k], err = strconv.Atoi(v); err != nil {
			return fmt.Errorf("metadata build.sizes: %q is no size", w)
		}
	}
	if r.model, err = p.Catalog.New(name, block.NewSizes(sizes)); err != nil {
		return err
	}
	if err := r.model.Declare(r.params, ""); err != nil {
		return err
	}
	w, err := r.params.Writer()
	if err != nil {
		return err
	}
	var errs []error
	w.Restore(func(_ int, p rtcontext.Param, data []float32) {
		errs = append(errs, checkpoint.Take(s, "param."+p.Name, p.Shape, data))
	})
	w.Close()
	for _, err := range errs {
		if err != nil {
			return err // the first says enough
		}
	}
	r.info = Info{Model: name, Sizes: words, Arithmetic: cpu.Active().Arithmetic(), Lanes: 1}
	r.info.Text, _ = s.Meta("build.text") // of interest only where it is there
	chunk, _ := s.Meta("build.chunk")
	r.info.Chunk, _ = strconv.Atoi(chunk)
	watch := &watch{params: r.params}
	r.info.Params = watch.table(nil)
	return nil
}

// Info is what the checkpoint says.
func (r *reader) Info() Info { return r.info }

// Position is how many bytes the context has seen.
func (r *reader) Position() int {
	if r.last < 0 {
		return 0
	}
	n := int(r.pulse.Position())
	if !r.fed {
		n++
	}
	return n
}

// step runs the model over ids, which the context goes on with.
func (r *reader) step(ids, next []int32) (nats float64, err error) {
	err = tape.Without(r.arena, r.pulse, func(run *tape.Run[float32]) error {
		call := block.Call[float32]{Run: run, Pulse: r.pulse, Lanes: 1, Steps: len(ids)}
		loss, logits, err := r.model.Step(call, block.Bind(run, r.params.View()), r.memory, ids, next)
		if err != nil {
			return err
		}
		v := r.model.Vocabulary()
		r.logits = append(r.logits[:0], logits.Data[(len(ids)-1)*v:]...)
		nats = float64(loss.Data[0])
		return nil
	})
	if err != nil {
		return 0, err
	}
	r.memory.Keep()
	r.pulse = r.pulse.Next(len(ids))
	if !num.IsFinite(nats) {
		return 0, fmt.Errorf("%w: the loss is %v at byte %d", build.ErrDiverged, nats, r.Position())
	}
	return nats, nil
}

// Read goes on in the context. The last byte waits until it is known what
// follows, or until Next asks.
func (r *reader) Read(ctx context.Context, text []byte, chunk int) (nats float64, predicted int, err error) {
	for len(text) > 0 {
		if err := ctx.Err(); err != nil {
			return nats, predicted, err
		}
		if r.last < 0 {
			r.last, r.fed, text = int(text[0]), false, text[1:]
			continue
		}
		if r.fed { // its logits are there
			nats += cross(r.logits, int(text[0]))
			predicted++
			r.last, r.fed, text = int(text[0]), false, text[1:]
			continue
		}
		n := min(chunk, len(text))
		ids, next := make([]int32, n), make([]int32, n)
		for t, x := range text[:n] {
			ids[t], next[t] = int32(r.last), int32(x)
			r.last = int(x)
		}
		mean, err := r.step(ids, next)
		if err != nil {
			return nats, predicted, err
		}
		nats += float64(mean * float64(n))
		predicted += n
		text = text[n:]
	}
	return nats, predicted, nil
}

// cross is the nats of one id under logits.
func cross(logits []float32, id int) float64 {
	top := math.Inf(-1)
	for _, z := range logits {
		top = max(top, float64(z))
	}
	sum := 0.0
	for _, z := range logits {
		sum += num.Exp(float64(z) - top)
	}
	return num.Log(sum) + top - float64(logits[id])
}

// Next returns the logits of what comes next.
func (r *reader) Next() ([]float32, error) {
	switch {
	case r.last < 0:
		return nil, errors.New("an empty context predicts nothing: read a byte first")
	case !r.fed:
		if _, err := r.step([]int32{int32(r.last)}, []int32{stream.Ignore}); err != nil {
			return nil, err
		}
		r.fed = true
	}
	return r.logits, nil
}

// Fork returns a reader with a copy of the context.
func (r *reader) Fork() Reader {
	f := *r
	f.arena, f.memory, f.logits = &tape.Arena[float32]{}, r.memory.Clone(), append([]float32(nil), r.logits...)
	return &f
}

// Hash is FNV-1a 64 over the bits of the memory, the positions and the byte that
// waits.
func (r *reader) Hash() string {
	h := fnv.New64a()
	word := func(x uint32) {
		h.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)})
	}
	r.memory.Each("", func(_ string, _ []int, data []float32) {
		for _, x := range data {
			word(math.Float32bits(x))
		}
	})
	r.memory.EachPos("", func(_ string, pos []int32) {
		for _, x := range pos {
			word(uint32(x))
		}
	})
	if !r.fed {
		word(uint32(r.last))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// Measure predicts every byte of a text once, as a build does with its held-out
// part.
func (r *reader) Measure(ctx context.Context, before byte, text []byte, chunk int) (float64, error) {
	b, err := build.NewBuilder[float32](given{r.model, r.params}, idle{}, 1, 0)
	if err != nil {
		return 0, err
	}
	m, err := b.Measure(ctx, before, text, chunk)
	return m.Bits, err
}
