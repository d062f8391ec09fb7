package module

import (
	"errors"
	"fmt"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// The slots of a batch are divided into groups. One call of the model computes all slots of
// a group in which no document ends, so that weights are packed, and gradients of them
// added, once for all of its tokens. The division depends on the shape of the chunk
// alone, never on the number of workers.

// groupRows is the number of tokens from which on a group gains little by more, and
// groupsLeast how many groups a batch has at least if it can, so that as many
// workers have work.
const (
	groupRows   = 256
	groupsLeast = 2
)

// groupsOf returns the number of groups that n slots of so many tokens are divided into.
func groupsOf(n, tokens int) int {
	return min(n, max(groupsLeast, (n*tokens+groupRows-1)/groupRows))
}

// groupsOf is groupsOf of the processor; a device computes all slots at once.
func (m *Module[F]) groupsOf(n, tokens int) int {
	if m.memory != nil {
		return 1
	}
	return groupsOf(n, tokens)
}

// group runs the slots of a group: those that one context lasts for the whole chunk in one
// call of the model, the others one by one.
func (m *Module[F]) group(a *tape.Arena[F], g int) error {
	j := &m.job
	n := j.memory.Batch()
	lo, hi := g*n/m.groups, (g+1)*n/m.groups
	builds := j.pulse.Phase() == pulse.Build
	backwards := builds && !m.several()
	if backwards {
		clear(m.reached[g])
	}
	for i := lo; i < hi; i++ {
		j.memory.slots[i].save()
		m.nats[i] = 0
		if builds {
			m.gates[i].open = [pulse.MaxLevels]bool{}
		}
	}
	for from := lo; from < hi; {
		to := from
		for to < hi && m.whole(to) {
			to++
		}
		to = max(to, from+1)
		if err := m.together(a, g, from, to); err != nil {
			return err
		}
		from = to
	}
	if backwards {
		m.clearUnreached(g)
	}
	return nil
}

// clearUnreached makes the gradients that nothing reached zero.
func (m *Module[F]) clearUnreached(g int) {
	for i, hit := range m.reached[g] {
		if !hit {
			device.Clear(m.grads[g][i])
		}
	}
}

// whole reports whether no context of a slot ends inside the chunk.
func (m *Module[F]) whole(i int) bool {
	c := &m.job.chunk
	for _, e := range c.Events {
		if e.Slot == i && e.At > 0 && e.At < c.Tokens {
			return false
		}
	}
	return c.Tokens > 0 && (c.Valid == nil || c.Valid[i] == c.Tokens)
}

// together runs consecutive slots in one call of the model; one slot in pieces where a
// document ends.
func (m *Module[F]) together(a *tape.Arena[F], g, lo, hi int) error {
	run := func(from, to int) error {
		if m.several() {
			m.window.note(m.job.memory, g, lo, hi, from, to)
		}
		err := m.piece(a, g, lo, hi, from, to)
		if err == nil {
			memory := m.job.memory.span(lo, hi)
			memory.Keep()
			if m.job.pulse.Phase() == pulse.Build {
				memory.Opened(m.gates[lo].note)
			}
		}
		return err
	}
	if hi == lo+1 {
		return m.pieces(lo, run)
	}
	for _, e := range m.job.chunk.Events {
		if e.Slot >= lo && e.Slot < hi && e.At == 0 {
			m.job.memory.slots[e.Slot].live.Reset(0)
		}
	}
	if err := run(0, m.job.chunk.Tokens); err != nil {
		return m.single(a, lo, hi, err)
	}
	for _, e := range m.job.chunk.Events {
		if e.Slot >= lo && e.Slot < hi && e.At > 0 {
			m.job.memory.slots[e.Slot].live.Reset(0)
		}
	}
	return nil
}

// single finds which of some slots failed with err, and returns the error of that one alone.
func (m *Module[F]) single(a *tape.Arena[F], lo, hi int, err error) error {
	if bad := (*BadNumber)(nil); errors.As(err, &bad) {
		return err
	}
	for i := lo; i < hi; i++ {
		alone := tape.Without(a, m.job.pulse, func(r *tape.Run[F]) error {
			_, _, err := m.forward(r, &m.job.chunk, m.job.memory.span(i, i+1), i, i+1, 0, m.job.chunk.Tokens)
			return err
		})
		if alone != nil {
			return alone
		}
	}
	return err
}

// slotNames names slots in an error.
func slotNames(lo, hi int) string {
	if hi == lo+1 {
		return fmt.Sprintf("batch slot %d", lo)
	}
	return fmt.Sprintf("batch slots %d to %d", lo, hi-1)
}
