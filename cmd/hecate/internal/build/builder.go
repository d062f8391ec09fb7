package build

import (
	"context"
	"math"

	"github.com/nl-hecate/hecate/runtime/block"
	pcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A Builder is a module and a context that chunks are given to one by one, by
// whoever has a stream of their own.
type Builder[F Float] struct {
	module  *module.Module[F]
	context pcontext.Handle[*module.Memory[F]]
	pulse   pulse.Pulse
}

// NewBuilder returns a builder at its first step, the parameters filled from
// the seed.
func NewBuilder[F Float](m block.Model[F], u update.Update[F], lanes int, seed uint64) (*Builder[F], error) {
	b, err := module.New(module.Config[F]{Model: m, Update: u, Seed: seed})
	if err != nil {
		return nil, err
	}
	return &Builder[F]{module: b, context: b.NewContext(lanes), pulse: pulse.First(pulse.Build)}, nil
}

// Step runs one chunk forwards and backwards and updates the parameters once.
// It returns the loss before the update, in nats. Errors are those of
// module.Process and Update.
func (b *Builder[F]) Step(c stream.Chunk) (nats float64, err error) {
	p := b.pulse.Of(c.Tokens)
	var r module.Result
	if r, b.context, err = b.module.Process(c, b.context, p); err != nil {
		return 0, err
	}
	_, err = b.module.Update(p)
	b.pulse = p.Next(c.Tokens)
	return r.Nats, err
}

// Sample draws n bytes that go on after the first lane's text; first is the
// byte that the lane would read next.
func (b *Builder[F]) Sample(ctx context.Context, first byte, n int, seed uint64) ([]byte, error) {
	return bytesOf(b.module.Generate(ctx, b.context, 0, pulse.First(pulse.Stream), []int32{int32(first)}, sampling(n, seed)))
}

// bits turns nats into bits.
func bits(nats float64) float64 { return nats / math.Ln2 }
