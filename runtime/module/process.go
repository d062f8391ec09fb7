package module

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// A Result is the loss of a chunk.
type Result struct {
	Nats  float64 // mean loss over all valid targets of all slots; 0 without targets
	Valid int     // number of those targets
}

// Process runs a chunk through the model: forwards, and in a build backwards. It
// takes the context and returns the handle that owns it afterwards, advanced by the
// chunk's tokens. After an error the returned handle owns the context as it was, and
// there is no gradient; NaN or infinity is a *BadNumber. Update changes the
// parameters. Where a gradient spans several chunks the last one of them gives it; a
// chunk that does not continue the window is refused with ErrWindow.
func (m *Module[F]) Process(c stream.Chunk, h context.Handle[*Memory[F]], p pulse.Pulse) (Result, context.Handle[*Memory[F]], error) {
	return m.process(c, h, p, nil)
}

// ProcessInto is Process that also writes the outputs, the logits of every token
// [batch, tokens, vocabulary], to dst.
func (m *Module[F]) ProcessInto(dst []F, c stream.Chunk, h context.Handle[*Memory[F]], p pulse.Pulse) (Result, context.Handle[*Memory[F]], error) {
	if want := c.Batch * c.Tokens * m.model.Vocabulary(); len(dst) != want {
		return Result{}, h, fmt.Errorf("module: %d elements for outputs, want %d: a batch of %d, %d tokens each, over %d ids",
			len(dst), want, c.Batch, c.Tokens, m.model.Vocabulary())
	}
	return m.process(c, h, p, dst)
}

// process is Process, with a destination of the outputs or nil.
func (m *Module[F]) process(c stream.Chunk, h context.Handle[*Memory[F]], p pulse.Pulse, dst []F) (Result, context.Handle[*Memory[F]], error) {
	mem, err := h.Take()
	if err != nil {
		return Result{}, h, err
	}
	m.pending = pulseID{}
	r, err := Result{}, error(nil)
	if c.Batch != mem.Batch() {
		err = fmt.Errorf("module: the chunk has a batch of %d, the context of %d", c.Batch, mem.Batch())
	} else {
		m.job = job[F]{c, mem, p, count(c.Targets), dst}
		r, err = m.work()
		m.job = job[F]{}
	}
	next, e := h.Return(mem)
	if e != nil {
		panic("module: BUG: a context that was taken cannot be returned")
	}
	return r, next, err
}

// work runs the job.
func (m *Module[F]) work() (r Result, err error) {
	j, w := &m.job, &m.window
	before, n := w.sums, j.memory.Batch()
	for len(m.nats) < n {
		m.nats = append(m.nats, 0)
	}
	builds := j.pulse.Phase() == pulse.Build
	m.groups = m.groupsOf(n, j.chunk.Tokens)
	if builds {
		if err := w.begin(j); err != nil {
			return r, err
		}
		if m.several() {
			m.enter()
		}
	}
	m.losses = m.losses[:0]
	if err = m.forwards(n, builds); err == nil {
		err = m.settle(builds && !m.several())
	}
	if err == nil {
		r = m.mean(n)
		if builds {
			err = m.end(r, n)
		}
	}
	if err != nil {
		err = m.explain(err)
		for _, s := range j.memory.slots {
			s.restore()
		}
		if builds {
			w.undo(before)
		}
		return Result{}, err
	}
	return r, nil
}

// forwards runs all groups, backwards too in a build.
func (m *Module[F]) forwards(n int, builds bool) (err error) {
	defer device.Recover(m.memory, &err)
	if builds {
		m.growGradients(n, m.groups)
	}
	return m.pool.each(m.groups, m.workers(m.groups), m.walk)
}

// mean is the loss of the chunk.
func (m *Module[F]) mean(n int) Result {
	r := Result{Valid: m.job.valid}
	for _, x := range m.nats[:n] {
		r.Nats += x
	}
	if r.Valid > 0 {
		r.Nats /= float64(r.Valid)
	}
	return r
}

// end adds the chunk to its window and, where the window ends, adds up the gradient.
func (m *Module[F]) end(r Result, n int) error {
	j, w := &m.job, &m.window
	w.add(j, r, m.gates[:n])
	if w.n == w.length {
		if err := m.pool.each(m.groups, m.workers(m.groups), m.walkBack); err != nil {
			return err
		}
	}
	if !m.several() || w.n == w.length {
		from := time.Now()
		if err := m.sumGradients(m.groups); err != nil {
			return err
		}
		m.clock.measure(rowSum, from)
		w.n, m.pending = 0, idOf(j.pulse)
	}
	m.tally.count(m.gates[:n], j.pulse)
	return nil
}

// growGradients sees that there are gradients for all groups and gates for n slots.
func (m *Module[F]) growGradients(n, groups int) {
	v := m.params.View()
	for len(m.grads) < groups {
		m.grads = append(m.grads, m.vectors())
		m.reached = append(m.reached, make([]bool, v.Len()))
	}
	for len(m.gates) < n {
		m.gates = append(m.gates, m.newGates(len(m.gates)))
		m.seeds = append(m.seeds, 0)
	}
	for len(m.movedBy) < v.Len() {
		m.movedBy, m.squares = append(m.movedBy, nil), append(m.squares, 0)
	}
}

// pieces calls f for every range of a slot's tokens that belongs to one context, and
// begins a new context between two.
func (m *Module[F]) pieces(i int, f func(from, to int) error) error {
	j := &m.job
	from := 0
	for _, e := range j.chunk.Events {
		if e.Slot != i {
			continue
		}
		if err := nonEmpty(from, e.At, f); err != nil {
			return err
		}
		j.memory.slots[i].live.Reset(0)
		from = e.At
	}
	end := j.chunk.Tokens
	if j.chunk.Valid != nil {
		end = j.chunk.Valid[i] // tokens after the end of a session are padding
	}
	return nonEmpty(from, end, f)
}

// nonEmpty calls f for a range of tokens that is not empty.
func nonEmpty(from, to int, f func(from, to int) error) error {
	if from == to {
		return nil
	}
	return f(from, to)
}

// piece runs consecutive tokens of one context of each of some slots forwards, and backwards
// if there is a tape. The mean loss of each slot is weighted by its number of targets.
func (m *Module[F]) piece(a *tape.Arena[F], g, lo, hi, from, to int) error {
	j := &m.job
	body := func(r *tape.Run[F]) error {
		loss, logits, err := m.forward(r, &j.chunk, j.memory.span(lo, hi), lo, hi, from, to)
		if err != nil {
			return err
		}
		if j.logits != nil {
			v, t := m.model.Vocabulary(), j.chunk.Tokens
			device.Later(j.logits[(lo*t+from)*v:((hi-1)*t+to)*v], logits.Data)
		}
		if m.memory != nil {
			m.later(lo, from, to, loss.Data)
		} else if err := m.count(lo, from, to, loss.Data); err != nil {
			return err
		}
		if r.Tape != nil {
			m.backward(r.Tape, &j.chunk, j.valid, g, lo, hi, from, to, loss)
		}
		return nil
	}
	if j.pulse.Phase() == pulse.Build && !m.several() {
		return tape.With(a, j.pulse, body)
	}
	return tape.Without(a, j.pulse, body)
}

// losses are the mean losses of a range of tokens of some slots, from one on.
type losses[F Float] struct {
	lo, from, to int
	nats         []F
}

// later notes losses that a device has not computed yet.
func (m *Module[F]) later(lo, from, to int, nats []F) {
	n := len(m.losses)
	m.losses = slices.Grow(m.losses, 1)[:n+1]
	l := &m.losses[n]
	l.lo, l.from, l.to = lo, from, to
	l.nats = slices.Grow(l.nats[:0], len(nats))[:len(nats)]
	device.Later(l.nats, nats)
}

// count adds mean losses to those of the slots from lo on, each by its number of targets.
func (m *Module[F]) count(lo, from, to int, nats []F) error {
	j := &m.job
	for k, x := range nats {
		if !num.IsFinite(x) {
			return &BadNumber{What: "the loss", Value: float64(x), Step: j.pulse.Step(), Slot: lo + k, Level: -1, Token: -1}
		}
		m.nats[lo+k] += float64(float64(x) * float64(count(targets(&j.chunk, lo+k, from, to))))
	}
	return nil
}

// settle waits once for what a device computes of a chunk: the losses, and of a gradient the sums of
// squares, which say too whether it is finite.
func (m *Module[F]) settle(gradient bool) (err error) {
	defer device.Recover(m.memory, &err)
	if m.memory == nil {
		return nil
	}
	if gradient {
		clear(m.squares)
		for _, i := range m.order {
			device.AddSquares(&m.squares[i], m.grads[0][i])
		}
	}
	device.Wait(m.memory)
	if err := m.fault(); err != nil {
		return err
	}
	for i := range m.losses {
		l := &m.losses[i]
		if err := m.count(l.lo, l.from, l.to, l.nats); err != nil {
			return err
		}
	}
	m.losses = m.losses[:0]
	for _, sum := range m.squares {
		if gradient && !num.IsFinite(sum) {
			return m.badGradient()
		}
	}
	return nil
}

// targets are the targets of a range of a slot's tokens.
func targets(c *stream.Chunk, i, from, to int) []int32 {
	at := i * c.Tokens
	return c.Targets[at+from : at+to]
}

// forward runs the model, with a tape and without: a range of tokens of one slot, or all
// tokens of several. It returns the mean loss of each slot's tokens, and the logits.
func (m *Module[F]) forward(r *tape.Run[F], c *stream.Chunk, mem *block.Memory[F], lo, hi, from, to int) (loss, logits tape.Value[F], err error) {
	first, last := lo*c.Tokens+from, (hi-1)*c.Tokens+to
	call := block.Call[F]{Run: r, Pulse: r.Pulse, Batch: hi - lo, Tokens: to - from, Across: r.Tape != nil && m.several()}
	loss, logits, err = m.model.Step(call, block.Bind(r, m.params.View()), mem, c.Inputs[first:last], c.Targets[first:last])
	if err != nil {
		err = fmt.Errorf("%s: %w", slotNames(lo, hi), err)
	}
	return loss, logits, err
}

// backward adds the gradient of a piece to the group's: of its share of a mean over all
// targets, and of what the tape is seeded with where it spans several chunks.
func (m *Module[F]) backward(t *tape.Tape[F], c *stream.Chunk, all, g, lo, hi, from, to int, loss tape.Value[F]) {
	seeds, own := m.seeds[lo:hi], 0
	for k := range seeds {
		n := count(targets(c, lo+k, from, to))
		seeds[k] = F(float64(n) / float64(max(all, 1)))
		own += n
	}
	if own > 0 {
		t.Seed(loss, seeds)
	} else if !m.several() {
		return
	}
	k, grads, reached := 0, m.grads[g], m.reached[g]
	t.Into(func(k int) []F {
		if reached[k] {
			return nil
		}
		return grads[k]
	})
	t.Reverse()
	t.Params(func(_ string, grad []F) { // in the order of the table, as Bind registers
		switch {
		case grad == nil:
		case len(grad) > 0 && &grad[0] == &grads[k][0]:
			reached[k] = true
		case !reached[k]:
			device.Copy(grads[k], grad)
			reached[k] = true
		default:
			device.Add(grads[k], grad)
		}
		k++
	})
}

// sumGradients adds the gradients of all groups in their order, into the first one's.
func (m *Module[F]) sumGradients(groups int) error {
	for i, g := range m.grads[0] {
		for k, other := range m.grads[1:groups] {
			if !m.reached[k+1][i] {
				continue
			}
			m.reached[0][i] = true
			device.Add(g, other[i])
		}
	}
	switch {
	case m.memory == nil:
		return m.badGradient()
	case m.several():
		return m.settle(true)
	}
	return nil // settled
}

// badGradient is the error of a gradient that is not finite; nil of one that is.
func (m *Module[F]) badGradient() error {
	for i, g := range m.grads[0] {
		for j, x := range device.Host(g) {
			if !num.IsFinite(x) {
				p := m.params.View().Param(i)
				return &BadNumber{What: "the gradient", Value: float64(x), Step: m.job.pulse.Step(), Slot: -1, Level: p.Level, Token: -1,
					Tensor: p.Name, Index: j}
			}
		}
	}
	return nil
}

// Update updates the parameters once with the gradient of the chunk that was just
// processed at p, or of the window that it ended, each with its own step count. It returns the norm of the gradients
// that were updated, before they were clipped. The error is ErrShared, ErrGradient, or
// the update's.
func (m *Module[F]) Update(p pulse.Pulse) (norm float64, err error) {
	switch {
	case m.optimizer == nil:
		return 0, ErrShared
	case m.pending != idOf(p):
		return 0, ErrGradient
	}
	m.pending = pulseID{}
	defer device.Recover(m.memory, &err)
	defer m.clock.measure(rowUpdate, time.Now())
	err = tape.Without(m.arenas[0], p, func(r *tape.Run[F]) error {
		norm = m.norm(m.collect(r))
		m.bound(norm)
		m.optimizer.Together(m.movedBy)
		m.writer.Update(func(i int, _ context.Param, data []F) {
			if e := m.movedBy[i]; e != nil {
				m.optimizer.Step(r, i, data, e)
			}
		})
		return m.fault()
	})
	return norm, err
}

// collect adds the gradients of the chunk to the update's buffers and finds the ones
// that are updated: in movedBy by parameter, and as a list. A parameter of a slower
// level that no gradient has reached since it was last updated is not updated.
func (m *Module[F]) collect(r *tape.Run[F]) [][]F {
	m.updated = m.updated[:0]
	for i, g := range m.grads[0] {
		m.movedBy[i] = nil
		if param := m.params.View().Param(i); !param.Fixed && (param.Level == 0 || m.reached[0][i]) {
			m.movedBy[i] = g
		}
	}
	m.optimizer.Together(m.movedBy)
	for _, i := range m.order {
		param, g := m.params.View().Param(i), m.movedBy[i]
		m.movedBy[i] = nil
		if param.Fixed {
			continue
		}
		if g != nil {
			g = m.optimizer.Collect(r, i, g)
		} else if g, _ = m.optimizer.Waiting(i); g == nil {
			continue
		}
		if m.updates(param) {
			m.movedBy[i] = g
			m.updated = append(m.updated, g)
		}
	}
	return m.updated
}

// norm is that of the gradients that are updated, which collect has listed. A device has the sums of
// squares of those of one chunk already; it waits for those of several chunks.
func (m *Module[F]) norm(grads [][]F) float64 {
	if m.memory == nil {
		return math.Sqrt(device.Squares(grads))
	}
	sum, others := 0.0, false
	for _, i := range m.order {
		switch g := m.movedBy[i]; {
		case g == nil:
		case m.own(i):
			sum += m.squares[i]
		default:
			others = true
		}
	}
	if !others {
		return math.Sqrt(sum)
	}
	more := new(float64)
	for _, i := range m.order {
		if g := m.movedBy[i]; g != nil && !m.own(i) {
			device.AddSquares(more, g)
		}
	}
	device.Wait(m.memory)
	return math.Sqrt(sum + *more)
}

// own reports whether a parameter is updated by the gradient of one chunk.
func (m *Module[F]) own(i int) bool {
	return unsafe.SliceData(m.movedBy[i]) == unsafe.SliceData(m.grads[0][i])
}

// bound clips the gradients that are updated, whose norm is given.
func (m *Module[F]) bound(norm float64) {
	update.Bound(m.updated, norm, m.clip)
	if m.memory == nil || m.clip == 0 || !(norm > m.clip) {
		return
	}
	for i, g := range m.movedBy {
		if g != nil && m.own(i) {
			m.squares[i] *= (m.clip / norm) * (m.clip / norm)
		}
	}
}

// count returns the number of targets that are not Ignore.
func count(next []int32) (n int) {
	for _, t := range next {
		if t != stream.Ignore {
			n++
		}
	}
	return n
}
