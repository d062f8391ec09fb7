package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	rtdevice "github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tokenizer"
)

// reader is a Reader over a saved model and one context. Tokens may come in pieces of
// any length; the schedule advances by one step when it has seen a whole chunk.
type reader struct {
	*saved
	module  *module.Module[float32]
	context rtcontext.Handle[*module.Memory[float32]]
	pulse   pulse.Pulse
	used    int       // tokens of the schedule's current step
	last    int32     // the token that was read last, -1 before the first
	fed     bool      // whether the memory has seen it
	outputs []float32 // of the last call
	logits  []float32 // of its last token
	ids     []int32
	next    []int32
}

// NewReader opens the parameters of a checkpoint.
func (m *Modules) NewReader(path, tokenizer, device string) (_ Reader, err error) {
	x, err := m.open(path, tokenizer, device, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	defer rtdevice.Recover(x.place.memory, &err)
	return &reader{saved: x, module: x.module, context: x.module.NewContext(1), pulse: x.schedule.First(pulse.Stream), last: -1}, nil
}

// Info is the info of the checkpoint.
func (r *reader) Info() Info { return r.info }

// Encode converts text to tokens, at the start of a context with the special tokens
// that begin a document.
func (r *reader) Encode(text []byte) (ids []int32, err error) {
	if r.tokenizer != nil {
		if r.Position() == 0 {
			before, _ := r.tokenizer.Frame()
			ids = append(ids, before...)
		}
		return r.tokenizer.Encode(ids, text), nil
	}
	for w := range strings.FieldsSeq(string(text)) {
		id, err := strconv.ParseInt(w, 10, 32)
		if v := r.module.Model().Vocabulary(); err != nil || id < 0 || id >= int64(v) {
			return nil, fmt.Errorf("%q is not a token: the model was built on ids from 0 to %d", w, v-1)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// Decode is the text of a token.
func (r *reader) Decode(id int32, first bool) ([]byte, error) {
	switch {
	case r.tokenizer != nil:
		return tokenizer.Decode(r.tokenizer, nil, []int32{id})
	case first:
		return []byte(fmt.Sprint(id)), nil
	}
	return []byte(fmt.Sprint(" ", id)), nil
}

// Position is the number of tokens that the context has seen.
func (r *reader) Position() int {
	n := int(r.pulse.Position())
	if r.last >= 0 && !r.fed {
		n++
	}
	return n
}

// step runs the model over ids, the continuation of the context.
func (r *reader) step(chunk int) (nats float64, err error) {
	v := r.module.Model().Vocabulary()
	n := len(r.ids)
	for len(r.outputs) < n*v {
		r.outputs = append(r.outputs, make([]float32, n*v-len(r.outputs))...)
	}
	out := r.outputs[:n*v]
	p := r.pulse.Of(n)
	var x module.Result
	x, r.context, err = r.module.ProcessInto(out, stream.Chunk{Batch: 1, Tokens: n, Inputs: r.ids, Targets: r.next}, r.context, p)
	if err != nil {
		return 0, err
	}
	r.logits = out[(n-1)*v:]
	if r.used += n; r.used < chunk {
		r.pulse = p.At(p.Step(), p.Position()+uint64(n))
	} else {
		r.pulse, r.used = p.Next(n), 0
	}
	return x.Nats * float64(x.Valid), nil
}

// Read appends tokens to the context. The last token is processed when its successor
// is known, or by Next.
func (r *reader) Read(ctx context.Context, text []int32, chunk int) (nats float64, predicted int, err error) {
	for len(text) > 0 {
		if err := ctx.Err(); err != nil {
			return nats, predicted, err
		}
		if r.last < 0 || r.fed {
			if r.fed { // its logits are known
				nats += cross(r.logits, int(text[0]))
				predicted += r.size(text[0])
			}
			r.last, r.fed, text = text[0], false, text[1:]
			continue
		}
		n := min(max(chunk-r.used, 1), len(text))
		r.ids = append(append(r.ids[:0], r.last), text[:n-1]...)
		r.next = append(r.next[:0], text[:n]...)
		more, err := r.step(chunk)
		if err != nil {
			return nats, predicted, err
		}
		for _, id := range r.next {
			predicted += r.size(id)
		}
		r.last = text[n-1]
		nats, text = nats+more, text[n:]
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

// Next returns the logits of the next token.
func (r *reader) Next() ([]float32, error) {
	if r.last < 0 {
		return nil, errors.New("an empty context predicts nothing: read a token first")
	}
	if !r.fed {
		r.ids, r.next = append(r.ids[:0], r.last), append(r.next[:0], stream.Ignore)
		if _, err := r.step(max(r.info.Chunk, 1)); err != nil {
			return nil, err
		}
		r.fed = true
	}
	return r.logits, nil
}

// Fork returns a reader with a copy of the context.
func (r *reader) Fork() (Reader, error) {
	fork, err := r.context.Fork((*module.Memory[float32]).Clone)
	if err != nil {
		return nil, err
	}
	return &reader{saved: r.saved, module: r.module.Share(), context: fork, pulse: r.pulse, used: r.used, last: r.last, fed: r.fed,
		logits: append([]float32(nil), r.logits...)}, nil
}

// Hash is FNV-1a 64 over the bits of the memory, the positions and the
// pending token.
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
