package build

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// temperature divides the logits of a sample: below one, likely bytes come
// more often than the model says.
const temperature = 0.8

// Sample draws n bytes that go on after the first lane's text; first is the
// byte that the lane would read next. It works on a copy of the lane's memory,
// so the build goes on as if nothing had been drawn. Stopped by ctx, it
// returns what it has.
func (b *Builder[F]) Sample(ctx context.Context, first byte, n int, seed uint64) ([]byte, error) {
	m := b.lanes[0].memory.Clone()
	random := num.NewStream("sample", seed)
	b.workers(1) // sees that there is an arena
	p := pulse.First(pulse.Stream)
	out := make([]byte, 0, n)
	last := first
	ids, next := make([]int32, 1), []int32{stream.Ignore}
	for len(out) < n && ctx.Err() == nil {
		ids[0] = int32(last)
		err := tape.Without(b.arenas[0], p, func(r *tape.Run[F]) error {
			call := block.Call[F]{Run: r, Pulse: p, Lanes: 1, Steps: 1}
			_, logits, err := b.model.Step(call, block.Bind(r, b.params.View()), m, ids, next)
			if err == nil {
				last = draw(logits.Data, random)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		m.Keep()
		p = p.Next(1)
		out = append(out, last)
	}
	return out, nil
}

// draw picks a byte with probability softmax(logits/temperature).
func draw[F Float](logits []F, random *num.Stream) byte {
	logits = logits[:min(len(logits), stream.Vocab)]
	top := logits[0]
	for _, z := range logits {
		top = max(top, z)
	}
	var weight [stream.Vocab]float64
	total := 0.0
	for i, z := range logits {
		weight[i] = num.Exp(float64(z-top) / temperature)
		total += weight[i]
	}
	at := float64(random.Unit() * total)
	for i := range logits {
		if at -= weight[i]; at < 0 {
			return byte(i)
		}
	}
	return byte(len(logits) - 1)
}

// printable turns bytes into text that is safe on a terminal: newlines stay,
// what is no printable UTF-8 becomes a middle dot.
func printable(text []byte) string {
	var s strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			s.WriteRune(r)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			s.WriteRune('·')
		default:
			s.WriteRune(r)
		}
		text = text[n:]
	}
	return s.String()
}
