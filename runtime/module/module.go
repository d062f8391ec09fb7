// Package module puts a generated model to work: it builds, tests and streams.
//
// A Module is a model with its parameters and what moves them. Process runs a
// chunk of a stream through it:
//
//	m, err := module.New(module.Config[float32]{Model: model, Update: update, Seed: 1})
//	h := m.NewContext(lanes)
//	for {
//		c, p, err := conductor.Next(64)
//		r, h, err = m.Process(c, h, p)   // r.Nats is the loss
//		norm, err = m.Update(p)          // in a build only
//		err = conductor.Advance()
//	}
//
// What a run is for is said by the pulse and changes one thing: in a build there
// is a tape, and behind the forward a backward. The forward is the same calls of
// the same model in all phases, and gives the same bits. A Session is all three,
// module, conductor and context, with their checkpoints.
//
// The slots of a chunk, one for each lane of the stream, do not see one another.
// Each has its own context memory and its own gradient. Workers take slots as
// they come free; when all are done the gradients are added in the order of the
// slots, so no number depends on how many workers there are, and a batch of N
// slots gives the bits of N batches of one.
//
// The context memory of a stream is moved through Process by a handle that is
// good once. A Process that fails gives back the memory that it was given: every
// slot is copied before it is touched. Where a document ends inside a chunk, a
// slot runs in pieces with a new context behind the end; no gradient crosses an
// edge of a call.
//
// A step whose shapes have been seen allocates nothing: each worker computes in
// its own arena, and what a step hands to its workers lies in the Module. So a
// Module serves one goroutine. Share gives another one the same parameters to
// read.
//
//hecate:conductor
package module

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Float is the element type of a model that is put to work: what both the
// arithmetic and a checkpoint know.
type Float interface{ float32 | float64 }

// What a Module refuses.
var (
	ErrShared   = errors.New("module: it reads another module's parameters and moves none")
	ErrGradient = errors.New("module: there is no gradient of this pulse; process a chunk of a build first")
)

// Config is what a module is made of. Without an Update it tests and streams
// only. Buffer is the update that collects what waits for slower levels; a model of
// one level needs none. Clip bounds the norm of the gradients that fire together; 0
// is none.
type Config[F Float] struct {
	Model  block.Model[F]
	Update update.Update[F]
	Buffer update.Update[F]
	Clip   float64
	Seed   uint64 // of the first parameters
}

// A Module is a model, its parameters and what moves them.
type Module[F Float] struct {
	model  block.Model[F]
	params *context.ParamSet[F]
	writer *context.Writer[F] // nil: the parameters are another module's
	moves  *update.Machine[F] // nil: nothing moves them
	clip   float64
	arenas []*tape.Arena[F] // by worker
	crew   crew
	walk   func(worker, slot int) error
	job    job[F]
	grads  [][][]F  // by slot and parameter
	hits   [][]bool // by slot and parameter: a gradient reached it in this chunk
	errors [][]F    // by parameter: what it moves by, nil where it does not fire
	gates  []*gates // by slot
	tally  tally    // of open levels
	nats   []float64
	firing [][]F  // the gradients of what fires in an update
	due    moment // of the gradient that waits for Update
}

// gates are the levels that a gate of the page opened in one slot's chunk.
type gates struct {
	open [pulse.MaxLevels]bool
	seen [pulse.MaxLevels]bool // that a gate decides it
	note func(level, lane int, open bool)
}

func newGates() *gates {
	g := &gates{}
	g.note = func(level, _ int, open bool) {
		g.seen[level], g.open[level] = true, g.open[level] || open
	}
	return g
}

// A moment is a pulse to be known again.
type moment struct {
	waits          bool
	step, position uint64
}

func momentOf(p pulse.Pulse) moment { return moment{true, p.Step(), p.Position()} }

// A job is one Process under way.
type job[F Float] struct {
	chunk  stream.Chunk
	memory *Memory[F]
	pulse  pulse.Pulse
	valid  int // targets in the chunk
	logits []F // where to leave the outputs, or nil
}

// New returns a module at its first step, the parameters filled from the seed.
// The error is the model's, when it cannot declare them.
func New[F Float](c Config[F]) (*Module[F], error) {
	m := &Module[F]{model: c.Model, params: &context.ParamSet[F]{}, clip: c.Clip}
	if err := c.Model.Declare(m.params, ""); err != nil {
		return nil, err
	}
	m.params.Fill(c.Seed)
	var err error
	if m.writer, err = m.params.Writer(); err != nil {
		return nil, err
	}
	if c.Update != nil {
		m.moves = update.NewMachine(c.Update, c.Buffer, m.params.View())
	}
	m.wire()
	return m, nil
}

// wire makes what the workers call, once, so that a step makes none.
func (m *Module[F]) wire() {
	m.walk = func(worker, slot int) error { return m.slot(m.arenas[worker], slot) }
}

// Share returns a module that reads the parameters of this one and moves none,
// for another goroutine: sessions side by side share parameters only. It must not
// run while they are updated.
func (m *Module[F]) Share() *Module[F] {
	s := &Module[F]{model: m.model, params: m.params}
	s.wire()
	return s
}

// Params returns the parameters to read.
func (m *Module[F]) Params() context.View[F] { return m.params.View() }

// Model returns the model.
func (m *Module[F]) Model() block.Model[F] { return m.model }

// MovedBy lists the updates that move the parameters, in the order in which they
// come.
func (m *Module[F]) MovedBy() []string {
	var out []string
	if m.moves == nil {
		return nil
	}
	for i := range m.params.View().Len() {
		if s := m.moves.Slots(i); s != nil && !slices.Contains(out, s.By()) {
			out = append(out, s.By())
		}
	}
	return out
}

// CheckChunk refuses chunks of fewer tokens than a part of the model computes
// together: no whole chunk of that part would ever be, and all would go token by
// token. A call that a document's end cuts short may be shorter. The error names
// the part and the least that would do.
func (m *Module[F]) CheckChunk(tokens int) (err error) {
	const whole = "the model"
	m.model.NewMemory(1).Chunks(whole, func(part string, n int) {
		if tokens < n && err == nil {
			if part != whole {
				part = part[len(whole)+1:]
			}
			err = fmt.Errorf("the chunk is %d, must be at least %d: %s computes chunks of %d tokens", tokens, n, part, n)
		}
	})
	return err
}

// fires reports whether a parameter is moved at a pulse.
func (m *Module[F]) fires(p context.Param, at pulse.Pulse) bool {
	if p.Gated {
		return !p.Fixed && m.gates[0].open[level(p)]
	}
	return !p.Fixed && at.Active(level(p))
}

// level is the level of frequency that a parameter belongs to.
func level(p context.Param) int { return p.Level }

// workers returns how many goroutines share n slots, and sees that each has an
// arena.
func (m *Module[F]) workers(n int) int {
	n = max(1, min(n, runtime.GOMAXPROCS(0)))
	for len(m.arenas) < n {
		m.arenas = append(m.arenas, &tape.Arena[F]{})
	}
	return n
}
