package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
)

// reader is a Reader over a module and a context of one lane.
type reader struct {
	info    Info
	module  *module.Module[float32]
	context rtcontext.Handle[*module.Memory[float32]]
	pulse   pulse.Pulse
	last    int       // the byte that was read last, -1 before the first
	fed     bool      // whether the memory has seen it
	outputs []float32 // of the last call
	logits  []float32 // of its last token
	ids     []int32
	next    []int32
}

// NewReader opens the parameters of a checkpoint.
func (m *Modules) NewReader(path string) (Reader, error) {
	s, err := checkpoint.Read(path)
	if err != nil {
		return nil, err
	}
	r := &reader{pulse: pulse.First(pulse.Stream), last: -1}
	if err := m.load(r, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// load makes the model that a checkpoint names and takes its parameters.
func (m *Modules) load(r *reader, s *checkpoint.Snapshot) error {
	name, err := s.Meta("run.model")
	if err != nil {
		return errors.New("no checkpoint of a build: it names no model")
	}
	if kind, err := s.Meta("run.stream"); err == nil && kind != "bytes" {
		return fmt.Errorf("it was built on a stream of %s, and this command reads bytes", kind)
	}
	words, err := s.Meta("run.sizes")
	if err != nil {
		return err
	}
	sizes := map[string]int{}
	for _, w := range strings.Fields(words) {
		k, v, _ := strings.Cut(w, "=")
		if sizes[k], err = strconv.Atoi(v); err != nil {
			return fmt.Errorf("metadata run.sizes: %q is no size", w)
		}
	}
	model, err := m.New(name, block.NewSizes(sizes))
	if err != nil {
		return err
	}
	if r.module, err = module.New(module.Config[float32]{Model: model}); err != nil {
		return err
	}
	if err := r.module.Donate(s); err != nil {
		return err
	}
	r.context = r.module.NewContext(1)
	r.info = Info{Model: name, Sizes: words, Arithmetic: cpu.Active().Arithmetic(), Lanes: 1, Params: table(r.module)}
	r.info.Text, _ = s.Meta("run.text") // of interest only where it is there
	chunk, _ := s.Meta("run.chunk")
	r.info.Chunk, _ = strconv.Atoi(chunk)
	r.info.States, err = states(r.module)
	return err
}

// Info is what the checkpoint says.
func (r *reader) Info() Info { return r.info }

// Position is how many bytes the context has seen.
func (r *reader) Position() int {
	n := int(r.pulse.Position())
	if r.last >= 0 && !r.fed {
		n++
	}
	return n
}

// step runs the model over ids, which the context goes on with.
func (r *reader) step() (nats float64, err error) {
	v := r.module.Model().Vocabulary()
	n := len(r.ids)
	for len(r.outputs) < n*v {
		r.outputs = append(r.outputs, make([]float32, n*v-len(r.outputs))...)
	}
	out := r.outputs[:n*v]
	p := r.pulse.Of(n)
	var x module.Result
	x, r.context, err = r.module.ProcessInto(out, stream.Chunk{Lanes: 1, Tokens: n, Inputs: r.ids, Targets: r.next}, r.context, p)
	if err != nil {
		return 0, err
	}
	r.pulse, r.logits = p.Next(n), out[(n-1)*v:]
	return x.Nats * float64(x.Valid), nil
}

// Read goes on in the context. The last byte waits until it is known what
// follows, or until Next asks.
func (r *reader) Read(ctx context.Context, text []byte, chunk int) (nats float64, predicted int, err error) {
	for len(text) > 0 {
		if err := ctx.Err(); err != nil {
			return nats, predicted, err
		}
		if r.last < 0 || r.fed {
			if r.fed { // its logits are there
				nats += cross(r.logits, int(text[0]))
				predicted++
			}
			r.last, r.fed, text = int(text[0]), false, text[1:]
			continue
		}
		n := min(chunk, len(text))
		r.ids, r.next = r.ids[:0], r.next[:0]
		last := r.last
		for _, x := range text[:n] {
			r.ids, r.next = append(r.ids, int32(last)), append(r.next, int32(x))
			last = int(x)
		}
		more, err := r.step()
		if err != nil {
			return nats, predicted, err
		}
		r.last = last
		nats, predicted, text = nats+more, predicted+n, text[n:]
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
	if r.last < 0 {
		return nil, errors.New("an empty context predicts nothing: read a byte first")
	}
	if !r.fed {
		r.ids, r.next = append(r.ids[:0], int32(r.last)), append(r.next[:0], stream.Ignore)
		if _, err := r.step(); err != nil {
			return nil, err
		}
		r.fed = true
	}
	return r.logits, nil
}

// Fork returns a reader with a copy of the context.
func (r *reader) Fork() (Reader, error) {
	f := *r
	var err error
	f.context, err = r.context.Fork((*module.Memory[float32]).Clone)
	f.module, f.ids, f.next, f.outputs = r.module.Share(), nil, nil, nil
	f.logits = append([]float32(nil), r.logits...)
	return &f, err
}

// Hash is FNV-1a 64 over the bits of the memory, the positions and the byte that
// waits.
func (r *reader) Hash() (string, error) {
	h := fnv.New64a()
	word := func(x uint32) {
		h.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)})
	}
	m, err := r.context.Take()
	if err != nil {
		return "", err
	}
	m.Each(func(_ string, _ []int, data []float32) {
		for _, x := range data {
			word(math.Float32bits(x))
		}
	})
	m.EachPos(func(_ string, pos []int32) {
		for _, x := range pos {
			word(uint32(x))
		}
	})
	if !r.fed {
		word(uint32(r.last))
	}
	r.context, err = r.context.Return(m)
	return fmt.Sprintf("%016x", h.Sum64()), err
}

// Measure predicts every byte of a text once, as a build does with its held-out
// part.
func (r *reader) Measure(ctx context.Context, before byte, text []byte, chunk int) (float64, error) {
	nats, err := r.module.Score(ctx, pulse.Schedule{}, int32(before), tokens(text), chunk)
	return nats / math.Ln2, err
}
