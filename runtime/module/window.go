package module

import (
	"errors"
	"slices"

	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// Truncated backpropagation through time (Williams and Peng 1990) with activation
// checkpointing. A build takes its gradient over windows of consecutive chunks: each chunk
// runs forwards only, and the memory that each of its calls begins with is kept. After
// the last one the calls run again, from the last to the first, each on a tape of its own, and the
// adjoint of the memory passes from a call to the one before it. So the gradient is that of
// the mean loss over all targets of the window, by everything that the window did; it
// ends at the window's edges, and where a context begins. The window's parameters are
// the same for all its chunks, and are updated once.
//
// A window of one chunk needs none of that: its forward is recorded as it runs.

// What a window refuses.
var (
	ErrWindow = errors.New("module: the chunk does not continue the window of gradient that is under way; end it, or drop it with Drop")
	ErrOpen   = errors.New("module: a window of gradient is under way; there is a state to save at its end")
)

// A window is the chunks of one gradient so far.
type window[F Float] struct {
	sums
	length int        // in chunks
	groups int        // that the slots are divided into, in all its chunks
	chunks []past[F]  // those from n on are there to be used again
	calls  [][]call   // by group, in order; those from made on are there to be used again
	made   []int      // by group
	before []int      // made before the chunk that is being processed
	bars   *Memory[F] // the adjoints of the memory between two calls
	again  *Memory[F] // the memory of calls that run again
	memory *Memory[F]
}

// sums are the numbers of a window.
type sums struct {
	n      int     // chunks
	next   pulseID // of the chunk that continues it
	nats   float64 // of all targets
	valid  int
	active uint8                 // levels that the pulse made active in one of the chunks
	open   [pulse.MaxLevels]bool // levels that a gate opened in one of them
}

// A past is a chunk that has been processed, and the memory that it began with.
type past[F Float] struct {
	chunk stream.Chunk
	pulse pulse.Pulse
	first *Memory[F]
}

// A call is a range of tokens of one chunk, of consecutive slots.
type call struct{ chunk, lo, hi, from, to int }

// Open reports whether a window of several chunks has begun and not ended: there is a
// gradient at its end.
func (m *Module[F]) Open() bool { return m.window.n > 0 }

// Drop forgets the window that is under way.
func (m *Module[F]) Drop() { m.window.n = 0 }

// several reports whether the gradient of the job spans several chunks.
func (m *Module[F]) several() bool {
	return m.job.pulse.Phase() == pulse.Build && m.window.length > 1
}

// begin starts a window, or finds that the job continues it.
func (w *window[F]) begin(j *job[F]) error {
	if w.n > 0 && (w.memory != j.memory || w.next != idOf(j.pulse)) {
		return ErrWindow
	}
	if w.n == 0 {
		w.sums, w.memory = sums{}, j.memory
		clear(w.made)
	}
	return nil
}

// enter makes the job's chunk the last one of the window.
func (m *Module[F]) enter() {
	w, j := &m.window, &m.job
	n := j.memory.Batch()
	if w.n == 0 {
		w.groups = m.groups
	}
	m.groups = w.groups
	for len(w.calls) < m.groups {
		w.calls, w.made, w.before = append(w.calls, nil), append(w.made, 0), append(w.before, 0)
	}
	copy(w.before, w.made)
	if w.bars == nil || w.bars.Batch() != n {
		w.chunks, w.bars, w.again = nil, m.oneMemory(n), m.oneMemory(n)
	}
	if w.n == len(w.chunks) {
		w.chunks = append(w.chunks, past[F]{first: m.oneMemory(n)})
	}
	c, to := j.chunk, &w.chunks[w.n]
	c.Inputs, c.Targets = append(to.chunk.Inputs[:0], c.Inputs...), append(to.chunk.Targets[:0], c.Targets...)
	c.Valid, c.Events = nil, nil // its calls know where they begin and end
	to.chunk, to.pulse = c, j.pulse
	w.n++
}

// undo takes the last chunk out of the window.
func (w *window[F]) undo(before sums) {
	w.sums = before
	copy(w.made, w.before)
}

// note keeps a call of the last chunk, and the memory that it begins with: after the first
// token of a chunk that is the one of a new context.
func (w *window[F]) note(live *Memory[F], g, lo, hi, from, to int) {
	if w.made[g] == len(w.calls[g]) {
		w.calls[g] = append(w.calls[g], call{})
	}
	w.calls[g][w.made[g]] = call{w.n - 1, lo, hi, from, to}
	w.made[g]++
	if from == 0 {
		transfer(w.chunks[w.n-1].first.span(lo, hi), live.span(lo, hi))
	}
}

// add adds the chunk that has been processed.
func (w *window[F]) add(j *job[F], r Result, gates []*gates) {
	w.nats += float64(r.Nats * float64(r.Valid))
	w.valid += r.Valid
	w.next = idOf(j.pulse.Next(j.chunk.Tokens))
	w.active |= j.pulse.Mask()
	for _, g := range gates {
		for l, open := range g.open {
			w.open[l] = w.open[l] || open
		}
	}
}

// result is the loss of the window.
func (w *window[F]) result() Result {
	r := Result{Valid: w.valid}
	if r.Valid > 0 {
		r.Nats = w.nats / float64(r.Valid)
	}
	return r
}

// backwards runs the calls of one group again, from the last to the first, and adds up
// their gradients. watch, if there is one, sees each tape after its backward.
func (m *Module[F]) backwards(a *tape.Arena[F], g int, watch func(r *tape.Run[F], c *call) error) error {
	w := &m.window
	clear(m.reached[g])
	n := w.bars.Batch()
	for i := g * n / m.groups; i < (g+1)*n/m.groups; i++ {
		w.bars.slots[i].live.Reset(0)
	}
	calls := w.calls[g][:w.made[g]]
	for k := range slices.Backward(calls) {
		c := &calls[k]
		p, mem, bars := &w.chunks[c.chunk], w.again.span(c.lo, c.hi), w.bars.span(c.lo, c.hi)
		if c.from == 0 {
			transfer(mem, p.first.span(c.lo, c.hi))
		} else {
			mem.Reset(0) // of one slot
		}
		err := tape.With(a, p.pulse, func(r *tape.Run[F]) error {
			loss, _, err := m.forward(r, &p.chunk, mem, c.lo, c.hi, c.from, c.to)
			if err != nil {
				return err
			}
			mem.SeedNext(r.Tape, bars)
			m.backward(r.Tape, &p.chunk, w.valid, g, c.lo, c.hi, c.from, c.to, loss)
			mem.TakeInitial(r.Tape, bars)
			if watch == nil {
				return nil
			}
			return watch(r, c)
		})
		if err != nil {
			return err
		}
	}
	m.clearUnreached(g)
	return nil
}
