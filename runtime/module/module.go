// Package module runs a generated model: it builds, tests and streams.
//
// A Module is a model with its parameters and their update. Process runs a chunk of
// a stream through it:
//
//	m, err := module.New(module.Config[float32]{Model: model, Update: update, Seed: 1})
//	h := m.NewContext(batch)
//	for {
//		c, p, err := conductor.Next(64)
//		r, h, err = m.Process(c, h, p)   // r.Nats is the loss
//		norm, err = m.Update(p)          // in a build only
//		err = conductor.Advance()
//	}
//
// The pulse carries the phase of a run, which changes one thing: in a build there is
// a tape, and a backward after the forward. The forward is the same calls of the
// same model in all phases, with the same bits. A Session is module, conductor and
// context together, with their checkpoints.
//
// The slots of a batch are independent. Each has its own context memory. They are
// divided into groups by the shape of the chunk alone, see groupsOf; one call of the model
// computes all slots of a group in which no document ends. Workers take the next free group;
// when all are done the gradients are added in the order of the groups, so no number
// depends on the number of workers. In the forward a batch of N slots computes the bits of
// N batches of one; a gradient is a sum over the tokens of a group.
//
// The context memory of a stream is moved through Process by a handle that can be
// used once. A Process that fails restores the memory: every slot is copied before
// it is changed. Where a document ends inside a chunk, a slot runs in pieces with a
// new context after the end. A gradient ends where its context begins, and at the edges
// of its chunk or, with Config.Chunks, of a window of several (truncated backpropagation
// through time): then Process gives a gradient at the last chunk of each window, and
// there is one update for each window.
//
// A step whose shapes have been seen allocates nothing: each worker computes in
// its own arena, and the state of a step is kept in the Module. So a Module serves
// one goroutine. Share makes a module for another goroutine that reads the same
// parameters.
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
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
	"github.com/nl-hecate/hecate/runtime/update"
)

// Float is the element type of a model that runs: one that both the arithmetic and a
// checkpoint support.
type Float interface{ float32 | float64 }

// What a Module refuses.
var (
	ErrShared   = errors.New("module: it shares another module's parameters and cannot update them")
	ErrGradient = errors.New("module: there is no gradient of this pulse; process a chunk of a build first")
)

// Config describes a module. Without an Update it tests and streams only. Buffer is
// the update that collects the gradients of slower levels until they are updated; a model
// of one level needs none. Clip bounds the norm of the gradients of one update; 0
// means no bound. Chunks is the number of chunks that one gradient spans; 0 means 1.
// Schedule is the learning rate by steps of the run, by default the update's at every
// step. NoDecay are kinds of parameters without weight decay, besides those that a page
// marks.
type Config[F Float] struct {
	Model    block.Model[F]
	Update   update.Update[F]
	Buffer   update.Update[F]
	Clip     float64
	Chunks   int
	Schedule update.Schedule
	NoDecay  update.Kinds
	Seed     uint64        // of the first parameters
	Memory   device.Memory // where the model computes; nil: on the processor
	BFloat16 bool          // the operands of products are stored in bfloat16; see tape.Arena
}

// A Module is a model, its parameters and their update.
type Module[F Float] struct {
	model  block.Model[F]
	params *context.ParamSet[F]
	// nil: the parameters are another module's
	writer    *context.Writer[F] //hecate:allow outerwrite the module is the driver; a forward of a window is part of its step
	optimizer *update.Machine[F] // nil: no update
	clip      float64
	memory    device.Memory
	bfloat16  bool
	order     []int                    // of the parameters: that of the table, on a device the update's
	losses    []losses[F]              // of the chunk, that a device has not given yet
	squares   []float64                // by parameter: of the gradient of a chunk on a device
	waits     [pulse.MaxLevels]float64 // for Health: squares of what waits for each level
	arenas    []*tape.Arena[F]         // by worker
	pool      workerPool
	walk      func(worker, group int) error
	walkBack  func(worker, group int) error
	groups    int // of the chunk that is processed
	job       job[F]
	window    window[F]
	grads     [][][]F  // by group and parameter
	reached   [][]bool // by group and parameter: a gradient reached it in this chunk
	movedBy   [][]F    // by parameter: the gradient that it is updated by, nil where it is not updated
	gates     []*gates // by slot
	tally     tally    // of open levels
	nats      []float64
	seeds     []F     // by slot: the adjoint of its loss
	updated   [][]F   // the gradients of the parameters that are updated
	pending   pulseID // of the gradient that waits for Update
	clock     *clock  // nil: nothing is measured
}

// gates are the levels that a gate of the page opened in one slot's chunk.
type gates struct {
	open [pulse.MaxLevels]bool
	seen [pulse.MaxLevels]bool // that a gate decides it
	note func(level, sequence int, open bool)
}

// newGates makes the gates of a slot; note is for calls whose first slot it is.
func (m *Module[F]) newGates(slot int) *gates {
	return &gates{note: func(level, sequence int, open bool) {
		g := m.gates[slot+sequence]
		g.seen[level], g.open[level] = true, g.open[level] || open
	}}
}

// A pulseID identifies a pulse.
type pulseID struct {
	valid          bool
	step, position uint64
}

func idOf(p pulse.Pulse) pulseID { return pulseID{true, p.Step(), p.Position()} }

// A job is one Process under way.
type job[F Float] struct {
	chunk  stream.Chunk
	memory *Memory[F]
	pulse  pulse.Pulse
	valid  int // targets in the chunk
	logits []F // destination of the outputs, or nil
}

// New returns a module at its first step, the parameters filled from the seed.
// The error is the model's, when it cannot declare them, or the schedule's.
func New[F Float](c Config[F]) (_ *Module[F], err error) {
	defer device.Recover(c.Memory, &err)
	if _, single := any(F(0)).(float32); c.Memory != nil && !single {
		return nil, fmt.Errorf("module: %v computes in float32 only", c.Memory)
	}
	m := &Module[F]{model: c.Model, params: &context.ParamSet[F]{}, clip: c.Clip, memory: c.Memory, bfloat16: c.BFloat16}
	m.window.length = max(c.Chunks, 1)
	if err := c.Model.Declare(m.params, ""); err != nil {
		return nil, err
	}
	m.params.Fill(c.Seed)
	if c.Update != nil {
		if err := c.Schedule.Check(); err != nil {
			return nil, err
		}
		m.optimizer = update.NewMachine(c.Update, c.Buffer, m.params.View(), update.Options{Schedule: c.Schedule, Chunks: c.Chunks, NoDecay: c.NoDecay})
	}
	if err := m.place(); err != nil {
		return nil, err
	}
	if m.writer, err = m.params.Writer(); err != nil {
		return nil, err
	}
	m.bindWorkers()
	return m, nil
}

// place puts the parameters and what their update keeps where the module computes.
func (m *Module[F]) place() error {
	for i := range m.params.View().Len() {
		m.order = append(m.order, i)
	}
	if m.memory == nil {
		return nil
	}
	if m.optimizer != nil {
		m.order = m.optimizer.Order()
	}
	m.params.Move(m.order, m.vectors)
	if m.optimizer != nil {
		if err := m.optimizer.Move(func(n int) []F { return device.Make[F](m.memory, n) }); err != nil {
			return err
		}
	}
	return m.fault()
}

// vectors are vectors for all parameters where the module computes; on a device they are one block, in
// the module's order, and the capacity of each is that of all that follow.
func (m *Module[F]) vectors() [][]F {
	v := m.params.View()
	out, n := make([][]F, v.Len()), 0
	for i := range out {
		if m.memory == nil {
			out[i] = tensor.Make[F](len(v.Data(i)))
		}
		n += len(v.Data(i))
	}
	if m.memory == nil {
		return out
	}
	free := device.Make[F](m.memory, n)
	for _, i := range m.order {
		n := len(v.Data(i))
		out[i], free = free[:n], free[n:]
	}
	return out
}

// placed is data where the module computes.
func (m *Module[F]) placed(data []F) []F {
	if m.memory == nil {
		return data
	}
	return device.Moved(m.memory, data)
}

// fault is what has gone wrong on the device since it was last looked at.
func (m *Module[F]) fault() error {
	if m.memory == nil {
		return nil
	}
	return m.memory.Err()
}

// bindWorkers makes the workers' function once, so that a step allocates none.
func (m *Module[F]) bindWorkers() {
	m.walk = func(worker, group int) error { return m.group(m.arenas[worker], group) }
	m.walkBack = func(worker, group int) error { return m.backwards(m.arenas[worker], group, nil) }
}

// Share returns a module for another goroutine that reads the parameters of this one
// and cannot update them: concurrent sessions share parameters only. It must not run
// while they are updated.
func (m *Module[F]) Share() *Module[F] {
	s := &Module[F]{model: m.model, params: m.params, memory: m.memory, bfloat16: m.bfloat16, window: window[F]{length: m.window.length}}
	s.bindWorkers()
	return s
}

// Params returns the parameters to read.
func (m *Module[F]) Params() context.View[F] { return m.params.View() }

// Model returns the model.
func (m *Module[F]) Model() block.Model[F] { return m.model }

// MovedBy lists the updates of the parameters, in the order of the parameters.
func (m *Module[F]) MovedBy() []string {
	var out []string
	if m.optimizer == nil {
		return nil
	}
	for i := range m.params.View().Len() {
		if s := m.optimizer.Slots(i); s != nil && !slices.Contains(out, s.By()) {
			out = append(out, s.By())
		}
	}
	return out
}

// CheckChunk refuses chunks of fewer tokens than a part of the model computes
// together: that part would never have a whole chunk and would compute token by
// token. A call that a document's end cuts short may be shorter. The error names
// the part and the smallest valid size.
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

// Decide sets the number of steps of a schedule that has none yet. The error is the
// schedule's: a run of so few steps does not have room for it.
func (m *Module[F]) Decide(steps int) error {
	s := m.optimizer.Schedule()
	s.Steps = steps
	if err := s.Check(); err != nil {
		return err
	}
	m.optimizer.SetSchedule(s)
	return nil
}

// updates reports whether a parameter is updated at the end of a window: whether its level
// was active in one of the window's chunks.
func (m *Module[F]) updates(p context.Param) bool {
	if p.Gated {
		return !p.Fixed && m.window.open[p.Level]
	}
	return !p.Fixed && m.window.active>>p.Level&1 == 1
}

// workers returns the number of goroutines that share n groups, and makes an arena for
// each.
func (m *Module[F]) workers(n int) int {
	n = max(1, min(n, runtime.GOMAXPROCS(0)))
	if m.memory != nil {
		n = 1
	}
	for len(m.arenas) < n {
		m.arenas = append(m.arenas, &tape.Arena[F]{Memory: m.memory, BFloat16: m.bfloat16})
	}
	if m.clock != nil {
		bindProfiles(m.clock, m.arenas)
	}
	return n
}
