package update

import (
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// A Machine updates the parameters of one table. Each has a clock, which counts its own
// updates alone: a level that is updated seldom corrects the bias of its moments by its
// own updates, not by the steps of the run.
// A parameter that is not updated keeps its value, its slots and its clock.
//
// The gradients of a parameter of a slower level are accumulated in a buffer, which is
// an update too: one of the accumulated gradient. A step updates the parameter by it,
// once, and empties the buffer.
type Machine[F num.Float] struct {
	update  Update[F]
	options Options
	rates   []rate
	params  context.View[F]
	slots   []Slots[F] // nil for a fixed parameter
	steps   []int64
	waiting []*waiting[F] // nil for a parameter of the fastest level
	empty   func(name string, data []F)
	noDecay []bool
	runs    []*run[F]
	runOf   []*run[F] // by parameter; nil on the processor
}

// Options are what a run decides about its updates. Schedule is its learning rate by steps,
// of which each has Chunks chunks; 0 means 1.
// NoDecay are kinds of parameters without weight decay, besides those that a page marks.
type Options struct {
	Schedule Schedule
	Chunks   int
	NoDecay  Kinds
}

// A rate is a setting of the update that a schedule multiplies.
type rate struct {
	name string
	base float64
}

// waiting is the accumulated gradient of one parameter since its last update.
type waiting[F num.Float] struct {
	slots Slots[F]
	kept  [][]F // of the slots; without slots, the accumulated gradient
	error []F   // the gradient of the parameter if it is updated now
	count int64 // the gradients in it
}

// noBuffer is the panic message of a machine without a buffer for parameters of
// slower levels.
const noBuffer = "update: parameters of slower levels need a buffer"

// NewMachine makes the slots of all parameters that are not fixed, and for those
// of slower levels those of the buffer, which may be nil where there are none.
//
// With a schedule, the machine changes the update's learning rates before every step: the
// settings lr and else.lr, from their present values.
func NewMachine[F num.Float](u, buffer Update[F], v context.View[F], o Options) *Machine[F] {
	m := &Machine[F]{update: u, options: o, params: v, steps: make([]int64, v.Len()), noDecay: make([]bool, v.Len()), empty: func(_ string, data []F) { device.Clear(data) }}
	u.Settings(func(name string, x float64) {
		if name[strings.LastIndexByte(name, '.')+1:] == "lr" {
			m.rates = append(m.rates, rate{name, x})
		}
	})
	for i := range v.Len() {
		var s Slots[F]
		var w *waiting[F]
		if p := v.Param(i); !p.Fixed {
			p.NoDecay = p.NoDecay || o.NoDecay&KindOf(p) != 0
			m.noDecay[i] = p.NoDecay
			s = u.Slots(p)
			if p.Level > 0 {
				if buffer == nil {
					panic(noBuffer)
				}
				w = newWaiting(buffer.Slots(p), len(v.Data(i)))
			}
		}
		m.slots = append(m.slots, s)
		m.waiting = append(m.waiting, w)
	}
	return m
}

func newWaiting[F num.Float](s Slots[F], n int) *waiting[F] {
	w := &waiting[F]{slots: s, error: tensor.Make[F](n)}
	w.gather()
	return w
}

// gather lists what the buffer keeps.
func (w *waiting[F]) gather() {
	w.kept = w.kept[:0]
	w.slots.Each(func(_ string, data []F) { w.kept = append(w.kept, data) })
	if len(w.kept) == 0 {
		w.kept = append(w.kept, w.error)
	}
}

// Collect takes the gradient of one chunk for parameter i and returns the gradient of
// an update now: the same at the fastest level, else the accumulated one, this one included. The result is valid until the step.
func (m *Machine[F]) Collect(r *tape.Run[F], i int, g []F) []F {
	w := m.waiting[i]
	if w == nil {
		return g
	}
	w.count++
	if !m.stepRun(r, i, int(w.count), w.error, g, func(x *run[F]) Slots[F] { return x.buffer }) {
		w.slots.Step(r, int(w.count), w.error, g)
	}
	return w.error
}

// Waiting is the accumulated gradient of parameter i, nil if there is none, and the
// number of gradients in it.
func (m *Machine[F]) Waiting(i int) (e []F, count int64) {
	if w := m.waiting[i]; w != nil && w.count > 0 {
		return w.error, w.count
	}
	return nil, 0
}

// Kept is the state of the buffer for parameter i, not to be changed: its slots, or the
// accumulated gradient if it has none.
func (m *Machine[F]) Kept(i int) [][]F {
	if w := m.waiting[i]; w != nil && w.count > 0 {
		return w.kept
	}
	return nil
}

// Buffers calls f for the state of the buffer for parameter i, to save and to restore
// it: its slots and the accumulated gradient.
func (m *Machine[F]) Buffers(i int, f func(name string, data []F)) {
	if w := m.waiting[i]; w != nil {
		w.slots.Each(f)
		f("waiting", w.error)
	}
}

// Waits are the numbers of accumulated gradients of all parameters, to save them.
func (m *Machine[F]) Waits() []int64 {
	out := make([]int64, len(m.waiting))
	for i, w := range m.waiting {
		if w != nil {
			out[i] = w.count
		}
	}
	return out
}

// Update is the update of the machine.
func (m *Machine[F]) Update() Update[F] { return m.update }

// FixedParameter is the panic message of a step of a fixed parameter.
const FixedParameter = "update: a fixed parameter cannot be updated"

// Step updates parameter i by g, which Collect returned, and counts; the buffer is then
// empty.
func (m *Machine[F]) Step(r *tape.Run[F], i int, w, g []F) {
	if m.slots[i] == nil {
		panic(FixedParameter)
	}
	m.steps[i]++
	m.setRates(r.Pulse, m.params.Param(i))
	if !m.stepRun(r, i, int(m.steps[i]), w, g, func(x *run[F]) Slots[F] { return x.slots }) {
		m.slots[i].Step(r, int(m.steps[i]), w, g)
	}
	if b := m.waiting[i]; b != nil {
		b.count = 0
		m.Buffers(i, m.empty)
	}
}

// setRates sets the learning rates of a parameter at a pulse.
func (m *Machine[F]) setRates(at pulse.Pulse, p context.Param) {
	if m.options.Schedule == (Schedule{}) {
		return
	}
	period, chunks := 1, max(m.options.Chunks, 1)
	if p.Level > 0 && !p.Gated {
		period = at.Period(p.Level) / chunks
		if at.Unit() == pulse.Tokens {
			period /= at.Tokens()
		}
	}
	factor := m.options.Schedule.Rate((int(at.Step())+chunks)/chunks, max(period, 1))
	for _, x := range m.rates {
		if err := m.update.Set(x.name, float64(x.base*factor)); err != nil {
			panic("update: BUG: a rate that was accepted is refused: " + err.Error())
		}
	}
}

// Schedule is the schedule of the machine.
func (m *Machine[F]) Schedule() Schedule { return m.options.Schedule }

// SetSchedule changes the schedule between two steps.
func (m *Machine[F]) SetSchedule(s Schedule) { m.options.Schedule = s }

// Slots are the state of the update for parameter i, nil for a fixed one.
func (m *Machine[F]) Slots(i int) Slots[F] { return m.slots[i] }

// Clocks are the updates of every parameter so far, to save them.
func (m *Machine[F]) Clocks() []int64 { return m.steps }

// CheckClocks returns an error for invalid saved counts of updates and waits.
func (m *Machine[F]) CheckClocks(steps, waits []int64) error {
	if len(steps) != len(m.steps) || len(waits) != len(m.steps) {
		return fmt.Errorf("update: %d clocks and %d counts of what waits for %d parameters", len(steps), len(waits), len(m.steps))
	}
	for i, n := range steps {
		switch {
		case n < 0 || m.slots[i] == nil && n != 0:
			return fmt.Errorf("update: the clock of parameter %d shows %d", i, n)
		case waits[i] < 0 || m.waiting[i] == nil && waits[i] != 0:
			return fmt.Errorf("update: %d gradients wait for parameter %d", waits[i], i)
		}
	}
	return nil
}

// SetClocks restores counts of updates and waits that CheckClocks has accepted.
func (m *Machine[F]) SetClocks(steps, waits []int64) {
	copy(m.steps, steps)
	for i, w := range m.waiting {
		if w != nil {
			w.count = waits[i]
		}
	}
}

// Clip bounds the norm of the gradients of all parameters that are updated at once,
// taken together, and returns the norm that it found. 0 means no bound. The
// sum runs in float64, in the order of the list, so it is the same everywhere.
func Clip[F num.Float](grads [][]F, bound float64) float64 {
	norm := math.Sqrt(device.Squares(grads))
	Bound(grads, norm, bound)
	return norm
}

// Bound is Clip for a norm that is known.
func Bound[F num.Float](grads [][]F, norm, bound float64) {
	if bound > 0 && norm > bound {
		device.ScaleAll(grads, F(bound/norm))
	}
}
