package module

import (
	"math"
	"strings"

	"github.com/nl-hecate/hecate/runtime/block"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/pulse"
)

// A Health describes one level of a build after a step.
//
// The sum of n buffered gradients without a common direction is a random walk, with a
// norm about √n times that of one. Ratio normalises by that: it is near 1 in a healthy
// build, whether the buffer sums or averages, and far above 1 where a level will be
// updated by a stale direction.
type Health struct {
	Level     int
	Gated     bool    // a gate of the page opens it, not the pulse
	Updates   int64   // of its parameters since the build began: the most of any
	Open      float64 // share of the slots that found it open in the last chunk
	Share     float64 // the same, over all chunks since the module was made
	Waiting   int64   // gradients that are buffered until it is updated: the most of any parameter
	Ratio     float64 // norm of the buffered gradient / (norm of the present gradient · √Waiting); 0 where one of them is 0
	Gradient  float64 // norm of the chunk's gradient, at level 0 as it was clipped
	Parameter float64 // norm of the parameters
	State     float64 // norm of the states of all slots, without windows
}

// A tally counts in how many chunks of a build a level was open, slot by slot.
type tally struct {
	slots       int64 // seen in all, by any level
	open        [pulse.MaxLevels]int64
	now         [pulse.MaxLevels]int64 // of the last chunk's slots
	slotsOfLast int64
}

// count adds the chunk that n slots have just done at a pulse.
func (t *tally) count(gates []*gates, p pulse.Pulse) {
	t.slots += int64(len(gates))
	t.slotsOfLast = int64(len(gates))
	clear(t.now[:])
	for _, g := range gates {
		for l := range p.Levels() {
			if g.seen[l] && g.open[l] || !g.seen[l] && p.Active(l) {
				t.now[l]++
				t.open[l]++
			}
		}
	}
}

// Health appends to dst the health of each level of the schedule after the last step
// of a build. It reads every number of the module and of the context.
func (s *Session[F]) Health(dst []Health) ([]Health, error) {
	m, p := s.module, s.conductor.Pulse()
	at := len(dst)
	for l := range p.Levels() {
		h := Health{Level: l}
		if t := &m.tally; t.slots > 0 {
			h.Open, h.Share = float64(t.now[l])/float64(t.slotsOfLast), float64(t.open[l])/float64(t.slots)
		}
		dst = append(dst, h)
	}
	out := dst[at:]
	m.waits = [pulse.MaxLevels]float64{}
	m.parametersOf(out)
	if err := s.withContext(func(mem *Memory[F]) error {
		for _, slot := range mem.slots {
			statesOf(out, slot.live, 0)
		}
		return nil
	}); err != nil {
		return dst, err
	}
	device.Wait(m.memory)
	for l := range out {
		h := &out[l]
		h.Gradient, h.Parameter, h.State = math.Sqrt(h.Gradient), math.Sqrt(h.Parameter), math.Sqrt(h.State)
		if h.Waiting > 0 && h.Gradient > 0 {
			h.Ratio = math.Sqrt(m.waits[l]) / float64(h.Gradient*math.Sqrt(float64(h.Waiting)))
		}
	}
	return dst, m.fault()
}

// parametersOf fills in the fields about parameters, with squares in the place of norms, and adds the squares
// of what waits for each level; a device has them after the next wait.
func (m *Module[F]) parametersOf(out []Health) {
	v := m.params.View()
	for i := range v.Len() {
		p := v.Param(i)
		h := &out[p.Level]
		device.AddSquares(&h.Parameter, v.Data(i))
		if len(m.grads) > 0 && !p.Fixed {
			device.AddSquares(&h.Gradient, m.grads[0][i])
		}
		h.Gated = h.Gated || p.Gated
		if m.optimizer == nil {
			continue
		}
		h.Updates = max(h.Updates, m.optimizer.Clocks()[i])
		_, n := m.optimizer.Waiting(i)
		h.Waiting = max(h.Waiting, n)
		for _, data := range m.optimizer.Kept(i) {
			device.AddSquares(&m.waits[p.Level], data)
		}
	}
}

// statesOf adds the squares of the states of a memory to those of its level; parts
// that are levels have their own.
func statesOf[F Float](out []Health, m *block.Memory[F], level int) {
	for _, s := range m.Slots {
		if !s.Window {
			device.AddSquares(&out[level].State, s.Data)
		}
	}
	for _, p := range m.Parts {
		switch {
		case strings.HasSuffix(p.Name, block.SiteName("")): // its states are another part's
		case p.Levels && p.Level < len(out):
			statesOf(out, p.Memory, p.Level)
		default:
			statesOf(out, p.Memory, level)
		}
	}
}
