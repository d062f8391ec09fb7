package build

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// ErrDiverged says that a loss or a gradient is no longer a number.
var ErrDiverged = errors.New("the build has diverged")

// A Builder moves a model's parameters, one chunk of all lanes at a time.
//
// The lanes are independent until their gradients meet. Each has its own
// context memory and its own gradient; workers take lanes as they come free,
// and when all are done the gradients are added in the order of the lanes. So
// no number depends on how many workers there are.
//
// The loss of a chunk is the mean, in nats, over all its valid targets. Where
// a lane's text ends inside a chunk, the lane runs in pieces with a new
// context after the end; memory is carried from chunk to chunk as a value and
// no gradient crosses an edge.
//
// A step whose shapes have been seen allocates nothing: each worker computes in
// its own arena, and what a step hands to its workers lies in the Builder.
type Builder[F Float] struct {
	model  block.Model[F]
	params *context.ParamSet[F]
	writer *context.Writer[F]
	moves  *update.Machine[F]
	clip   float64 // bound of the norm of a step's gradients; 0: none
	firing [][]F   // the gradients of what fires in a step
	lanes  []*lane[F]
	arenas []*tape.Arena[F] // by worker
	crew   crew
	chunk  stream.Chunk // of the step
	valid  int          // targets in it
	walk   func(worker, lane int) error
	pulse  pulse.Pulse
}

// A lane is one walk through the text.
type lane[F Float] struct {
	memory *block.Memory[F]
	grads  [][]F // by parameter
	nats   float64
}

// NewBuilder returns a builder at its first step, the parameters filled from
// the seed.
func NewBuilder[F Float](m block.Model[F], u update.Update[F], lanes int, seed uint64) (*Builder[F], error) {
	b := &Builder[F]{model: m, params: &context.ParamSet[F]{}, pulse: pulse.First(pulse.Build)}
	if err := m.Declare(b.params, ""); err != nil {
		return nil, err
	}
	b.params.Fill(seed)
	var err error
	if b.writer, err = b.params.Writer(); err != nil {
		return nil, err
	}
	v := b.params.View()
	b.moves = update.NewMachine(u, nil, v)
	for range lanes {
		l := &lane[F]{memory: m.NewMemory(1)}
		for i := range v.Len() {
			l.grads = append(l.grads, tensor.Make[F](len(v.Data(i))))
		}
		b.lanes = append(b.lanes, l)
	}
	b.walk = func(worker, l int) error { return b.lane(b.arenas[worker], l, b.chunk, b.valid) }
	return b, nil
}

// chunks refuses calls of fewer tokens than a part of the model computes
// together: no whole chunk would ever be, and all would go token by token. A
// call that a text's end cuts short may be shorter.
func (b *Builder[F]) chunks(tokens int) (err error) {
	b.lanes[0].memory.Chunks("the model", func(part string, n int) {
		if tokens < n && err == nil {
			err = fmt.Errorf("--chunk is %d, must be at least %d: %s computes chunks of %d tokens", tokens, n, strings.TrimPrefix(part, "the model."), n)
		}
	})
	return err
}

// Params returns the parameters to read.
func (b *Builder[F]) Params() context.View[F] { return b.params.View() }

// Pulse returns the time of the next chunk.
func (b *Builder[F]) Pulse() pulse.Pulse { return b.pulse }

// Fresh starts a new context in every lane.
func (b *Builder[F]) Fresh() {
	for _, l := range b.lanes {
		l.memory.Reset(0)
	}
}

// Step runs one chunk forwards and backwards and updates the parameters once.
// It returns the loss before the update, in nats. The error wraps ErrDiverged,
// and then nothing was updated, or is the model's.
func (b *Builder[F]) Step(c stream.Chunk) (nats float64, err error) {
	if c.Lanes != len(b.lanes) {
		panic(fmt.Sprintf("build: BUG: chunk of %d lanes for a builder of %d", c.Lanes, len(b.lanes)))
	}
	b.chunk, b.valid = c, count(c.Targets)
	if err := b.crew.each(len(b.lanes), b.workers(len(b.lanes)), b.walk); err != nil {
		return 0, fmt.Errorf("step %d: %w", b.pulse.Step()+1, err)
	}
	for _, l := range b.lanes {
		nats += l.nats
	}
	if b.valid > 0 {
		nats /= float64(b.valid)
	}
	sum, err := b.gather()
	if err != nil {
		return 0, fmt.Errorf("step %d: %w", b.pulse.Step()+1, err)
	}
	b.firing = b.firing[:0]
	for i, g := range sum {
		if !b.params.View().Param(i).Fixed {
			b.firing = append(b.firing, g)
		}
	}
	update.Clip(b.firing, b.clip)
	err = tape.Without(b.arenas[0], b.pulse, func(r *tape.Run[F]) error {
		b.writer.Update(func(i int, _ context.Param, data []F) {
			b.moves.Fire(r, i, data, sum[i])
		})
		return nil
	})
	b.pulse = b.pulse.Next(c.Tokens)
	return nats, err
}

// movedBy lists the updates that move the parameters, in the order in which they
// come.
func (b *Builder[F]) movedBy() []string {
	var out []string
	for i := range b.params.View().Len() {
		if s := b.moves.Slots(i); s != nil && !slices.Contains(out, s.By()) {
			out = append(out, s.By())
		}
	}
	return out
}

// gather adds the gradients of all lanes in the order of the lanes, into the
// first lane's.
func (b *Builder[F]) gather() ([][]F, error) {
	sum := b.lanes[0].grads
	for i, g := range sum {
		for _, l := range b.lanes[1:] {
			for j, x := range l.grads[i] {
				g[j] += x
			}
		}
		for j, x := range g {
			if !num.IsFinite(x) {
				return nil, fmt.Errorf("%w: the gradient of %s[%d] is %v", ErrDiverged, b.params.View().Param(i).Name, j, x)
			}
		}
	}
	return sum, nil
}

// lane runs lane l over its chunk, in pieces where its text ends.
func (b *Builder[F]) lane(a *tape.Arena[F], l int, c stream.Chunk, valid int) error {
	ln := b.lanes[l]
	ln.nats = 0
	for _, g := range ln.grads {
		clear(g)
	}
	ids, next := c.Inputs[l*c.Tokens:(l+1)*c.Tokens], c.Targets[l*c.Tokens:(l+1)*c.Tokens]
	from := 0
	for _, e := range c.Events {
		if e.Lane != l {
			continue
		}
		if err := b.piece(a, ln, ids[from:e.At], next[from:e.At], valid); err != nil {
			return fmt.Errorf("lane %d: %w", l, err)
		}
		ln.memory.Reset(0)
		from = e.At
	}
	if err := b.piece(a, ln, ids[from:], next[from:], valid); err != nil {
		return fmt.Errorf("lane %d: %w", l, err)
	}
	return nil
}

// piece runs consecutive tokens of one context forwards and backwards. Its
// mean loss counts in the chunk's by its share of the valid targets.
func (b *Builder[F]) piece(a *tape.Arena[F], l *lane[F], ids, next []int32, valid int) error {
	if len(ids) == 0 {
		return nil
	}
	err := tape.With(a, b.pulse, func(r *tape.Run[F]) error {
		w := block.Bind(r, b.params.View())
		call := block.Call[F]{Run: r, Pulse: r.Pulse, Lanes: 1, Steps: len(ids)}
		loss, _, err := b.model.Step(call, w, l.memory, ids, next)
		if err != nil {
			return err
		}
		if !num.IsFinite(loss.Data[0]) {
			return fmt.Errorf("%w: the loss is %v", ErrDiverged, loss.Data[0])
		}
		own := count(next)
		if own == 0 {
			return nil // only the memory moves
		}
		l.nats += float64(float64(loss.Data[0]) * float64(own))
		r.Tape.Seed(loss, []F{F(float64(own) / float64(valid))})
		r.Tape.Reverse()
		i := 0
		r.Tape.Params(func(_ string, grad []F) { // in the order of the table, as Bind registers
			for j, x := range grad {
				l.grads[i][j] += x
			}
			i++
		})
		return nil
	})
	if err == nil {
		l.memory.Keep()
	}
	return err
}

// count returns how many targets are there to be predicted.
func count(next []int32) (n int) {
	for _, t := range next {
		if t != stream.Ignore {
			n++
		}
	}
	return n
}

// workers returns how many goroutines share n lanes, and sees that each has an
// arena.
func (b *Builder[F]) workers(n int) int {
	n = min(n, runtime.GOMAXPROCS(0))
	for len(b.arenas) < n {
		b.arenas = append(b.arenas, &tape.Arena[F]{})
	}
	return n
}

// bits turns nats into bits.
func bits(nats float64) float64 { return nats / math.Ln2 }
