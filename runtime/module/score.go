package module

import (
	goctx "context"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// scoreBatch is the number of ranges that a text is cut into to be scored. It does
// not depend on the machine, because each range begins with a fresh context, which
// shows in the score.
const scoreBatch = 8

// Score streams tokens through the model without a tape and predicts every one
// of them once, the first from before, the token that precedes them. It returns
// the mean loss in nats. They are read in eight ranges in parallel, each from a
// fresh context, chunk tokens at a time, with the given schedule. No parameter and no
// context changes. Score stops with ctx's error; a loss that is NaN or infinite is a
// *BadNumber.
func (m *Module[F]) Score(ctx goctx.Context, s pulse.Schedule, before int32, tokens []int32, chunk int) (float64, error) {
	n := min(scoreBatch, len(tokens))
	nats := make([]float64, n)
	err := m.pool.each(n, m.workers(n), func(worker, i int) error {
		lo, hi := i*len(tokens)/n, (i+1)*len(tokens)/n
		prev := before
		if lo > 0 {
			prev = tokens[lo-1]
		}
		var err error
		nats[i], err = m.scored(ctx, m.arenas[worker], s.First(pulse.Test), prev, tokens[lo:hi], chunk)
		return err
	})
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, x := range nats {
		sum += x
	}
	return sum / float64(len(tokens)), nil
}

// scored returns the nats of predicting tokens in a fresh context.
func (m *Module[F]) scored(ctx goctx.Context, a *tape.Arena[F], p pulse.Pulse, prev int32, tokens []int32, chunk int) (sum float64, err error) {
	defer device.Recover(m.memory, &err)
	mem := m.placedMemory(1)
	defer mem.Release()
	ids := make([]int32, chunk)
	for len(tokens) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n := min(chunk, len(tokens))
		ids[0] = prev
		copy(ids[1:n], tokens)
		prev = tokens[n-1]
		p = p.Of(n)
		err = tape.Without(a, p, func(r *tape.Run[F]) error {
			call := block.Call[F]{Run: r, Pulse: p, Batch: 1, Tokens: n}
			loss, _, err := m.model.Step(call, block.Bind(r, m.params.View()), mem, ids[:n], tokens[:n])
			if err != nil {
				return err
			}
			nats := float64(device.Host(loss.Data)[0])
			if !num.IsFinite(nats) {
				return &BadNumber{What: "the loss", Value: nats, Step: p.Step(), Slot: -1, Level: -1, Token: -1}
			}
			sum += float64(nats * float64(n))
			return m.fault()
		})
		if err != nil {
			return 0, err
		}
		mem.Keep()
		p = p.Next(n)
		tokens = tokens[n:]
	}
	return sum, nil
}

// ScorePart reads a part once, in one context, and returns the mean loss in nats of
// the tokens that its source scores, 0 if there are none. No parameter and no context
// changes. ScorePart stops with ctx's error.
func (m *Module[F]) ScorePart(ctx goctx.Context, s pulse.Schedule, part stream.Part, chunk int) (_ float64, err error) {
	defer device.Recover(m.memory, &err)
	in, err := stream.NewSession(part, 1)
	if err != nil {
		return 0, err
	}
	memory := m.newMemory(1)
	defer memory.release()
	h, p := context.New(memory), s.First(pulse.Test)
	sum, valid := 0.0, 0
	for !in.Ended() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		c, err := in.Read(min(chunk, in.Left(0)))
		if err != nil {
			return 0, err
		}
		p = p.Of(c.Tokens)
		var r Result
		if r, h, err = m.Process(c, h, p); err != nil {
			return 0, err
		}
		sum, valid, p = sum+float64(r.Nats*float64(r.Valid)), valid+r.Valid, p.Next(c.Tokens)
	}
	return sum / float64(max(valid, 1)), nil
}
