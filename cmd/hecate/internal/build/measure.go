package build

import (
	"context"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// measureLanes is how many stretches a part is cut into to be measured. It
// does not depend on the machine, because each stretch begins with a fresh
// context and so the cuts show in the figure.
const measureLanes = 8

// A Measurement is how well a model predicts a part of a text.
type Measurement struct {
	Bits  float64 // per byte
	Bytes int     // predicted, each once
}

// Measure streams part through the model without a tape and predicts every
// byte of it once, the first from before, the byte that precedes the part. The
// builder's own memories do not move. It stops with ctx's error.
func (b *Builder[F]) Measure(ctx context.Context, before byte, part []byte, chunk int) (Measurement, error) {
	n := min(measureLanes, len(part))
	nats := make([]float64, n)
	err := b.crew.each(n, b.workers(n), func(worker, i int) error {
		lo, hi := i*len(part)/n, (i+1)*len(part)/n
		prev := before
		if lo > 0 {
			prev = part[lo-1]
		}
		var err error
		nats[i], err = b.stretch(ctx, b.arenas[worker], prev, part[lo:hi], chunk)
		return err
	})
	if err != nil {
		return Measurement{}, err
	}
	sum := 0.0
	for _, x := range nats {
		sum += x
	}
	return Measurement{Bits: bits(sum / float64(len(part))), Bytes: len(part)}, nil
}

// stretch returns the nats of predicting text in a fresh context.
func (b *Builder[F]) stretch(ctx context.Context, a *tape.Arena[F], prev byte, text []byte, chunk int) (sum float64, err error) {
	m := b.model.NewMemory(1)
	p := pulse.First(pulse.Test)
	ids, next := make([]int32, chunk), make([]int32, chunk)
	for len(text) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := min(chunk, len(text))
		for t, x := range text[:n] {
			ids[t], next[t] = int32(prev), int32(x)
			prev = x
		}
		err = tape.Without(a, p, func(r *tape.Run[F]) error {
			call := block.Call[F]{Run: r, Pulse: p, Lanes: 1, Steps: n}
			loss, _, err := b.model.Step(call, block.Bind(r, b.params.View()), m, ids[:n], next[:n])
			if err != nil {
				return err
			}
			if !num.IsFinite(loss.Data[0]) {
				return fmt.Errorf("%w: the loss is %v", ErrDiverged, loss.Data[0])
			}
			sum += float64(float64(loss.Data[0]) * float64(n))
			return nil
		})
		if err != nil {
			return 0, err
		}
		m.Keep()
		p = p.Next(n)
		text = text[n:]
	}
	return sum, nil
}
