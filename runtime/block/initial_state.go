package block

import (
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// The values that a call begins with: what the memory holds or, in the sequences whose
// context starts with the call, a computed initial state.

// State returns what slot i holds at the start of a call. In a call across edges it is a
// leaf of the tape, and a site reads the leaf of the part whose states it borrows;
// otherwise it is the memory's own slice, which no kernel writes, and no gradient
// reaches it.
func (m *Memory[F]) State(c Call[F], i int) tape.Value[F] {
	switch {
	case !c.Across || c.Run.Tape == nil:
		return tape.Const(m.Slots[i].Data)
	case m.borrowed(i):
		return m.of.State(c, i)
	case !c.Run.Arena.Computed(m.first[i]):
		m.arena, m.first[i] = c.Run.Arena, c.Run.Input(m.Slots[i].Data)
	}
	return m.first[i]
}

// InitialState returns slot i at the start of a call: State, and for sequences whose
// context starts here the initial state in start, [batch, …]. Its node comes before that
// of the kernel which reads the state.
func InitialState[F num.Float](c Call[F], m *Memory[F], i int, start tape.Value[F]) tape.Value[F] {
	n := tape.Push[F, initialNode[F]](c.Run, initialKind)
	n.start, n.old, n.size = start, m.State(c, i), m.Slots[i].size()
	data := n.old.Data
	if m.anyFresh() {
		data = c.Run.Arena.Alloc(len(n.old.Data))
		device.Copy(data, n.old.Data)
		n.fresh = c.Run.Arena.Bools(m.Batch)
		for l := range m.Pos {
			if n.fresh[l] = m.Fresh(l); n.fresh[l] {
				device.Copy(data[l*n.size:(l+1)*n.size], start.Data[l*n.size:(l+1)*n.size])
			}
		}
	}
	n.out = c.Run.Output(data)
	return n.out
}

var initialKind = tape.NewKind()

// initialNode is a call of InitialState on the tape.
type initialNode[F num.Float] struct {
	start, old, out tape.Value[F]
	fresh           []bool // by sequence; nil: none
	size            int
}

// Backward adds the adjoint of each sequence to that of the initial state or of the old one.
func (n *initialNode[F]) Backward(t *tape.Tape[F]) {
	bar := t.Adjoint(n.out)
	if bar == nil {
		return
	}
	start, old := t.Grad(n.start), t.Grad(n.old)
	for l := range len(bar) / max(n.size, 1) {
		from, to := l*n.size, (l+1)*n.size
		switch {
		case n.fresh == nil || !n.fresh[l]:
			if old != nil {
				device.Add(old[from:to], bar[from:to])
			}
		case start != nil:
			device.Add(start[from:to], bar[from:to])
		}
	}
}

func (m *Memory[F]) anyFresh() bool {
	for l := range m.Pos {
		if m.Fresh(l) {
			return true
		}
	}
	return false
}

// KeepStart gives slot i its initial state, a result of InitialState, in the sequences
// whose context starts with this call, which does not write the slot: a frozen read.
func KeepStart[F num.Float](c Call[F], m *Memory[F], i int, initial tape.Value[F]) {
	if m.anyFresh() {
		m.arena, m.next[i] = c.Run.Arena, initial
	}
}
